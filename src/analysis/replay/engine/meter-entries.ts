// What a logged request adds to the candidate's meters, as far as its record tells.

import type { MeterUse } from '../../../language/model/metering.ts';
import type { ReplayCandidate } from './candidate.ts';
import type { LoggedRequest } from './log.ts';
import { hidesValues } from './withheld.ts';

/**
 * The entries that the request adds to meters. Null when its payload does not have the candidate's shape, or
 * hides values that meters may read.
 */
export function meterEntriesOf(
  candidate: ReplayCandidate,
  { facts, holdsDigests }: LoggedRequest,
): readonly MeterUse[] | null {
  if (holdsDigests) {
    const shape = candidate.shapeOf(facts.action);
    return shape !== null && hidesValues(shape, facts.payload) ? null : candidate.entriesRecorded(facts);
  }
  const entries = candidate.entries(facts);
  if (entries.length > 0 || candidate.counted(facts.action).length === 0) return entries;
  return candidate.entriesRecorded(facts);
}
