// Types `has`, `else` and tests for null: what makes it safe to read a field that may be missing.

import type { Span } from '../../diagnostic/span.ts';
import type { Expression } from '../../model/expression.ts';
import { anyText, booleanType, type TextType, type Type } from '../../model/type.ts';
import type {
  BinaryExpression,
  FallbackExpression,
  LookUp,
  PresenceTest,
  ExpressionNode as Tree,
} from '../../syntax/tree/tree.ts';
import { canonicalText } from '../../value/canonical-text.ts';
import { constantText } from '../logic/constants.ts';
import { nothingKnown, type Presence, presenceFact } from '../logic/presence.ts';
import { commonType } from '../logic/type-relations.ts';
import {
  anyRead,
  elseMismatch,
  elseNeedless,
  elseSubjectUnfit,
  hasAlways,
  hasSubjectUnfit,
  nullNever,
  nullSubjectUnfit,
  secretRead,
} from '../messages/path-errors.ts';
import { cellOfCell } from '../messages/table-errors.ts';
import { adapt } from './adapt.ts';
import { conditional } from './conditional.ts';
import { type Context, failed, type Inference, inferValue, isResult, plainType } from './context.ts';
import { expandPath } from './definitions.ts';
import { type ResolvedField, requirePresenceBefore, resolveField } from './fields.ts';
import { letsOf } from './lets.ts';
import { negated } from './logic.ts';
import { inferLookUp } from './look-up.ts';

/** Types `payload has a.b`: never unknown; true when every step is present and not null. */
export function inferHas(node: PresenceTest, around: Context): Inference {
  if (node.subject.kind === 'look-up') return plainType(inferHasCell(node, node.subject, around));
  const written = { ...node.subject, steps: [...node.subject.steps, ...node.field] };
  const { node: subject, ctx } = expandPath(written, around);
  if (subject.kind === 'look-up') return plainType(cellTest(subject, node.span, ctx));
  const { root } = subject;
  if (!isFieldRoot(root.text, ctx)) {
    if (root.text !== '') ctx.env.report(hasSubjectUnfit(subject));
    return failed;
  }
  const field = resolveField(subject, ctx);
  if (field === null) return failed;
  const isExpected = mayBeMissing(field) || field.read.isSigned || ctx.inLet;
  if (!isExpected) ctx.env.report(hasAlways(node.span, field.read));
  return {
    expression: { kind: 'has', subject: field.read, type: booleanType, span: node.span },
    whenTrue: factsOf(field),
    whenFalse: nothingKnown,
  };
}

/** Types `orders[key] has column`. */
function inferHasCell(node: PresenceTest, row: LookUp, ctx: Context): Expression | null {
  const [column, ...more] = node.field;
  if (row.column !== null || more.length > 0) {
    ctx.env.report(cellOfCell(node.span));
    return null;
  }
  return cellTest({ ...row, column: column! }, node.span, ctx);
}

function cellTest(cell: LookUp, span: Span, ctx: Context): Expression | null {
  const read = inferLookUp(cell, ctx);
  return read?.kind === 'column' ? { kind: 'has-cell', cell: read, type: booleanType, span } : null;
}

/** Types `orders[key].owner else fallback`: the fallback counts when there is no row, or no such cell. */
function inferCellElse(
  cell: LookUp,
  { fallback, span }: FallbackExpression,
  { own, around }: { readonly own: Context; readonly around: Context },
): Expression | null {
  const read = inferLookUp(cell, own);
  const value = fallbackFor(fallback, read?.type ?? null, around);
  if (read?.kind !== 'column' || value === null) return null;
  const type = commonType(read.type, value.type);
  if (type === null) {
    around.env.report(elseMismatch(fallback.span, value.type, read.type));
    return null;
  }
  const condition: Expression = { kind: 'has-cell', cell: read, type: booleanType, span: read.span };
  return conditional({ condition, whenTrue: read, otherwise: value, type, span }, around);
}

