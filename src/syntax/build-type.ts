// Concrete shapes → types and record bodies of the tree. A type that recovery left without its substance is left out,
// and its field with it.

import type {
  FieldCstNode,
  ListTypeCstNode,
  MoneyTypeCstNode,
  NamedTypeCstNode,
  RecordBodyCstNode,
  TypeCstNode,
  TypeMemberCstNode,
  TypeRangeCstNode,
} from '../../grammar/generated/cst.ts';
import type { Span } from '../diagnostic/span.ts';
import { spanning } from '../diagnostic/span.ts';
import {
  type BuildContext,
  firstToken,
  isPresent,
  makeSpan,
  nodeSpan,
  plainName,
  syntaxError,
  tokenSpan,
  writtenTokens,
} from './build-context.ts';
import { buildBound, buildFieldName } from './build-literal.ts';
import { textLiteral } from './text-literal.ts';
import type { Field, RecordBody, TypeNode, TypeRange } from './tree.ts';

export function buildRecordBody(node: RecordBodyCstNode | undefined, ctx: BuildContext): RecordBody | null {
  const span = nodeSpan(node, ctx);
  if (node === undefined || span === null) return null;
  const fields = (node.children.field ?? []).map((field) => buildField(field, ctx)).filter(isPresent);
  reportMissingSeparators(fields, ctx);
  return { fields, isOpen: firstToken(node.children.Ellipsis) !== undefined, span };
}

function buildField(node: FieldCstNode, ctx: BuildContext): Field | null {
  const span = nodeSpan(node, ctx);
  const name = buildFieldName(node.children.fieldName?.[0], ctx);
  const type = buildType(node.children.type?.[0], ctx);
  if (span === null || name === null || type === null) return null;
  const isOptional = firstToken(node.children.Optional) !== undefined;
  return { kind: 'field', doc: ctx.docBefore(span.start), name, isOptional, type, span };
}

// Line breaks mean nothing to the parser, so the rule that one separates two fields is kept here.
export function reportMissingSeparators(fields: readonly Field[], ctx: BuildContext): void {
  for (const [index, field] of fields.entries()) {
    const before = fields[index - 1];
    if (before === undefined) continue;
    const between = ctx.source.text.slice(before.span.end, field.span.start);
    if (/[,\n\r#]/.test(between) || between.trim() !== '') continue;
    const place = makeSpan(ctx, before.span.end, before.span.end);
    ctx.report({
      ...syntaxError(
        'missing-separator',
        field.name.span,
        `\`${field.name.text}\` begins a field on the line of another one`,
        'separate fields by a comma or a line break',
      ),
      fix: { title: 'add a comma', edits: [{ span: place, text: ',' }] },
    });
  }
}

/** A type; null where recovery found none. */
export function buildType(node: TypeCstNode | undefined, ctx: BuildContext): TypeNode | null {
  const span = nodeSpan(node, ctx);
  if (node === undefined || span === null) return null;
  const { typeMember = [], modifier } = node.children;
  const members = typeMember.map((member) => buildTypeMember(member, ctx)).filter(isPresent);
  const [first, ...more] = members;
  if (first === undefined) return null;
  const extent = spanning(first.span, members.at(-1)!.span);
  const type: TypeNode = more.length === 0 ? first : { kind: 'union-type', members, span: extent };
  return writtenTokens(modifier).reduceRight<TypeNode>(
    (inner, token) => ({
      kind: 'modified-type',
      modifier: token.image === 'secret' ? 'secret' : 'signed',
      type: inner,
      span: spanning(tokenSpan(token, ctx), inner.span),
    }),
    type,
  );
}

function buildTypeMember(node: TypeMemberCstNode, ctx: BuildContext): TypeNode | null {
  const { Null, Text, listType, recordBody, moneyType, namedType } = node.children;
  const span = nodeSpan(node, ctx);
  const text = firstToken(Text);
  if (span === null) return null;
  if (text !== undefined) return { kind: 'text-type', text: textLiteral(text, ctx), span };
  if (firstToken(Null) !== undefined) return { kind: 'null-type', span };
  if (listType !== undefined) return buildListType(listType[0], span, ctx);
  if (moneyType !== undefined) return buildMoneyType(moneyType[0], span, ctx);
  if (namedType !== undefined) return buildNamedType(namedType[0], span, ctx);
  const body = buildRecordBody(recordBody?.[0], ctx);
  return body === null ? null : { kind: 'record-type', body, span };
}

function buildListType(node: ListTypeCstNode | undefined, span: Span, ctx: BuildContext): TypeNode | null {
  const element = buildType(node?.children.type?.[0], ctx);
  if (element === null) return null;
  return { kind: 'list-type', element, range: buildRange(node?.children.typeRange?.[0], ctx), span };
}

function buildMoneyType(node: MoneyTypeCstNode | undefined, span: Span, ctx: BuildContext): TypeNode | null {
  const currency = buildFieldName(node?.children.fieldName?.[0], ctx);
  if (currency === null) return null;
  return { kind: 'money-type', currency, range: buildRange(node?.children.typeRange?.[0], ctx), span };
}

function buildNamedType(node: NamedTypeCstNode | undefined, span: Span, ctx: BuildContext): TypeNode | null {
  const word = firstToken(node?.children.Word);
  if (word === undefined) return null;
  const text = firstToken(node?.children.Text);
  const pattern = text === undefined ? null : textLiteral(text, { ...ctx, textMode: 'pattern' });
  const range = buildRange(node?.children.typeRange?.[0], ctx);
  const ignoringCase = firstToken(node?.children.Case) !== undefined;
  return { kind: 'named-type', name: plainName(word, ctx), ignoringCase, pattern, range, span };
}

function buildRange(node: TypeRangeCstNode | undefined, ctx: BuildContext): TypeRange | null {
  const span = nodeSpan(node, ctx);
  if (node === undefined || span === null) return null;
  const low = buildBound(node.children.low?.[0], ctx);
  const high = buildBound(node.children.high?.[0], ctx);
  return { low, high, span };
}
