import { expect, it } from 'vitest';
import { standingIsExact } from './standing.ts';
import { reasons } from './standing-model.ts';

it('a standing approval serves what the model says, and nothing else', { timeout: 240_000 }, async () => {
  const run = await standingIsExact(40, 1);
  expect(run.differences).toEqual([]);
  expect(run.compared).toBeGreaterThan(1_500);
  expect(run.granted).toBeGreaterThan(60);
  expect(reasons.filter((reason) => (run.reasons.get(reason) ?? 0) < 10)).toEqual([]);
  const sights = ['holds', 'two approvals', 'granted at once', 'revoked', 'taken back', 'conflict'];
  expect(sights.filter((sight) => (run.seen.get(sight) ?? 0) < 5)).toEqual([]);
});
