// Exact arithmetic and comparison for generated code. A value stays a JavaScript number as long as it equals
// the decimal of its shortest text. Results of arithmetic are decimals, except among safe integers; readings
// of meters may be intervals. INVARIANT: the values agree with exact decimal arithmetic in every digit.
// Undefined (or the null of an absent value) is unknown, and so is every result that a decimal cannot hold.

import type { Truth } from '../../model/trace.ts';
import type { Decimal } from '../../value/decimal.ts';
import * as decimal from '../../value/decimal.ts';
import { secondsPerDay } from '../../value/time.ts';

/** An exact number. A JavaScript number stands for the decimal of its shortest text. */
export type NumericValue = number | Decimal;

/**
 * An amount of money. A `currency` of null is the sum of nothing, which is compatible with every currency.
 */
export interface RuntimeAmount {
  readonly amount: NumericValue;
  readonly currency: string | null;
}

/** An interval: every value between the two ends is possible. */
interface Bounds {
  readonly low: RuntimeScalar;
  readonly high: RuntimeScalar;
}

export type RuntimeScalar = NumericValue | RuntimeAmount;
export type RuntimeQuantity = RuntimeScalar | Bounds;
export type OptionalValue<T> = T | null | undefined;

/**
 * A truth value in generated code: 0 is false, 1 unknown, 2 true. `and` is the smallest, `or` the largest,
 * and `not x` is `2 - x`.
 */
export type Kleene = 0 | 1 | 2;

export const truths: readonly Truth[] = ['false', 'unknown', 'true'];

/** Returns the exact decimal of a number. */
export function exact(value: NumericValue): Decimal {
  return typeof value === 'number' ? decimal.fromNumber(value) : value;
}

/**
 * Returns a JavaScript number when the value is an integer that it represents exactly, otherwise the decimal.
 */
export function plain(value: Decimal): NumericValue {
  if (value.exponent < 0) return value;
  const number = decimal.toNumber(value);
  return Number.isSafeInteger(number) ? number : value;
}

export function equalQuantities(
  a: OptionalValue<RuntimeQuantity>,
  b: OptionalValue<RuntimeQuantity>,
): Kleene {
  if (a == null || b == null) return 1;
  if (typeof a === 'number' && typeof b === 'number') return a === b ? 2 : 0;
  const [aLow, aHigh, bLow, bHigh] = [lowEnd(a), highEnd(a), lowEnd(b), highEnd(b)];
  const below = order(aHigh, bLow);
  const above = order(aLow, bHigh);
  if (below === undefined || above === undefined) return 1;
  if (below < 0 || above > 0) return 0;
  return below === 0 && above === 0 ? 2 : 1;
}

export function less(a: OptionalValue<RuntimeQuantity>, b: OptionalValue<RuntimeQuantity>): Kleene {
  if (a == null || b == null) return 1;
  if (typeof a === 'number' && typeof b === 'number') return a < b ? 2 : 0;
  const always = order(highEnd(a), lowEnd(b));
  const ever = order(lowEnd(a), highEnd(b));
  if (always === undefined || ever === undefined) return 1;
  return always < 0 ? 2 : ever < 0 ? 1 : 0;
}

export function lessOrEqual(a: OptionalValue<RuntimeQuantity>, b: OptionalValue<RuntimeQuantity>): Kleene {
  return (2 - less(b, a)) as Kleene;
}

export function addQuantities(
  a: OptionalValue<RuntimeQuantity>,
  b: OptionalValue<RuntimeQuantity>,
): RuntimeQuantity | undefined {
  if (a == null || b == null) return undefined;
  return hull(a, b, addScalars);
}

export function subtractQuantities(
  a: OptionalValue<RuntimeQuantity>,
  b: OptionalValue<RuntimeQuantity>,
): RuntimeQuantity | undefined {
  return b == null ? undefined : addQuantities(a, negateQuantity(b));
}

/** Returns the duration between two dates, as a multiple of 24 hours. */
export function subtractDates(
  a: OptionalValue<RuntimeQuantity>,
  b: OptionalValue<RuntimeQuantity>,
): RuntimeQuantity | undefined {
  return multiplyQuantities(subtractQuantities(a, b), secondsPerDay);
}

export function multiplyQuantities(
  a: OptionalValue<RuntimeQuantity>,
  b: OptionalValue<RuntimeQuantity>,
): RuntimeQuantity | undefined {
  return a == null || b == null ? undefined : hull(a, b, multiplyScalars);
}

