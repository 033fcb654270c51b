// The bars of an agent's days: all on one scale, with their parts stacked.

import { expect, test } from 'vitest';
import { activityBars, type Day } from '../../src/dashboard/pages/agents/activity-bars.ts';

function day(counts: Partial<Day>): Day {
  return { at: '2026-03-02T00:00:00.000Z', allow: 0, deny: 0, escalate: 0, reauth: 0, refused: 0, ...counts };
}

test('nothing asked', () => {
  const { top, total, bars } = activityBars([day({}), day({})]);
  expect({ top, total, parts: bars.flatMap(({ parts }) => parts) }).toEqual({ top: 5, total: 0, parts: [] });
});

test('parts stand upon each other and end at the total', () => {
  const { top, total, bars } = activityBars([day({ allow: 40, deny: 10, refused: 30 }), day({ allow: 1 })]);
  expect([top, total]).toEqual([100, 81]);
  let end = 0;
  for (const { from, size } of bars[0]?.parts ?? []) {
    expect(from).toBeCloseTo(end);
    end = from + size;
  }
  expect(end).toBeCloseTo(0.8);
  expect(bars[1]?.parts).toEqual([{ outcome: 'allow', from: 0, size: 0.01 }]);
});

test.each([
  [5, 5],
  [6, 10],
  [11, 20],
  [50, 50],
  [51, 100],
  [1_234_567, 2_000_000],
])('the scale for %i reaches to %i', (count, top) => {
  expect(activityBars([day({ allow: count })]).top).toBe(top);
});
