// The statistics of measurements, compared with plain definitions.

import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import {
  count,
  duration,
  figureOf,
  growthExponent,
  percentile,
  percentilesOf,
  ratioOf,
  size,
  times,
} from '../../src/measure/figure.ts';

const values = fc.array(fc.double({ min: 0, max: 1e9, noNaN: true }), { minLength: 1, maxLength: 300 });

describe('percentile', () => {
  it('is the smallest value that enough of the others do not exceed', () => {
    fc.assert(
      fc.property(values, fc.double({ min: 0, max: 1, noNaN: true }), (all, share) => {
        const sorted = all.toSorted((a, b) => a - b);
        const notAbove = (value: number): number => all.filter((one) => one <= value).length;
        const expected = sorted.find((value) => notAbove(value) >= share * all.length);
        expect(percentile(sorted, share)).toBe(expected);
      }),
    );
  });

  it('is told for any order', () => {
    expect(percentilesOf([5, 1, 4, 2, 3])).toEqual({ p50: 3, p90: 5, p99: 5, max: 5 });
    expect(percentilesOf(Array.from({ length: 1_000 }, (_, at) => 1_000 - at))).toEqual({
      p50: 500,
      p90: 900,
      p99: 990,
      max: 1_000,
    });
    expect(percentilesOf([7])).toEqual({ p50: 7, p90: 7, p99: 7, max: 7 });
  });
});

describe('figures', () => {
  it('hold the median of the rounds between the smallest and the largest', () => {
    expect(figureOf([3, 1, 2])).toEqual({ median: 2, min: 1, max: 3 });
    expect(figureOf([4])).toEqual({ median: 4, min: 4, max: 4 });
  });

  it('compare round with round', () => {
    expect(ratioOf([2, 40, 6], [1, 10, 2])).toEqual({ median: 3, min: 2, max: 4 });
  });
});

describe('growthExponent', () => {
  it('finds the exponent that a power was drawn with', () => {
    fc.assert(
      fc.property(
        fc.double({ min: -3, max: 3, noNaN: true }),
        fc.double({ min: 0.01, max: 1_000, noNaN: true }),
        (exponent, factor) => {
          const points = [1, 2, 4, 8, 16].map((x) => [x, factor * x ** exponent] as const);
          expect(growthExponent(points)).toBeCloseTo(exponent, 6);
        },
      ),
    );
  });

  it('lies between those of the parts where growth changes', () => {
    const points = [1, 10, 100, 1_000].map((x) => [x, x + x * x] as const);
    expect(growthExponent(points)).toBeGreaterThan(1);
    expect(growthExponent(points)).toBeLessThan(2);
  });
});

describe('numbers for people', () => {
  it('have a unit and two or three digits', () => {
    expect([0, 85.4, 1_234, 56_000, 3.4e6, 1.2e9, 6.5e10].map(duration)).toEqual([
      '0 ns',
      '85 ns',
      '1.2 µs',
      '56 µs',
      '3.4 ms',
      '1.2 s',
      '65 s',
    ]);
    expect([840, 3_100, 12_400_000].map(size)).toEqual(['840 bytes', '3.1 kB', '12 MB']);
    expect([3_400, 1.24e6].map(count)).toEqual(['3,400', '1.2 million']);
    expect([0.974, 14.2, 1_522].map(times)).toEqual(['0.97x', '14x', '1,522x']);
  });
});
