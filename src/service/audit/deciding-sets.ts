// Finds the policy sets that a record names: those by which its request was decided, decided again, or taken.

import { decisionRecord } from '../requests/record/record.ts';
import type { DecidedDetail, TakenDetail } from '../requests/record/request-state.ts';
import type { ChainEntry } from '../store/contract/chain.ts';

/** Returns the digests of the sets; none for a record that no policies decided. */
export function decidingSets(entry: ChainEntry): readonly string[] {
  const { kind, what, record_json: record, detail_json: detail } = entry;
  if (kind === 'request') return [decisionRecord(String(record)).policySet.digest];
  if (kind !== 'event' || typeof detail !== 'string') return [];
  // Only the service writes details, so their form follows from the kind of event.
  if (what === 'decided') return [(JSON.parse(detail) as DecidedDetail).policySet.digest];
  return what === 'taken' ? [(JSON.parse(detail) as TakenDetail).call.policySet] : [];
}
