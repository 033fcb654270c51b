import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import {
  absoluteQuantity,
  addQuantities,
  between,
  divideQuantities,
  equalQuantities,
  exact,
  less,
  lessOrEqual,
  maximum,
  minimum,
  multiplyQuantities,
  type NumericValue,
  negateQuantity,
  type RuntimeQuantity,
  subtractQuantities,
} from '../../../src/language/emit/runtime/quantity.ts';
import * as decimal from '../../../src/language/value/decimal.ts';

const numbers = fc.oneof(
  fc.integer({ min: -1000, max: 1000 }),
  fc.maxSafeInteger(),
  fc.integer({ min: -100_000, max: 100_000 }).map((n) => n / 100),
  fc.constantFrom(0, -0, 0.1, 0.2, 0.3, 1e300, 5e-324, 2 ** 53, -(2 ** 53)),
);
const numerics: fc.Arbitrary<NumericValue> = fc.oneof(numbers, numbers.map(exact));

function exactOf(value: RuntimeQuantity | undefined): decimal.Decimal | null {
  return value === undefined ? null : exact(value as NumericValue);
}

describe('quantities', () => {
  it.each([
    ['add', addQuantities, decimal.add],
    ['subtract', subtractQuantities, decimal.subtract],
    ['multiply', multiplyQuantities, decimal.multiply],
    ['divide', divideQuantities, decimal.divide],
  ] as const)('%s as exact decimals do', (_, operation, definition) => {
    fc.assert(
      fc.property(numerics, numerics, (a, b) => {
        expect(exactOf(operation(a, b))).toEqual(definition(exact(a), exact(b)));
      }),
    );
  });

  it('compare as exact decimals do', () => {
    fc.assert(
      fc.property(numerics, numerics, (a, b) => {
        const order = decimal.compare(exact(a), exact(b));
        expect(equalQuantities(a, b)).toBe(order === 0 ? 2 : 0);
        expect(less(a, b)).toBe(order < 0 ? 2 : 0);
        expect(lessOrEqual(a, b)).toBe(order <= 0 ? 2 : 0);
      }),
    );
  });

  const small = fc.integer({ min: -9, max: 9 });
  const interval = fc.tuple(small, small).map(([a, b]) => [Math.min(a, b), Math.max(a, b)] as const);
  const binary = [
    ['add', addQuantities],
    ['subtract', subtractQuantities],
    ['multiply', multiplyQuantities],
    ['divide', divideQuantities],
    ['minimum', minimum],
    ['maximum', maximum],
  ] as const;

  it.each(binary)('%s of intervals holds every result and no more at its ends', (_, operation) => {
    fc.assert(
      fc.property(interval, interval, (a, b) => {
        const result = operation(between(...a), between(...b));
        const points = grid(a).flatMap((x) => grid(b).map((y) => operation(x, y)));
        if (result === undefined) {
          expect(points).toContain(undefined);
          return;
        }
        const [low, high] = ends(result);
        for (const point of points) {
          expect(less(point, low)).toBe(0);
          expect(less(high, point)).toBe(0);
        }
        for (const end of [low, high])
          expect(points.some((point) => equalQuantities(point, end) === 2)).toBe(true);
      }),
    );
  });

  it.each([
    ['negate', negateQuantity],
    ['absolute', absoluteQuantity],
  ] as const)('%s of an interval is the hull', (_, operation) => {
    fc.assert(
      fc.property(interval, (a) => {
        const points = grid(a).map((x) => Number(operation(x)) + 0);
        expect(ends(operation(between(...a))!).map((end) => Number(end) + 0)).toEqual([
          Math.min(...points),
          Math.max(...points),
        ]);
      }),
    );
  });

  it('compares intervals as far as every pair agrees', () => {
    fc.assert(
      fc.property(interval, interval, (a, b) => {
        const pairs = grid(a).flatMap((x) => grid(b).map((y) => [x, y] as const));
        const [low, high] = [between(...a), between(...b)];
        expect(less(low, high)).toBe(agreement(pairs.map(([x, y]) => x < y)));
        expect(lessOrEqual(low, high)).toBe(agreement(pairs.map(([x, y]) => x <= y)));
        expect(equalQuantities(low, high)).toBe(agreement(pairs.map(([x, y]) => x === y)));
      }),
    );
  });

  it('is unknown where two currencies meet, zero included', () => {
    const [dollars, euros] = [money(0, 'USD'), money(5, 'EUR')];
    expect(equalQuantities(dollars, euros)).toBe(1);
    expect(less(dollars, euros)).toBe(1);
    expect(addQuantities(dollars, euros)).toBeUndefined();
    expect(divideQuantities(euros, money(1, 'USD'))).toBeUndefined();
    expect(minimum(money(0, null), dollars, euros)).toBeUndefined();
    expect(divideQuantities(euros, money(2, 'EUR'))).toEqual({ coefficient: 25n, exponent: -1 });
  });

  it('takes the sum of nothing in any currency', () => {
    expect(less(money(0, null), money(5, 'EUR'))).toBe(2);
    expect(addQuantities(money(0, null), money(5, 'EUR'))).toEqual(money(5, 'EUR'));
  });

  it('is unknown with what is absent or null', () => {
    for (const missing of [undefined, null]) {
      expect(equalQuantities(missing, 1)).toBe(1);
      expect(less(1, missing)).toBe(1);
      expect(addQuantities(missing, 1)).toBeUndefined();
      expect(maximum(1, missing)).toBeUndefined();
    }
  });
});

function money(amount: number, currency: string | null) {
  return { amount, currency };
}

function grid([low, high]: readonly [number, number]): number[] {
  return Array.from({ length: high - low + 1 }, (_, at) => low + at);
}

function ends(value: RuntimeQuantity): [RuntimeQuantity, RuntimeQuantity] {
  return typeof value === 'object' && 'low' in value ? [value.low, value.high] : [value, value];
}

function agreement(results: readonly boolean[]): number {
  return results.every(Boolean) ? 2 : results.some(Boolean) ? 1 : 0;
}
