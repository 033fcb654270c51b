// Random changes of small sets, judged as proposals.

import { expect, it } from 'vitest';
import { classificationsHold } from './proposals.ts';

it('a proposal that is said to narrow lets nothing more pass', { timeout: 120_000 }, async () => {
  const { counts, requests, byChat, breaches, careful } = await classificationsHold(80, 1);
  expect(breaches).toEqual([]);
  for (const kind of ['no-change', 'narrows', 'widens-within-guarantees', 'breaks-guarantee'] as const)
    expect(counts[kind]).toBeGreaterThan(2);
  expect(requests).toBeGreaterThan(5_000);
  expect(byChat).toBeGreaterThan(0);
  // Widening is said where it is, too: hardly a pair is called wider than every request shows.
  expect(careful.length).toBeLessThan(4);
});
