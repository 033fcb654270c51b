// Turns the findings of a comparison into the form in which replay assigns the requests of a log to them.

import type { PolicySet } from '../../language/model/policy.ts';
import type { PolicyDiff } from '../../reasoning/diff/diff.ts';
import type { BothSides } from '../../reasoning/diff/joint-set.ts';
import type { AskedOfFinding, ReplayFinding } from './engine/tally.ts';
import { hidesValues } from './engine/withheld.ts';

export interface FiledUnder {
  readonly diff: PolicyDiff;
  /** The two sets that the findings compare. */
  readonly sides: BothSides<{ readonly set: PolicySet }>;
  /** When not null, only requests that the policy set with this digest decided are assigned. */
  readonly decidedBy?: string | null;
}

/** The id of a finding is its position, counted from 1. */
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

/** Whether a digest replaces a value that rules of either set may read. */
function isHidden({ before, after }: FiledUnder['sides'], asked: AskedOfFinding): boolean {
  if (!asked.holdsDigests) return false;
  const { action, payload } = asked.after;
  return [before, after].some(({ set }) => {
    const shape = set.actions.get(action)?.shape;
    return shape !== undefined && hidesValues(shape, payload);
  });
}
