// Exact decimal numbers: turns text or a JavaScript number into a coefficient times a power of ten, and
// calculates with the result. Every result is exact within 34 significant digits and the exponent range of
// IEEE decimal128, or null (unknown). Only `divide` rounds. INVARIANT: every Decimal is normalised (no
// decimal zeros end the coefficient; zero is 0e0), so equal values are structurally equal, and no step builds
// an integer of more than about seventy digits.

/** The value `coefficient * 10 ** exponent`, normalised: the coefficient is 0 or does not end in a decimal zero. */
export interface Decimal {
  readonly coefficient: bigint;
  readonly exponent: number;
}

/** The maximum number of significant digits of a Decimal. */
export const digitsMax = 34;

/** The largest power of ten of a first digit, and the smallest of a last digit (IEEE decimal128). */
const leadingPowerMax = 6144;
const lastPowerMin = -6176;

/**
 * The most positions before or after the decimal point in plain notation. Numbers that need more are written
 * in scientific notation.
 */
const plainPositionsMax = 40;

export const zero: Decimal = { coefficient: 0n, exponent: 0 };
const one: Decimal = { coefficient: 1n, exponent: 0 };

const numberForm = /^(-?)(\d+(?:_\d+)*)(?:\.(\d+(?:_\d+)*))?(?:[eE]([+-]?\d+))?$/;

/**
 * Reads a number of the language (`12`, `-0.5`, `10_000`) or of JSON (`1.5e-7`). Returns null when the text
 * has another form, more than 34 significant digits, or an exponent out of range.
 */
export function parseDecimal(text: string): Decimal | null {
  const match = numberForm.exec(text);
  if (match === null) return null;
  const [, sign, whole = '', fraction = '', power = '0'] = match;
  const fractionDigits = fraction.replaceAll('_', '');
  const digits = whole.replaceAll('_', '') + fractionDigits;
  const [first, last] = significantSpan(digits);
  if (first === last) return zero;
  if (last - first > digitsMax) return null;
  const coefficient = BigInt(digits.slice(first, last));
  const exponent = Number(power) - fractionDigits.length + (digits.length - last);
  return withinRange(sign === '-' ? -coefficient : coefficient, exponent);
}

/**
 * Returns the decimal with the shortest text that reads back as this number. Throws a RangeError unless `n`
 * is finite.
 */
export function fromNumber(n: number): Decimal {
  if (Number.isSafeInteger(n)) return ofInteger(n, 0);
  const hundredths = Math.round(n * 100);
  // The decimal has at most 15 digits, so no other decimal this short reads back as the number.
  if (Math.abs(hundredths) < 1e15 && hundredths / 100 === n) return ofInteger(hundredths, -2);
  const decimal = parseDecimal(String(n));
  if (decimal === null) throw new RangeError('a decimal is made from finite numbers only');
  return decimal;
}

function ofInteger(n: number, exponent: number): Decimal {
  if (n === 0) return zero;
  let reduced = n;
  let zeros = 0;
  while (reduced % 10 === 0) {
    reduced /= 10;
    zeros += 1;
  }
  return { coefficient: BigInt(reduced), exponent: exponent + zeros };
}

/** Returns the nearest JavaScript number: infinity or zero when the value is beyond the range of numbers. */
export function toNumber(d: Decimal): number {
  return d.exponent === 0 ? Number(d.coefficient) : Number(`${d.coefficient}e${d.exponent}`);
}

/** Returns the exact sum, or null when the sum needs more than 34 digits or is out of range. */
export function add(a: Decimal, b: Decimal): Decimal | null {
  if (a.coefficient === 0n) return b;
  if (b.coefficient === 0n) return a;
  const [high, low] = a.exponent >= b.exponent ? [a, b] : [b, a];
  const shift = high.exponent - low.exponent;
  // The sum ends in the last digit of `low`, which is more than 34 places below the first digit of `high`.
  if (shift > digitsMax + 1) return null;
  return bounded(high.coefficient * powerOfTen(shift) + low.coefficient, low.exponent);
}

