// Proves that a mutant decides every request like the original, so that no expected decision tells the two
// apart. INVARIANT: only rules that tests see by their decision alone are compared: no shadow rules, and none
// with risk points.

import type { PolicySet, Rule } from '../../language/model/policy.ts';
import { diffPolicies } from '../../reasoning/diff/diff.ts';

/** Whether it is proved that the two sets, which differ in one rule, decide every request alike. */
export function isDecidedAlike(before: PolicySet, after: PolicySet, rule: string): boolean {
  const changed = [ruleOf(before, rule), ruleOf(after, rule)];
  if (changed.every((one) => one === null) || changed.some((one) => one !== null && isSeenOtherwise(one)))
    return false;
  const { findings, limits } = diffPolicies(before, after, { findingsMax: 1 });
  return findings.length === 0 && limits.length === 0;
}

function ruleOf({ policies }: PolicySet, id: string): Rule | null {
  return policies.flatMap(({ rules }) => rules).find((rule) => rule.id === id) ?? null;
}

function isSeenOtherwise({ isShadow, points }: Rule): boolean {
  return isShadow || points !== 0;
}