/** Returns the quotient; unknown when the divisor may be zero. */
export function divideQuantities(
  a: OptionalValue<RuntimeQuantity>,
  b: OptionalValue<RuntimeQuantity>,
): RuntimeQuantity | undefined {
  if (a == null || b == null) return undefined;
  if (isBounds(b) && sign(b.low) <= 0 && sign(b.high) >= 0) return undefined;
  return hull(a, b, divideScalars);
}

export function negateQuantity(a: OptionalValue<RuntimeQuantity>): RuntimeQuantity | undefined {
  if (a == null) return undefined;
  return isBounds(a) ? { low: negateScalar(a.high), high: negateScalar(a.low) } : negateScalar(a);
}

export function absoluteQuantity(a: OptionalValue<RuntimeQuantity>): RuntimeQuantity | undefined {
  if (a == null) return undefined;
  if (!isBounds(a)) return sign(a) < 0 ? negateScalar(a) : a;
  if (sign(a.low) >= 0) return a;
  const flipped = { low: negateScalar(a.high), high: negateScalar(a.low) };
  if (sign(a.high) <= 0) return flipped;
  return between(zeroLike(a.low), pick(a.high, flipped.high, isLarger));
}

export function minimum(...values: readonly OptionalValue<RuntimeQuantity>[]): RuntimeQuantity | undefined {
  return extreme(values, (a, b) => !isLarger(a, b));
}

export function maximum(...values: readonly OptionalValue<RuntimeQuantity>[]): RuntimeQuantity | undefined {
  return extreme(values, (a, b) => !isLarger(b, a));
}

/** Returns the upper end of an interval, or a single value unchanged. */
export function highEnd(value: RuntimeQuantity): RuntimeScalar {
  return isBounds(value) ? value.high : value;
}

/** Returns the interval between two ends, or a single value when the ends are equal. */
export function between(
  low: OptionalValue<RuntimeScalar>,
  high: OptionalValue<RuntimeScalar>,
): RuntimeQuantity | undefined {
  if (low == null || high == null) return undefined;
  return order(low, high) === 0 ? low : { low, high };
}

export function isAmount(value: RuntimeQuantity): value is RuntimeAmount {
  return typeof value === 'object' && 'amount' in value;
}

function isBounds(value: RuntimeQuantity): value is Bounds {
  return typeof value === 'object' && 'low' in value;
}

function lowEnd(value: RuntimeQuantity): RuntimeScalar {
  return isBounds(value) ? value.low : value;
}

/** Compares two values: negative, zero or positive; undefined across currencies. */
function order(a: RuntimeScalar, b: RuntimeScalar): number | undefined {
  if (typeof a === 'number' && typeof b === 'number') return a - b;
  if (commonCurrency(a, b) === undefined) return undefined;
  const [x, y] = [numberOf(a), numberOf(b)];
  return typeof x === 'number' && typeof y === 'number' ? x - y : decimal.compare(exact(x), exact(y));
}

/** Returns the currency that two values have in common; undefined when their currencies differ. */
function commonCurrency(a: RuntimeScalar, b: RuntimeScalar): string | null | undefined {
  const [x, y] = [currencyOf(a), currencyOf(b)];
  return x === y || y === null ? x : x === null ? y : undefined;
}

function currencyOf(value: RuntimeScalar): string | null {
  return isAmount(value) ? value.currency : null;
}

function numberOf(value: RuntimeScalar): NumericValue {
  return isAmount(value) ? value.amount : value;
}

function sign(value: RuntimeScalar): number {
  const number = numberOf(value);
  return typeof number === 'number' ? number : decimal.compare(number, decimal.zero);
}

function zeroLike(value: RuntimeScalar): RuntimeScalar {
  return isAmount(value) ? { amount: 0, currency: value.currency } : 0;
}

function addScalars(a: RuntimeScalar, b: RuntimeScalar): RuntimeScalar | undefined {
  if (typeof a === 'number' && typeof b === 'number') return addNumbers(a, b);
  const currency = commonCurrency(a, b);
  if (currency === undefined) return undefined;
  const amount = addNumbers(numberOf(a), numberOf(b));
  return isAmount(a) ? inCurrency(amount, currency) : amount;
}

