// The findings of a comparison, as replay files the requests of a log under them.

import type { PolicyDiff } from '../../reasoning/diff/diff.ts';
import type { ReplayFinding } from '../../reasoning/replay/tally.ts';

/** Named by their place, from 1; `decidedBy`: only requests that this policy set decided are filed. */
export function replayFindings(
  { findings }: PolicyDiff,
  decidedBy: string | null = null,
): readonly ReplayFinding[] {
  return findings.map(({ difference, isMetBy }, at) => ({
    id: String(at + 1),
    isOfTime: difference === 'time',
    matches: (asked) => (decidedBy === null || asked.policies === decidedBy) && isMetBy(asked),
  }));
}
