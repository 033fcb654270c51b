// Which fields and meters drive the value of a calculation down or up: those whose own value may fall or rise
// without the calculation setting an end to it.

import type { Expression, FieldRead, MeterRead } from '../../model/expression.ts';
import { unknown } from '../../model/value.ts';
import type { Decimal } from '../../value/decimal.ts';
import { behindLets, constantValue, type ValueOfLet } from './constants.ts';

export type RangeEnd = 'low' | 'high';

/** A field or a meter, and the end of its own values at which it drives the calculation. */
export interface Driver {
  readonly node: FieldRead | MeterRead;
  readonly side: RangeEnd;
}

const otherSide = { low: 'high', high: 'low' } as const;

/**
 * Returns what drives the value towards the side: `payload.fee` at its low end drives `payload.fee + 5` down,
 * and `5 - payload.fee` up.
 */
export function driversOf(expression: Expression, side: RangeEnd, valueOfLet: ValueOfLet): readonly Driver[] {
  const node = behindLets(expression, valueOfLet);
  const of = (part: Expression, at: RangeEnd): readonly Driver[] => driversOf(part, at, valueOfLet);
  switch (node.kind) {
    case 'field':
    case 'meter':
      return [{ node, side }];
    case 'negate':
      return of(node.operand, otherSide[side]);
    case 'else':
      return [...of(node.subject, side), ...of(node.fallback, side)];
    case 'quantify':
      return node.quantifier === 'sum' ? of(node.body, side) : [];
    case 'call':
      return node.builtin === 'min' || node.builtin === 'max'
        ? ofExtreme(
            node.args.map((arg) => of(arg, side)),
            node.builtin,
            side,
          )
        : [];
    case 'arithmetic': {
      const { operator, left, right } = node;
      if (operator === '+') return [...of(left, side), ...of(right, side)];
      if (operator === '-') return [...of(left, side), ...of(right, otherSide[side])];
      const [first, second] = [signOf(left, valueOfLet), signOf(right, valueOfLet)];
      if (second !== null) return of(left, second < 0 ? otherSide[side] : side);
      if (first !== null && operator === '*') return of(right, first < 0 ? otherSide[side] : side);
      // The sign of a product is that of the factor that may be negative, if one alone may be.
      const [isFirstPositive, isSecondPositive] = [isNeverNegative(left), isNeverNegative(right)];
      if (operator === '*' && isFirstPositive && isSecondPositive)
        return [...of(left, side), ...of(right, side)];
      if (operator === '*' && isSecondPositive) return of(left, side);
      if (isFirstPositive && operator === '*') return of(right, side);
      return [left, right].flatMap((part) => [...of(part, 'low'), ...of(part, 'high')]);
    }
    default:
      return [];
  }
}

/** `min` is as low as one of its values; all of them have to be low for `max` to be. */
function ofExtreme(
  drivers: readonly (readonly Driver[])[],
  builtin: 'min' | 'max',
  side: RangeEnd,
): readonly Driver[] {
  const isAny = (builtin === 'min') === (side === 'low');
  return isAny || drivers.every((some) => some.length > 0) ? drivers.flat() : [];
}

/** Whether the declared range of a field leaves it at 0 or above. */
function isNeverNegative(expression: Expression): boolean {
  if (expression.kind !== 'field') return false;
  const { type } = expression;
  const hasRange = type.kind === 'number' || type.kind === 'integer' || type.kind === 'money';
  return hasRange && type.range.low !== null && type.range.low.coefficient >= 0n;
}

/** The sign of a constant: -1, 0 or 1; null for what may vary. */
function signOf(expression: Expression, valueOfLet: ValueOfLet): number | null {
  const value = constantValue(expression, valueOfLet);
  if (value === null || value === unknown || typeof value !== 'object') return null;
  const isMoney = 'amount' in value;
  if (!isMoney && !('coefficient' in value)) return null;
  const amount = (isMoney ? value.amount : value) as Decimal;
  return amount.coefficient < 0n ? -1 : amount.coefficient > 0n ? 1 : 0;
}
