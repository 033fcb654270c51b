// Comparison and arithmetic of numbers, money, times and durations. Every operand is treated as an interval;
// a plain value is an interval whose ends are equal. A result that is not exact, or that mixes two
// currencies, is unknown.

import type { ComparisonOperator } from '../model/expression.ts';
import { type Interval, type Money, type UnknownValue, unknown, type Value } from '../model/value.ts';
import {
  absolute,
  add,
  compare,
  type Decimal,
  divide,
  multiply,
  negate,
  subtract,
  zero,
} from '../value/decimal.ts';
import { not, type SpecTruth } from './truth.ts';

export type Scalar = Decimal | Money;

const arithmetic = { '+': add, '-': subtract, '*': multiply, '/': divide } as const;

/** Evaluates `left operator right` for quantities of one kind. */
export function compareQuantities(operator: ComparisonOperator, left: Value, right: Value): SpecTruth {
  const a = ends(left);
  const b = ends(right);
  if (a === null || b === null || !shareCurrency([a.low, a.high, b.low, b.high])) return unknown;
  const before = order(a.high, b.low);
  const after = order(a.low, b.high);
  switch (operator) {
    case '<':
      return before < 0 ? true : after >= 0 ? false : unknown;
    case '<=':
      return before <= 0 ? true : after > 0 ? false : unknown;
    case '>':
      return not(compareQuantities('<=', left, right));
    case '>=':
      return not(compareQuantities('<', left, right));
    case '==':
      if (before < 0 || after > 0) return false;
      return before === 0 && after === 0 ? true : unknown;
    case '!=':
      return not(compareQuantities('==', left, right));
  }
}

/** Returns the hull of the results for the ends; unknown when one of them has no exact result. */
export function calculate(operator: '+' | '-' | '*' | '/', left: Value, right: Value): Value | UnknownValue {
  const [a, b] = [ends(left), ends(right)];
  if (a === null || b === null) return unknown;
  if (operator === '/' && order(b.low, zero) <= 0 && order(b.high, zero) >= 0) return unknown;
  const corners = [a.low, a.high].flatMap((x) =>
    [b.low, b.high].map((y) => calculateScalars(operator, x, y)),
  );
  return hull(corners);
}

export function negationOf(operand: Value): Value | UnknownValue {
  const interval = ends(operand);
  return interval === null
    ? unknown
    : hull([withAmount(interval.high, negate), withAmount(interval.low, negate)]);
}

export function absoluteOf(operand: Value): Value | UnknownValue {
  const interval = ends(operand);
  if (interval === null) return unknown;
  const corners = [withAmount(interval.low, absolute), withAmount(interval.high, absolute)];
  const crossesZero = order(interval.low, zero) < 0 && order(interval.high, zero) > 0;
  return hull(crossesZero ? [...corners, withAmount(interval.low, () => zero)] : corners);
}

/** Returns the smallest (-1) or largest (1) of one or more quantities. */
export function extreme(direction: -1 | 1, operands: readonly Value[]): Value | UnknownValue {
  const intervals = operands.map(ends);
  if (intervals.includes(null)) return unknown;
  const knownIntervals = intervals as readonly { low: Scalar; high: Scalar }[];
  if (!shareCurrency(knownIntervals.flatMap(({ low, high }) => [low, high]))) return unknown;
  const pick = (scalars: readonly Scalar[]): Scalar =>
    scalars.reduce((best, scalar) => (order(scalar, best) === direction ? scalar : best));
  return hull([pick(knownIntervals.map(({ low }) => low)), pick(knownIntervals.map(({ high }) => high))]);
}

/** Returns the sum; a sum of no money has no currency and can be compared with any. */
export function total(start: Scalar, operands: readonly Value[]): Value | UnknownValue {
  return operands.reduce<Value | UnknownValue>(
    (sum, operand) => (sum === unknown ? unknown : calculate('+', sum, operand)),
    start,
  );
}

export function isMoney(value: Value): value is Money {
  return typeof value === 'object' && value !== null && 'currency' in value;
}

export function isInterval(value: Value): value is Interval {
  return typeof value === 'object' && value !== null && 'low' in value;
}

/** Returns an interval, or a plain value when the two ends are equal. */
export function interval(low: Scalar, high: Scalar): Scalar | Interval {
  return order(low, high) === 0 ? low : { low, high };
}

function ends(value: Value): { low: Scalar; high: Scalar } | null {
  if (value === null || typeof value !== 'object') return null;
  if (isInterval(value)) return value;
  return { low: value as Scalar, high: value as Scalar };
}

function amountOf(scalar: Scalar): Decimal {
  return isMoney(scalar) ? scalar.amount : scalar;
}

function order(a: Scalar, b: Scalar): number {
  return compare(amountOf(a), amountOf(b));
}

function shareCurrency(scalars: readonly Scalar[]): boolean {
  const named = scalars.filter((scalar) => isMoney(scalar) && scalar.currency !== null) as readonly Money[];
  return named.every(({ currency }) => currency === named[0]!.currency);
}

function withAmount(scalar: Scalar, change: (amount: Decimal) => Decimal): Scalar {
  return isMoney(scalar) ? { ...scalar, amount: change(scalar.amount) } : change(scalar);
}

function calculateScalars(operator: '+' | '-' | '*' | '/', x: Scalar, y: Scalar): Scalar | UnknownValue {
  if (!shareCurrency([x, y])) return unknown;
  const amount = arithmetic[operator](amountOf(x), amountOf(y));
  if (amount === null) return unknown;
  const isRatio = operator === '/' && isMoney(x) && isMoney(y);
  const money = isMoney(x) ? (isMoney(y) ? [x, y] : [x]) : isMoney(y) ? [y] : [];
  if (isRatio || money.length === 0) return amount;
  return {
    amount,
    currency: money.map(({ currency }) => currency).find((currency) => currency !== null) ?? null,
  };
}

function hull(scalars: readonly (Scalar | UnknownValue)[]): Value | UnknownValue {
  if (scalars.includes(unknown)) return unknown;
  const sorted = (scalars as readonly Scalar[]).toSorted(order);
  return interval(sorted[0] as Scalar, sorted.at(-1) as Scalar);
}
