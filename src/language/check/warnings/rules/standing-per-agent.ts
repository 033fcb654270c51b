// Warns of a standing approval that is keyed by nothing but the agent: one approval then serves every later
// request of the agent for which the rule asks.

import { warning } from '../../messages/problem.ts';
import type { ConditionScope } from '../engine/rule-subjects.ts';

export function standingPerAgent({ enforced, env }: ConditionScope): void {
  for (const { rule, name } of enforced) {
    if (rule.requirement?.kind !== 'approval' || rule.requirement.standing?.per.length !== 0) continue;
    env.report(
      warning(
        'standing-per-agent',
        name,
        `one approval of \`${rule.name}\` serves all requests of an agent`,
        {
          help: 'write `standing per` and what a person approves, such as `session` or a payload field',
        },
      ),
    );
  }
}
