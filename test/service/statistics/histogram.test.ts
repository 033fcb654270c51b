// Quantiles from counts on a growing scale: off by less than 1/32, exact for small numbers.

import { expect, test } from 'vitest';
import { createRandom } from '../../../src/language/value/random.ts';
import {
  addPairs,
  addTo,
  createHistogram,
  histogramText,
  quantile,
} from '../../../src/service/statistics/histogram.ts';

test('a number is told as it was, or less than 1/32 off', () => {
  const random = createRandom(11);
  const numbers = [
    ...Array.from({ length: 40 }, (_, at) => at),
    ...Array.from({ length: 5_000 }, () => Math.floor(2 ** (random.below(36_000) / 1_000))),
    ...[2 ** 31 - 1, 2 ** 31, 2 ** 32 - 1, 2 ** 32, 2 ** 36 - 1],
  ];
  for (const number of numbers) {
    const histogram = createHistogram();
    addTo(histogram, number);
    const told = quantile(histogram, 0.5) ?? Number.NaN;
    expect([number, Math.abs(told - number) <= (number < 32 ? 0 : number / 32)]).toEqual([number, true]);
  }
});

test('quantiles are those of the sorted numbers, less than 1/32 off', () => {
  const random = createRandom(12);
  for (let round = 0; round < 50; round += 1) {
    const histogram = createHistogram();
    const numbers = Array.from({ length: 1 + random.below(300) }, () =>
      Math.floor(2 ** (random.below(200) / 10)),
    );
    for (const number of numbers) addTo(histogram, number);
    const sorted = numbers.toSorted((a, b) => a - b);
    for (const share of [0.01, 0.5, 0.9, 0.99, 1]) {
      const exact = sorted[Math.max(1, Math.ceil(sorted.length * share)) - 1] ?? Number.NaN;
      expect(Math.abs((quantile(histogram, share) ?? Number.NaN) - exact)).toBeLessThanOrEqual(exact / 32);
    }
    const copy = createHistogram();
    addPairs(copy, histogramText(histogram));
    expect(copy).toEqual(histogram);
  }
});

test('nothing has no quantile, and what is no time or too long harms nothing', () => {
  expect(quantile(createHistogram(), 0.5)).toBeNull();
  const histogram = createHistogram();
  for (const number of [-5, Number.NaN, 0.4, 2 ** 40, Number.POSITIVE_INFINITY]) addTo(histogram, number);
  expect(quantile(histogram, 0.5)).toBe(0);
  expect(quantile(histogram, 1)).toBeGreaterThan(2 ** 35);
});
