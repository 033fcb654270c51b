// Findings about rules that speak of the same actions are made again only where one of these rules is another one.
// INVARIANT: rules that are the same have the same names and so the same order, in every set.

import type { Environment } from '../../incremental/environment.ts';
import type { CheckOutcome } from '../../incremental/recorder.ts';
import type { RuleInPolicy } from './rule-in-policy.ts';
import type { RuleGroup } from './rules-by-actions.ts';

/** What came of the findings, and the rules on which they rest. */
interface Beside {
  readonly rules: readonly (readonly RuleInPolicy[])[];
  readonly outcome: CheckOutcome<void>;
}

/** The previous findings for this action or set of actions where the groups around are the same, else new ones. */
export function keptBeside(
  env: Environment,
  part: object,
  groups: readonly RuleGroup<RuleInPolicy>[],
  make: () => void,
): void {
  const { beside } = env.checkState;
  // What is kept of a part is always made by the same rule.
  const before = beside.get(part) as Beside | undefined;
  const isSame = before !== undefined && isSameRules(before.rules, groups);
  const outcome = env.recorder.keep(isSame ? before.outcome : undefined, make);
  if (outcome !== before?.outcome) beside.set(part, { rules: groups.map(({ rules }) => rules), outcome });
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
