// Types `if condition then value else other`. A condition of this form is written with `and` and `or` in the
// model, and so is `if condition then consequence`, an implication.

import { childrenOf } from '../../model/children.ts';
import type { Conditional, Expression } from '../../model/expression.ts';
import { booleanType } from '../../model/type.ts';
import type { ConditionalExpression } from '../../syntax/tree/tree.ts';
import { memo } from '../../value/memo.ts';
import { both, either } from '../logic/presence.ts';
import { commonType } from '../logic/type-relations.ts';
import { branchesDiffer, branchMissing, branchUnfit, expressionTooLarge } from '../messages/type-errors.ts';
import { adapt } from './adapt.ts';
import { type Context, type Inference, inferCondition, plainType, withPresence } from './context.ts';
import { negated } from './logic.ts';

export function inferConditional(node: ConditionalExpression, ctx: Context): Inference {
  const condition = inferCondition(node.condition, ctx);
  const whenTrue = ctx.infer(node.whenTrue, withPresence(ctx, both(ctx.presence, condition.whenTrue)));
  const outside = withPresence(ctx, both(ctx.presence, condition.whenFalse));
  const otherwise = node.otherwise === null ? null : ctx.infer(node.otherwise, outside);
  const inferences = [condition, whenTrue, ...(otherwise === null ? [] : [otherwise])];
  if (inferences.some(({ expression }) => expression === null)) return plainType(null);
  const expression = joined(node, { condition, whenTrue, otherwise }, ctx);
  if (expression?.type.kind !== 'boolean') return plainType(expression);
  const thenTrue = both(condition.whenTrue, whenTrue.whenTrue);
  const thenFalse = both(condition.whenTrue, whenTrue.whenFalse);
  if (otherwise === null)
    return { expression, whenTrue: either(condition.whenFalse, thenTrue), whenFalse: thenFalse };
  return {
    expression,
    whenTrue: either(thenTrue, both(condition.whenFalse, otherwise.whenTrue)),
    whenFalse: either(thenFalse, both(condition.whenFalse, otherwise.whenFalse)),
  };
}

interface Branches {
  readonly condition: Inference;
  readonly whenTrue: Inference;
  readonly otherwise: Inference | null;
}

function joined(node: ConditionalExpression, branches: Branches, ctx: Context): Expression | null {
  const { env } = ctx;
  const condition = branches.condition.expression!;
  const first = branches.whenTrue.expression!;
  const { span } = node;
  if (branches.otherwise === null) {
    if (first.type.kind === 'boolean')
      return { kind: 'or', operands: [negated(condition, condition.span), first], type: booleanType, span };
    env.report(branchMissing(node, first.type));
    return null;
  }
  const second = branches.otherwise.expression!;
  const whenTrue = adapt(first, second.type, env);
  const otherwise = adapt(second, first.type, env);
  if (whenTrue === null || otherwise === null) return null;
  const type = commonType(whenTrue.type, otherwise.type);
  if (type === null) {
    env.report(branchesDiffer(node.otherwise!.span, otherwise.type, whenTrue.type));
    return null;
  }
  if (type.kind === 'record' || type.kind === 'any' || type.kind === 'list') {
    env.report(branchUnfit(node.whenTrue.span, type));
    return null;
  }
  return conditional({ condition, whenTrue, otherwise, type, span }, ctx);
}

/**
 * Returns a conditional; one of conditions is `(condition and a) or (not condition and b)`, or shorter when a branch
 * is a constant.
 */
export function conditional(parts: Omit<Conditional, 'kind'>, { env }: Context): Expression | null {
  const whole = written(parts);
  if (sizeOf(whole) <= partsMax) return whole;
  env.report(expressionTooLarge(parts.span, partsMax));
  return null;
}

/**
 * The most parts of a conditional. It names its condition twice, so conditionals within conditions double at each
 * level.
 */
const partsMax = 10_000;

const sizes = new WeakMap<Expression, number>();

/** The number of parts of an expression, those that occur twice counted twice. */
function sizeOf(expression: Expression): number {
  return memo(sizes, expression, () => childrenOf(expression).reduce((sum, child) => sum + sizeOf(child), 1));
}

function written(parts: Omit<Conditional, 'kind'>): Expression {
  const { condition, whenTrue, otherwise, type, span } = parts;
  if (type.kind !== 'boolean') return { kind: 'if', ...parts };
  const and = (...operands: readonly Expression[]): Expression => ({ kind: 'and', operands, type, span });
  const or = (...operands: readonly Expression[]): Expression => ({ kind: 'or', operands, type, span });
  const isNot = negated(condition, condition.span);
  if (whenTrue.kind === 'literal')
    return whenTrue.value === true ? or(condition, otherwise) : and(isNot, otherwise);
  if (otherwise.kind === 'literal')
    return otherwise.value === true ? or(isNot, whenTrue) : and(condition, whenTrue);
  return or(and(condition, whenTrue), and(isNot, otherwise));
}
