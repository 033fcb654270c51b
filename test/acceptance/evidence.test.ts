// The packs on every recorded call of real agents, if the recordings are present.

import { existsSync } from 'node:fs';
import { expect, it } from 'vitest';
import { gatherEvidence, isGood } from '../../bench/evidence.ts';

const data = '../shared/data';

it.runIf(existsSync(data))('lets users work and stops attackers', async () => {
  const evidence = await gatherEvidence(data, 'policies');
  expect(evidence.userCalls.filter(({ decision }) => decision === 'DENY')).toEqual([]);
  expect(evidence.attacksPassed).toEqual([]);
  expect(isGood(evidence)).toBe(true);
});