/** Returns the exact difference, or null when the difference needs more than 34 digits or is out of range. */
export function subtract(a: Decimal, b: Decimal): Decimal | null {
  return add(a, negate(b));
}

/** Returns the exact product, or null when the product needs more than 34 digits or is out of range. */
export function multiply(a: Decimal, b: Decimal): Decimal | null {
  return bounded(a.coefficient * b.coefficient, a.exponent + b.exponent);
}

/**
 * Returns the quotient, rounded half-even to 34 digits; null when `b` is zero or the quotient is out of
 * range.
 */
export function divide(a: Decimal, b: Decimal): Decimal | null {
  if (b.coefficient === 0n) return null;
  if (a.coefficient === 0n) return zero;
  const divisor = magnitude(b.coefficient);
  // Adds enough zeros for an integer quotient of 34 or 35 digits. `shift` is at least 1, because no
  // coefficient has more than 34 digits.
  const shift = digitsMax + digitCount(divisor) - digitCount(a.coefficient);
  const quotient = roundToDigits(magnitude(a.coefficient) * powerOfTen(shift), divisor);
  const isNegative = a.coefficient < 0n !== b.coefficient < 0n;
  const exponent = a.exponent - b.exponent - shift + quotient.dropped;
  return bounded(isNegative ? -quotient.coefficient : quotient.coefficient, exponent);
}

export function negate(d: Decimal): Decimal {
  return d.coefficient === 0n ? zero : { coefficient: -d.coefficient, exponent: d.exponent };
}

export function absolute(d: Decimal): Decimal {
  return d.coefficient < 0n ? negate(d) : d;
}

/** Compares two values: -1 when `a` is smaller, 1 when `a` is larger, 0 when both are equal. */
export function compare(a: Decimal, b: Decimal): -1 | 0 | 1 {
  if (a.exponent === b.exponent) return order(a.coefficient, b.coefficient);
  const shift = a.exponent - b.exponent;
  if (shift > 0 && shift <= digitsMax) return order(a.coefficient * powerOfTen(shift), b.coefficient);
  if (shift < 0 && shift >= -digitsMax) return order(a.coefficient, b.coefficient * powerOfTen(-shift));
  // The exponents differ by more digits than a coefficient can have.
  const signs = order(sign(a.coefficient), sign(b.coefficient));
  if (signs !== 0) return signs;
  const powers = order(leadingPower(a), leadingPower(b));
  return a.coefficient > 0n ? powers : powers === 1 ? -1 : 1;
}

export function equal(a: Decimal, b: Decimal): boolean {
  return a.exponent === b.exponent && a.coefficient === b.coefficient;
}

export function isInteger(d: Decimal): boolean {
  return d.exponent >= 0;
}

/** Returns how many decimal places the number has. */
export function fractionDigits(d: Decimal): number {
  return Math.max(0, -d.exponent);
}

/** Returns the largest integer not above `d`. An integer is its own floor. */
export function floor(d: Decimal): Decimal {
  if (d.exponent >= 0) return d;
  if (d.coefficient !== 0n && leadingPower(d) < 0) return d.coefficient < 0n ? negate(one) : zero;
  const scale = powerOfTen(-d.exponent);
  const truncated = d.coefficient / scale;
  return normalise(d.coefficient < 0n ? truncated - 1n : truncated, 0);
}

/**
 * Writes plain notation (`1000.01`), or scientific notation (`1.5e-100`) when plain notation would need more
 * than 40 positions.
 */
export function formatDecimal(d: Decimal): string {
  const sign = d.coefficient < 0n ? '-' : '';
  const digits = magnitude(d.coefficient).toString();
  const power = digits.length - 1 + d.exponent;
  if (power > plainPositionsMax || d.exponent < -plainPositionsMax) {
    const rest = digits.length > 1 ? `.${digits.slice(1)}` : '';
    return `${sign}${digits[0]}${rest}e${power}`;
  }
  if (d.exponent >= 0) return sign + digits + '0'.repeat(d.exponent);
  const padded = digits.padStart(1 - d.exponent, '0');
  return `${sign}${padded.slice(0, d.exponent)}.${padded.slice(d.exponent)}`;
}

