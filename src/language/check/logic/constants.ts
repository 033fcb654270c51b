// Constants: literals, lets of constants, and arithmetic on them. They serve where an expression may not vary: as
// patterns, networks, zones and bounds of risk.

import type { Expression } from '../../model/expression.ts';
import { type Money, type Unknown, unknown, type Value } from '../../model/value.ts';
import { add, type Decimal, divide, multiply, negate, subtract } from '../../value/decimal.ts';
import type { DomainAtom } from './value-sets.ts';

/** The expression of a let by its id. What conditions say while lets are read so may be kept with it. */
export interface ValueOfLet {
  (id: string): Expression | null | undefined;
  readonly known?: KnownAtoms;
}

/** What single tests say where they are true, and where they are false. */
export interface KnownAtoms {
  readonly whereTrue: Map<Expression, readonly DomainAtom[]>;
  readonly whereFalse: Map<Expression, readonly DomainAtom[]>;
}

/** The expression that a let stands for, through lets of lets. */
export function behindLets(expression: Expression, valueOfLet: ValueOfLet): Expression {
  let current = expression;
  while (current.kind === 'let') {
    const next = valueOfLet(current.id);
    if (next === undefined || next === null) return current;
    current = next;
  }
  return current;
}

/** The value of a constant; unknown where it has none (division by zero); null where it may vary. */
export function constantValue(expression: Expression, valueOfLet: ValueOfLet): Value | Unknown | null {
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

/** The text of a constant; null where it is no text or may vary. */
export function constantText(expression: Expression, valueOfLet: ValueOfLet): string | null {
  const value = constantValue(expression, valueOfLet);
  return typeof value === 'string' ? value : null;
}

type Scalar = Decimal | Money;
const operations = { '+': add, '-': subtract, '*': multiply, '/': divide } as const;

/** Arithmetic on constants of fitting types; unknown as at run time. */
function calculate(operator: '+' | '-' | '*' | '/', left: Scalar, right: Scalar): Scalar | Unknown {
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

/** The number or money with the other sign. */
export function negateScalar(scalar: Scalar): Scalar {
  return 'currency' in scalar ? { ...scalar, amount: negate(scalar.amount) } : negate(scalar);
}