function addNumbers(a: NumericValue, b: NumericValue): NumericValue | undefined {
  if (Number.isSafeInteger(a) && Number.isSafeInteger(b)) {
    const sum = (a as number) + (b as number);
    if (Number.isSafeInteger(sum)) return sum;
  }
  return decimal.add(exact(a), exact(b)) ?? undefined;
}

function multiplyScalars(a: RuntimeScalar, b: RuntimeScalar): RuntimeScalar | undefined {
  const product = multiplyNumbers(numberOf(a), numberOf(b));
  if (isAmount(a)) return inCurrency(product, a.currency);
  return isAmount(b) ? inCurrency(product, b.currency) : product;
}

function multiplyNumbers(a: NumericValue, b: NumericValue): NumericValue | undefined {
  if (Number.isSafeInteger(a) && Number.isSafeInteger(b)) {
    const product = (a as number) * (b as number);
    if (Number.isSafeInteger(product)) return product;
  }
  return decimal.multiply(exact(a), exact(b)) ?? undefined;
}

/** Divides two values. Money divided by money is a number; money divided by a number is money. */
function divideScalars(a: RuntimeScalar, b: RuntimeScalar): RuntimeScalar | undefined {
  if (isAmount(a) && isAmount(b) && commonCurrency(a, b) === undefined) return undefined;
  const quotient = divideNumbers(numberOf(a), numberOf(b));
  return isAmount(a) && !isAmount(b) ? inCurrency(quotient, a.currency) : quotient;
}

function divideNumbers(a: NumericValue, b: NumericValue): NumericValue | undefined {
  if (Number.isSafeInteger(a) && Number.isSafeInteger(b) && (a as number) % (b as number) === 0) {
    return (a as number) / (b as number);
  }
  return decimal.divide(exact(a), exact(b)) ?? undefined;
}

function inCurrency(amount: NumericValue | undefined, currency: string | null): RuntimeAmount | undefined {
  return amount === undefined ? undefined : { amount, currency };
}

function negateScalar(value: RuntimeScalar): RuntimeScalar {
  if (typeof value === 'number') return -value;
  if (isAmount(value))
    return { amount: negateScalar(value.amount) as NumericValue, currency: value.currency };
  return decimal.negate(value);
}

/**
 * Returns the smallest interval that contains every result of the operation, which must be monotonic in each
 * operand.
 */
function hull(
  a: RuntimeQuantity,
  b: RuntimeQuantity,
  operation: (a: RuntimeScalar, b: RuntimeScalar) => RuntimeScalar | undefined,
): RuntimeQuantity | undefined {
  if (!isBounds(a) && !isBounds(b)) return operation(a, b);
  const corners = [lowEnd(a), highEnd(a)].flatMap((x) => [operation(x, lowEnd(b)), operation(x, highEnd(b))]);
  let [low, high] = [corners[0], corners[0]];
  for (const corner of corners) {
    if (corner === undefined || low === undefined || high === undefined) return undefined;
    low = pick(low, corner, (x, y) => !isLarger(x, y));
    high = pick(high, corner, isLarger);
  }
  return between(low, high);
}

type Preference = (a: RuntimeScalar, b: RuntimeScalar) => boolean;

/**
 * Returns the interval between the preferred low end and the preferred high end of all values; unknown across
 * currencies.
 */
function extreme(
  values: readonly OptionalValue<RuntimeQuantity>[],
  prefers: Preference,
): RuntimeQuantity | undefined {
  let best: RuntimeQuantity | undefined;
  let currency: string | null = null;
  for (const value of values) {
    if (value == null) return undefined;
    const common = commonCurrency({ amount: 0, currency }, lowEnd(value));
    if (common === undefined) return undefined;
    currency = common;
    best = best === undefined ? value : extremeOfTwo(best, value, prefers);
  }
  return best;
}

function extremeOfTwo(
  a: RuntimeQuantity,
  b: RuntimeQuantity,
  prefers: Preference,
): RuntimeQuantity | undefined {
  return between(pick(lowEnd(a), lowEnd(b), prefers), pick(highEnd(a), highEnd(b), prefers));
}

/** Returns `a` when it is preferred, otherwise `b`. */
function pick(a: RuntimeScalar, b: RuntimeScalar, prefers: Preference): RuntimeScalar {
  return prefers(a, b) ? a : b;
}

/** Whether one amount is larger than another of the same currency. */
function isLarger(a: RuntimeScalar, b: RuntimeScalar): boolean {
  return (order(a, b) ?? 0) > 0;
}
