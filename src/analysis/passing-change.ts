// Turns a record of a refusal into the smallest change of its payload that makes the active policies grant
// the request. INVARIANT: the change is of the payload alone, which the agent chooses, and the definition has
// confirmed it.

import { smallestChangesOf } from './decide-with-trace.ts';
import { underChain } from './policies-under-chain.ts';
import { factsOfRecord, type RecordedRequest } from './records/recorded-request.ts';
import type { EditedPolicies } from './workspace.ts';

/** Changes that are considered: the smallest may change something that the agent cannot choose. */
const looked = 12;

/** Returns a text such as `payload.amount <= 1000 USD`; null when there is no such change. */
export function passingChange(
  { policies: active, sourceOf }: EditedPolicies,
  record: RecordedRequest,
): string | null {
  if (active === null) throw new Error('the active policies do not compile');
  const { policies } = underChain({ policies: active, sourceOf }, record.chain);
  const changes = smallestChangesOf(policies, factsOfRecord(record), {
    isRecorded: true,
    changesMax: looked,
  });
  const passing = changes.find(
    ({ outcome, parts }) => outcome === 'ALLOW' && parts.every(({ of }) => of === 'payload'),
  );
  return passing === undefined ? null : passing.parts.map(({ text }) => text).join(' and ');
}
