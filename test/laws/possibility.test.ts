// 100,000 requests of random agents to random sets.

import { expect, it } from 'vitest';
import { possibilityHolds } from './possibility.ts';

it('what is hidden never passes, and function and definition agree', { timeout: 240_000 }, () => {
  const { requests, said, passed, breaches } = possibilityHolds(100_000, 1);
  expect(breaches).toEqual([]);
  expect(requests).toBeGreaterThanOrEqual(100_000);
  expect(passed.never).toBe(0);
  for (const count of [...Object.values(said), passed.asks, passed.may]) expect(count).toBeGreaterThan(100);
});
