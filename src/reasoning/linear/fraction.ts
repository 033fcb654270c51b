// Exact fractions, in which sums of exact decimals are solved. INVARIANT: a fraction is in lowest terms, and
// its bottom is positive.

import type { Decimal } from '../../language/value/decimal.ts';
import { bounded } from '../../language/value/decimal.ts';

export interface Fraction {
  readonly top: bigint;
  readonly bottom: bigint;
}

export const noFraction: Fraction = { top: 0n, bottom: 1n };
export const wholeFraction: Fraction = { top: 1n, bottom: 1n };

export function fraction(top: bigint, bottom: bigint): Fraction {
  const sign = bottom < 0n ? -1n : 1n;
  const shared = commonFactor(top < 0n ? -top : top, bottom * sign);
  return { top: (top * sign) / shared, bottom: (bottom * sign) / shared };
}

export function fractionOf({ coefficient, exponent }: Decimal): Fraction {
  return exponent >= 0
    ? { top: coefficient * 10n ** BigInt(exponent), bottom: 1n }
    : fraction(coefficient, 10n ** BigInt(-exponent));
}

/**
 * The fraction as a decimal, rounded down if it has more than `places` decimals; null if it exceeds what a
 * decimal can hold.
 */
export function roundedDecimal({ top, bottom }: Fraction, digits: number): Decimal | null {
  const scale = 10n ** BigInt(digits);
  const scaled = top * scale;
  const down = scaled / bottom - (scaled % bottom < 0n ? 1n : 0n);
  return bounded(down, -digits);
}

export function plus(a: Fraction, b: Fraction): Fraction {
  return a.bottom === b.bottom && a.bottom === 1n
    ? { top: a.top + b.top, bottom: 1n }
    : fraction(a.top * b.bottom + b.top * a.bottom, a.bottom * b.bottom);
}

export function multiplied(a: Fraction, b: Fraction): Fraction {
  return fraction(a.top * b.top, a.bottom * b.bottom);
}

export function over(a: Fraction, b: Fraction): Fraction {
  return fraction(a.top * b.bottom, a.bottom * b.top);
}

export function opposite({ top, bottom }: Fraction): Fraction {
  return { top: -top, bottom };
}

export function signOf({ top }: Fraction): -1 | 0 | 1 {
  return top < 0n ? -1 : top > 0n ? 1 : 0;
}

export function isLess(a: Fraction, b: Fraction): boolean {
  return a.top * b.bottom < b.top * a.bottom;
}

/** The largest number of which each of the fractions is a whole multiple. */
export function sharedUnit(fractions: readonly Fraction[]): Fraction {
  return fractions.reduce(
    (unit, { top, bottom }) =>
      fraction(commonFactor(unit.top * bottom, (top < 0n ? -top : top) * unit.bottom), unit.bottom * bottom),
    noFraction,
  );
}

function commonFactor(a: bigint, b: bigint): bigint {
  let [x, y] = [a, b];
  while (y !== 0n) [x, y] = [y, x % y];
  return x === 0n ? 1n : x;
}