/** Types `subject else fallback`. */
export function inferElse(node: FallbackExpression, around: Context): Expression | null {
  const { fallback } = node;
  if (node.subject.kind === 'missing') return null;
  if (node.subject.kind === 'look-up') return inferCellElse(node.subject, node, { own: around, around });
  const expanded =
    node.subject.kind === 'path' ? expandPath(node.subject, around) : { node: node.subject, ctx: around };
  const { node: subject, ctx } = expanded;
  if (subject.kind === 'look-up') return inferCellElse(subject, node, { own: ctx, around });
  if (subject.kind !== 'path' || !isFieldRoot(subject.root.text, ctx)) {
    if (subject.kind !== 'path' || subject.root.text !== '') ctx.env.report(elseSubjectUnfit(subject.span));
    return null;
  }
  const field = resolveField(subject, ctx);
  if (field === null) return null;
  if (field.read.isSecret || field.read.type.kind === 'any') {
    ctx.env.report(field.read.isSecret ? secretRead(field.read) : anyRead(field.read));
    return null;
  }
  if (!mayBeMissing(field)) {
    ctx.env.report(elseNeedless(node, field.read));
    return null;
  }
  const value = fallbackFor(fallback, field.read.type, around);
  if (value === null) return null;
  const type = commonType(field.read.type, value.type);
  if (type === null || type.kind === 'record') {
    ctx.env.report(elseMismatch(fallback.span, value.type, field.read.type));
    return null;
  }
  return { kind: 'else', subject: field.read, fallback: value, type, span: node.span };
}

/** Types a fallback for a value of a type; null for the type of a value in error. */
function fallbackFor(fallback: Tree, type: Type | null, ctx: Context): Expression | null {
  if (type === null) return inferValue(fallback, ctx);
  const isEmptyList = fallback.kind === 'list-literal' && fallback.entries.length === 0;
  if (isEmptyList && type.kind === 'list') return { kind: 'list', elements: [], type, span: fallback.span };
  const value = inferValue(fallback, ctx);
  if (value !== null && type.kind === 'list') return adapt(value, type.element.type, ctx.env);
  return value === null || type.kind !== 'text' || type.of === 'string' ? value : ofKind(value, type, ctx);
}

/**
 * Returns a constant fallback in the form of the subject's kind (path, URL, host or e-mail address), so that
 * the whole `else` is compared as that kind.
 */
function ofKind(value: Expression, type: TextType, { env }: Context): Expression {
  const text = constantText(value, letsOf(env));
  if (text === null) return value;
  const kind: TextType = { ...anyText, of: type.of };
  return { kind: 'literal', value: canonicalText(type.of, text) ?? text, type: kind, span: value.span };
}

/** Types `x == null` and `x != null`: never unknown; only for nullable fields and elements. */
export function inferNullTest(node: BinaryExpression, written: Tree, around: Context): Inference {
  if (written.kind === 'missing') return failed;
  const { node: subject, ctx } =
    written.kind === 'path' ? expandPath(written, around) : { node: written, ctx: around };
  if (subject.kind !== 'path' || !isFieldRoot(subject.root.text, ctx)) {
    ctx.env.report(nullSubjectUnfit(subject.span));
    return failed;
  }
  const field = resolveField(subject, ctx);
  if (field === null || !requirePresenceBefore(field, ctx)) return failed;
  if (field.nodes.at(-1)?.isNullable !== true) {
    ctx.env.report(nullNever(node, field.read, mayBeMissing(field)));
    return failed;
  }
  if (field.read.isSecret) {
    ctx.env.report(secretRead(field.read));
    return failed;
  }
  const test: Expression = { kind: 'is-null', subject: field.read, type: booleanType, span: node.span };
  const notNull = new Set([presenceFact('not-null', field.read.root, field.read.steps)]);
  if (node.operator === '==') return { expression: test, whenTrue: nothingKnown, whenFalse: notNull };
  return { expression: negated(test, node.span), whenTrue: notNull, whenFalse: nothingKnown };
}

function isFieldRoot(root: string, ctx: Context): boolean {
  return root === 'payload' || ctx.variables.has(root) || isResult(root, ctx);
}

function mayBeMissing(field: ResolvedField): boolean {
  return field.nodes.at(-1)?.isCertain === false;
}

function factsOf(field: ResolvedField): Presence {
  const texts = field.nodes.map((_, at) => field.read.steps.slice(0, at));
  return new Set(
    texts.flatMap((steps) => [
      presenceFact('present', field.read.root, steps),
      presenceFact('not-null', field.read.root, steps),
    ]),
  );
}
