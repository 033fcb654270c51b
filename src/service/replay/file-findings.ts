// The findings of a comparison, as replay files the requests of a log under them.

import type { PolicySet } from '../../language/model/policy.ts';
import type { PolicyDiff } from '../../reasoning/diff/diff.ts';
import type { BothSides } from '../../reasoning/diff/joint-set.ts';
import type { AskedOfFinding, ReplayFinding } from '../../reasoning/replay/tally.ts';
import { hidesValues } from '../../reasoning/replay/withheld.ts';

export interface FiledUnder {
  readonly diff: PolicyDiff;
  /** Of which the findings are. */
  readonly sides: BothSides<{ readonly set: PolicySet }>;
  /** Only requests that this policy set decided are filed, where it is not null. */
  readonly decidedBy?: string | null;
}

/** Named by their place, from 1. */
export function replayFindings({ diff, sides, decidedBy = null }: FiledUnder): readonly ReplayFinding[] {
  return diff.findings.map(({ difference, actions, isMetBy }, at) => ({
    id: String(at + 1),
    isOfTime: difference === 'time',
    matches: (asked) => {
      if (decidedBy !== null && asked.policies !== decidedBy) return false;
      if (!actions.includes(asked.after.action)) return false;
      return isHidden(sides, asked) ? null : isMetBy(asked);
    },
  }));
}

/** Whether a digest stands where rules of either set may read the value. */
function isHidden({ before, after }: FiledUnder['sides'], asked: AskedOfFinding): boolean {
  if (!asked.holdsDigests) return false;
  const { action, payload } = asked.after;
  return [before, after].some(({ set }) => {
    const shape = set.actions.get(action)?.shape;
    return shape !== undefined && hidesValues(shape, payload);
  });
}
