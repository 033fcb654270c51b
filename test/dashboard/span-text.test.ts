// Spans of time in words for people.

import { expect, test } from 'vitest';
import { agoText, spanText } from '../../src/dashboard/parts/layout/span-text.ts';

const second = 1_000;
const minute = 60 * second;
const hour = 60 * minute;
const day = 24 * hour;

test.each([
  [90 * day - 1, '90 d'],
  [89 * day + 11 * hour, '89 d'],
  [9 * day + 23.6 * hour, '10 d'],
  [day - 1, '1 d'],
  [day, '1 d'],
  [day + 5 * hour, '1 d 5 h'],
  [2 * hour - 1, '2 h'],
  [hour + 59 * minute, '1 h 59 min'],
  [10.4 * hour, '10 h'],
  [5 * minute + 3 * second, '5 min 3 s'],
  [minute - 1, '1 min'],
  [42.4 * second, '42 s'],
  [400, '0 s'],
  [0, '0 s'],
])('%d ms: %s', (ms, text) => {
  expect(spanText(ms)).toBe(text);
});

test.each([
  [-4_999, 'just now'],
  [-42 * second, '42 s ago'],
  [-(minute + 16 * second), '1 min ago'],
  [-(5 * minute + 52 * second), '6 min ago'],
  [-(2 * hour + 5 * minute), '2 h 5 min ago'],
  [minute + 31 * second, 'in 2 min'],
])('%d ms from now: %s', (ms, text) => {
  expect(agoText(ms)).toBe(text);
});

test('are within half of what is shown last', () => {
  const sizes = { d: day, h: hour, min: minute, s: second } as const;
  const smaller = { d: hour, h: minute, min: second, s: second } as const;
  for (let ms = 1; ms < 400 * day; ms = Math.ceil(ms * 1.013)) {
    const parts = [...spanText(ms).matchAll(/(\d+) (d|h|min|s)/g)];
    const [first, last] = [parts[0], parts.at(-1)];
    const unit = last?.[2] as keyof typeof sizes;
    const total = parts.reduce(
      (sum, [, count, one]) => sum + Number(count) * sizes[one as keyof typeof sizes],
      0,
    );
    // "2 h" is exact, so its minutes are known to be zero.
    const isCoarse = parts.length === 2 || Number(first?.[1]) >= 10;
    const step = isCoarse ? sizes[unit] : smaller[unit];
    expect([ms, Math.abs(total - ms) <= step / 2]).toEqual([ms, true]);
  }
});
