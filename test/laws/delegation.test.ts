// Random chains over random sets. WRIT_DELEGATIONS sets their number; `npm run delegations` tries 100,000.

import { expect, it } from 'vitest';
import { tries } from '../support/tries.ts';
import { delegationNeverLoosens } from './delegation.ts';

const wanted = Number(process.env.WRIT_DELEGATIONS ?? tries(150));

it('a chain is never milder than the policies, and decides as defined', {
  timeout: 60_000 + wanted * 300,
}, () => {
  const { compared, stricter, byLink, conditions, longest, breaches } = delegationNeverLoosens(wanted, 1);
  expect(breaches).toEqual([]);
  expect(compared).toBeGreaterThanOrEqual(wanted * 4);
  for (const count of [stricter, byLink, conditions, longest]) expect(count).toBeGreaterThan(wanted / 20);
});
