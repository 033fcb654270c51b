// Warns of a guard on actions that no `allow` grants: an `allow` is missing, or the guard is left over. Exempt is
// a `deny` of all requests with a reason of its own, which says why these actions are refused.

import { isGuard, isRefusalWithReason } from '../../../model/policy.ts';
import { warning } from '../../messages/problem.ts';
import type { RuleInPolicy } from '../engine/rule-in-policy.ts';
import type { ExaminedRule, GroupRule } from '../engine/rule-subjects.ts';

export function guardWithoutAllow({ env, rulesByAction: grouped }: ExaminedRule): GroupRule {
  return ({ actions, rules }) => {
    const isAllowed = grouped
      .overlapping(actions)
      .some((group) => group.rules.some(({ rule }) => rule.effect === 'allow'));
    if (!isAllowed) rules.filter(({ rule }) => isGuard(rule) && !isRefusalWithReason(rule)).forEach(report);
  };

  function report({ rule, name }: RuleInPolicy): void {
    const message = `no \`allow\` grants what \`${rule.name}\` guards`;
    env.report(
      warning('guard-without-allow', name, message, {
        help: 'all its requests are refused by default: add an `allow`, remove the guard, or refuse all of them with a reason: `deny people_only because "..."`',
      }),
    );
  }
}
