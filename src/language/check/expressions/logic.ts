// Types `and`, `or` and `not`: Kleene's connectives, and the flow of presence through them from left to
// right. Chains are walked in a loop, so that a condition of any length does not exhaust the stack.

import type { Expression } from '../../model/expression.ts';
import { booleanType } from '../../model/type.ts';
import type { BinaryExpression, ExpressionNode as Tree, UnaryExpression } from '../../syntax/tree/tree.ts';
import { trimmedList } from '../logic/list-forms.ts';
import { both, either } from '../logic/presence.ts';
import { type Context, type Inference, inferCondition, withPresence } from './context.ts';

export function inferAnd(node: BinaryExpression, ctx: Context): Inference {
  const [first, ...rest] = operandsOf(node);
  let all = inferCondition(first, ctx);
  const operands = [all.expression];
  for (const operand of rest) {
    const next = inferCondition(operand, withPresence(ctx, both(ctx.presence, all.whenTrue)));
    operands.push(next.expression);
    all = {
      expression: null,
      whenTrue: both(all.whenTrue, next.whenTrue),
      // False because of the operands before, or because this operand is false after all before it were true.
      whenFalse: either(all.whenFalse, both(all.whenTrue, next.whenFalse)),
    };
  }
  return { ...all, expression: join('and', operands, node) };
}

export function inferOr(node: BinaryExpression, ctx: Context): Inference {
  const [first, ...rest] = operandsOf(node);
  let any = inferCondition(first, ctx);
  const operands = [any.expression];
  for (const operand of rest) {
    const next = inferCondition(operand, withPresence(ctx, both(ctx.presence, any.whenFalse)));
    operands.push(next.expression);
    any = {
      expression: null,
      whenTrue: either(any.whenTrue, both(any.whenFalse, next.whenTrue)),
      whenFalse: both(any.whenFalse, next.whenFalse),
    };
  }
  return { ...any, expression: join('or', operands, node) };
}

export function inferNot(node: UnaryExpression, ctx: Context): Inference {
  const operand = inferCondition(node.operand, ctx);
  return {
    expression: operand.expression === null ? null : negated(operand.expression, node.span),
    whenTrue: operand.whenFalse,
    whenFalse: operand.whenTrue,
  };
}

/** Returns `not operand`. */
export function negated(operand: Expression, span: Expression['span']): Expression {
  return { kind: 'not', operand, type: booleanType, span };
}

/** Returns the operands of a chain of one operator, from left to right. */
function operandsOf(node: BinaryExpression): readonly [Tree, ...Tree[]] {
  const reversed: Tree[] = [];
  let current: Tree = node;
  while (current.kind === 'binary' && current.operator === node.operator) {
    reversed.push(current.right);
    current = current.left;
  }
  return [current, ...reversed.reverse()];
}

/**
 * Joins the operands into one expression. An operand that is itself a chain of the same operator is merged
 * into the outer chain, except a chain made by `anyOf`.
 */
function join(
  kind: 'and' | 'or',
  operands: readonly (Expression | null)[],
  node: BinaryExpression,
): Expression | null {
  const flat: Expression[] = [];
  for (const operand of operands) {
    if (operand === null) return null;
    if (operand.kind === kind && !isAnyOf(operand)) for (const inner of operand.operands) flat.push(inner);
    else flat.push(operand);
  }
  return { kind, operands: trimmedList(flat), type: booleanType, span: node.span };
}

/**
 * The most entries of a list that may be tested one by one: each entry is a test of its own in the compiled
 * function.
 */
export const anyOfMax = 256;

/**
 * Joins tests for the entries of a list by `or`. The tests are written as one test, so each has the span of
 * the whole.
 */
export function anyOf({ span }: BinaryExpression, tests: readonly Expression[]): Expression {
  const [first, ...others] = tests;
  if (first !== undefined && others.length === 0) return first;
  return { kind: 'or', operands: tests, type: booleanType, span };
}

function isAnyOf({ operands, span }: Extract<Expression, { kind: 'and' | 'or' }>): boolean {
  return operands.every((test) => test.span.start === span.start && test.span.end === span.end);
}
