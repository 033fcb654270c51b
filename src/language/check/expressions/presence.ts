// Types `has`, `else` and tests for null: what makes it safe to read a field that may be missing.

import type { Expression } from '../../model/expression.ts';
import { anyText, booleanType, type TextType } from '../../model/type.ts';
import type {
  BinaryExpression,
  FallbackExpression,
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
import { adapt } from './adapt.ts';
import { type Context, failed, type Inference, inferValue, isResult } from './context.ts';
import { type ResolvedField, requirePresenceBefore, resolveField } from './fields.ts';
import { letsOf } from './lets.ts';
import { negated } from './logic.ts';

/** Types `payload has a.b`: never unknown; true when every step is present and not null. */
export function inferHas(node: PresenceTest, ctx: Context): Inference {
  const { root } = node.subject;
  if (!isFieldRoot(root.text, ctx)) {
    if (root.text !== '') ctx.env.report(hasSubjectUnfit(node.subject));
    return failed;
  }
  const field = resolveField({ root, steps: [...node.subject.steps, ...node.field] }, ctx);
  if (field === null) return failed;
  const isTold = mayBeMissing(field) || field.read.isSigned || ctx.inLet;
  if (!isTold) ctx.env.report(hasAlways(node.span, field.read));
  return {
    expression: { kind: 'has', subject: field.read, type: booleanType, span: node.span },
    whenTrue: factsOf(field),
    whenFalse: nothingKnown,
  };
}

/** Types `subject else fallback`. */
export function inferElse(node: FallbackExpression, ctx: Context): Expression | null {
  const { subject, fallback } = node;
  if (subject.kind === 'missing') return null;
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
  const value = fallbackValue(fallback, field, ctx);
  if (value === null) return null;
  const type = commonType(field.read.type, value.type);
  if (type === null || type.kind === 'record') {
    ctx.env.report(elseMismatch(fallback.span, value.type, field.read.type));
    return null;
  }
  return { kind: 'else', subject: field.read, fallback: value, type, span: node.span };
}

function fallbackValue(fallback: Tree, field: ResolvedField, ctx: Context): Expression | null {
  const { type } = field.read;
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
export function inferNullTest(node: BinaryExpression, subject: Tree, ctx: Context): Inference {
  if (subject.kind === 'missing') return failed;
  if (subject.kind !== 'path' || !isFieldRoot(subject.root.text, ctx)) {
    ctx.env.report(nullSubjectUnfit(subject.span));
    return failed;
  }
  const field = resolveField(subject, ctx);
  if (field === null || !requirePresenceBefore(field, ctx)) return failed;
  if (field.places.at(-1)?.isNullable !== true) {
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
  return field.places.at(-1)?.isCertain === false;
}

function factsOf(field: ResolvedField): Presence {
  const texts = field.places.map((_, at) => field.read.steps.slice(0, at));
  return new Set(
    texts.flatMap((steps) => [
      presenceFact('present', field.read.root, steps),
      presenceFact('not-null', field.read.root, steps),
    ]),
  );
}
