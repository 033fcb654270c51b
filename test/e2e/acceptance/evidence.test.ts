// The packs on every recorded call of real agents, and what the README says of it.

import { readFileSync } from 'node:fs';
import { expect, it } from 'vitest';
import {
  attacksSentence,
  evidenceTable,
  gatherEvidence,
  isGood,
  recordedCalls,
} from '../../../bench/evidence.ts';

it('permits the work of users and stops attackers, as the page says', async () => {
  const evidence = await gatherEvidence(recordedCalls, 'policies');
  console.log(`${evidenceTable(evidence)}\n${attacksSentence(evidence)}`);
  expect(evidence.userCalls.filter(({ decision }) => decision === 'DENY')).toEqual([]);
  expect(evidence.attacksPassed).toEqual([]);
  expect(isGood(evidence)).toBe(true);
  const page = readFileSync('docs/EVIDENCE.md', 'utf8');
  expect(page).toContain(`\n${evidenceTable(evidence)}\n`);
  expect(page).toContain(`\n${attacksSentence(evidence)}.`);
});
