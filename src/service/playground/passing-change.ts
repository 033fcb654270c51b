// A record of a refusal into the smallest change of its payload under which the policies at hand grant it. INVARIANT: the change is
// of the payload alone, which is what an agent chooses, and the definition has confirmed it.

import { changesOf } from './decide.ts';
import { factsOfRecord, type RecordedRequest } from './recorded.ts';
import type { LaidOver } from './workspace.ts';

/** More than the first, which may be one that an agent has no part in. */
const looked = 12;

/** Such as `payload.amount <= 1000 USD`; null where there is none. */
export function passingChange({ policies }: LaidOver, record: RecordedRequest): string | null {
  if (policies === null) throw new Error('the active policies compile');
  const found = changesOf(policies, factsOfRecord(record), { isRecorded: true, changesMax: looked });
  const passing = found.find(
    ({ outcome, parts }) => outcome === 'ALLOW' && parts.every(({ of }) => of === 'payload'),
  );
  return passing === undefined ? null : passing.parts.map(({ text }) => text).join(' and ');
}
