// Keeps findings about rules for the same actions until one of these rules is replaced. INVARIANT: rules that
// are the same have the same names and so the same order, in every set.

import type { Environment } from '../../incremental/environment.ts';
import type { CheckOutcome } from '../../incremental/recorder.ts';
import type { RuleInPolicy } from './rule-in-policy.ts';
import type { RuleGroup } from './rules-by-actions.ts';

/** The outcome of the examination, and the rules on which it rests. */
interface CachedFinding {
  readonly rules: readonly (readonly RuleInPolicy[])[];
  readonly outcome: CheckOutcome<void>;
}

/**
 * Keeps the findings for an action or a set of actions while the groups are the same; otherwise calls `make`
 * for new ones.
 */
export function memoizedForRules(
  env: Environment,
  part: object,
  groups: readonly RuleGroup<RuleInPolicy>[],
  make: () => void,
): void {
  const { groupFindings } = env.checkState;
  // The outcome kept for a part is always made by the same warning rules.
  const before = groupFindings.get(part) as CachedFinding | undefined;
  const isSame = before !== undefined && isSameRules(before.rules, groups);
  const outcome = env.recorder.memoize(isSame ? before.outcome : undefined, make);
  if (outcome !== before?.outcome)
    groupFindings.set(part, { rules: groups.map(({ rules }) => rules), outcome });
}

function isSameRules(
  before: readonly (readonly RuleInPolicy[])[],
  groups: readonly RuleGroup<RuleInPolicy>[],
): boolean {
  if (before.length !== groups.length) return false;
  return groups.every(({ rules }, index) => areSame(before[index]!, rules));
}

function areSame(a: readonly RuleInPolicy[], b: readonly RuleInPolicy[]): boolean {
  if (a === b) return true;
  if (a.length !== b.length) return false;
  for (let at = 0; at < a.length; at++) if (a[at] !== b[at]) return false;
  return true;
}