/**
 * Returns the number of significant digits in the text of a JSON number. Zeros before the first and after the
 * last nonzero digit do not count: `0` has none, `1.10` two and `1e300` one.
 */
export function significantDigits(text: string): number {
  const mantissa = text.split(/[eE]/, 1)[0] ?? '';
  const [first, last] = significantSpan(mantissa.replaceAll(/\D/g, ''));
  return last - first;
}

/** The start and end of the digits without leading and trailing zeros. */
function significantSpan(digits: string): [number, number] {
  let first = 0;
  while (digits[first] === '0') first += 1;
  let last = digits.length;
  while (last > first && digits[last - 1] === '0') last -= 1;
  return [first, last];
}

/**
 * Returns the normalised value of a coefficient of any length, or null when the value needs more than 34
 * digits or is out of range.
 */
export function bounded(coefficient: bigint, exponent: number): Decimal | null {
  const d = normalise(coefficient, exponent);
  return magnitude(d.coefficient) >= powersOfTen[digitsMax]! ? null : withinRange(d.coefficient, d.exponent);
}

function withinRange(coefficient: bigint, exponent: number): Decimal | null {
  if (coefficient === 0n) return zero;
  if (!(exponent >= lastPowerMin)) return null;
  const d = { coefficient, exponent };
  // Far below the limit, the digits need not be counted.
  return exponent < leadingPowerMax / 2 || leadingPower(d) <= leadingPowerMax ? d : null;
}

function normalise(coefficient: bigint, exponent: number): Decimal {
  if (coefficient === 0n) return zero;
  let reduced = coefficient;
  let zeros = 0;
  while (reduced % 10n === 0n) {
    reduced /= 10n;
    zeros += 1;
  }
  return { coefficient: reduced, exponent: exponent + zeros };
}

/**
 * Returns `dividend / divisor` rounded half-even to 34 digits, and how many digits of the integer quotient
 * were dropped.
 */
function roundToDigits(dividend: bigint, divisor: bigint): { coefficient: bigint; dropped: number } {
  const dropped = Math.max(digitCount(dividend / divisor) - digitsMax, 0);
  const unit = divisor * powerOfTen(dropped);
  const quotient = dividend / unit;
  const twice = 2n * (dividend % unit);
  const isUp = twice > unit || (twice === unit && quotient % 2n === 1n);
  return { coefficient: isUp ? quotient + 1n : quotient, dropped };
}

const powersOfTen: readonly bigint[] = Array.from(
  { length: 2 * digitsMax + 3 },
  (_, power) => 10n ** BigInt(power),
);

function powerOfTen(power: number): bigint {
  return powersOfTen[power] ?? 10n ** BigInt(power);
}

/** The power of ten of the first digit of a value. */
function leadingPower(d: Decimal): number {
  return digitCount(d.coefficient) - 1 + d.exponent;
}

function digitCount(n: bigint): number {
  return magnitude(n).toString().length;
}

/** Whether a value lies between two bounds, both included. A bound of null is open. */
export function isInRange(
  { low, high }: { readonly low: Decimal | null; readonly high: Decimal | null },
  value: Decimal,
): boolean {
  return (low === null || compare(low, value) <= 0) && (high === null || compare(value, high) <= 0);
}

function magnitude(n: bigint): bigint {
  return n < 0n ? -n : n;
}

function sign(n: bigint): number {
  return n < 0n ? -1 : n > 0n ? 1 : 0;
}

function order<T extends bigint | number>(a: T, b: T): -1 | 0 | 1 {
  return a < b ? -1 : a > b ? 1 : 0;
}
