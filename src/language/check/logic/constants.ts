// Constants: literals, lets of constants, and arithmetic on them. Patterns, networks, time zones and bounds
// of risk must be constant.

import type { Expression } from '../../model/expression.ts';
import { type Money, type UnknownValue, unknown, type Value } from '../../model/value.ts';
import { add, type Decimal, divide, multiply, negate, subtract } from '../../value/decimal.ts';
import type { DomainAtom } from './value-sets.ts';

/**
 * Returns the expression of a let by its id. `known` caches what tests state; the cache holds only while lets
 * keep these expressions.
 */
export interface ValueOfLet {
  (id: string): Expression | null | undefined;
  readonly known?: AtomCache;
}

/** Caches what single tests state when they are true, and when they are false. */
export interface AtomCache {
  readonly whereTrue: Map<Expression, readonly DomainAtom[]>;
  readonly whereFalse: Map<Expression, readonly DomainAtom[]>;
}

/** Returns the expression that a let stands for, through lets of lets. */
export function behindLets(expression: Expression, valueOfLet: ValueOfLet): Expression {
  let current = expression;
  while (current.kind === 'let') {
    const next = valueOfLet(current.id);
    if (next === undefined || next === null) return current;
    current = next;
  }
  return current;
}

/**
 * Returns the value of a constant; unknown when it has none (division by zero), null when the expression may
 * vary.
 */
export function constantValue(expression: Expression, valueOfLet: ValueOfLet): Value | UnknownValue | null {
  const node = behindLets(expression, valueOfLet);
  switch (node.kind) {
    case 'literal':
      return node.value;
    case 'negate': {
      const value = constantValue(node.operand, valueOfLet);
      return value === null || value === unknown ? value : negateScalar(value as Scalar);
    }
    case 'arithmetic': {
      const left = constantValue(node.left, valueOfLet);
      const right = constantValue(node.right, valueOfLet);
      if (left === null || right === null) return null;
      if (left === unknown || right === unknown) return unknown;
      return calculate(node.operator, left as Scalar, right as Scalar);
    }
    default:
      return null;
  }
}

/** Returns the text of a constant; null when the constant is no text or the expression may vary. */
export function constantText(expression: Expression, valueOfLet: ValueOfLet): string | null {
  const value = constantValue(expression, valueOfLet);
  return typeof value === 'string' ? value : null;
}

type Scalar = Decimal | Money;
const operations = { '+': add, '-': subtract, '*': multiply, '/': divide } as const;

/**
 * Calculates with constants of matching types; the result is unknown when it would be unknown at run time.
 */
function calculate(operator: '+' | '-' | '*' | '/', left: Scalar, right: Scalar): Scalar | UnknownValue {
  const currencies = [left, right].flatMap((each) => ('currency' in each ? [each.currency] : []));
  if (new Set(currencies).size > 1) return unknown;
  const amount = operations[operator](amountOf(left), amountOf(right));
  if (amount === null) return unknown;
  const isRatio = operator === '/' && currencies.length === 2;
  return currencies.length === 0 || isRatio ? amount : { amount, currency: currencies[0] ?? null };
}

function amountOf(scalar: Scalar): Decimal {
  return 'currency' in scalar ? scalar.amount : scalar;
}

/** Returns the number or money with the opposite sign. */
export function negateScalar(scalar: Scalar): Scalar {
  return 'currency' in scalar ? { ...scalar, amount: negate(scalar.amount) } : negate(scalar);
}
