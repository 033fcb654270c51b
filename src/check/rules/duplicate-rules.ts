// Two rules that say the same of the same actions: one of them was to say something else.

import { structureOf } from '../domains.ts';
import { warning } from '../problem.ts';
import type { Checked, RuleInPolicy } from './warn.ts';

export function duplicateRules({ enforced, env }: Checked): void {
  const first = new Map<string, RuleInPolicy>();
  for (const one of enforced) {
    const { effect, condition, requirement, points, validForSeconds } = one.rule;
    const key = structureOf([effect, condition, requirement, points, validForSeconds, one.actions]);
    const same = first.get(key);
    if (same === undefined) {
      first.set(key, one);
      continue;
    }
    env.report(
      warning('rule-duplicated', one.name, `\`${one.rule.name}\` says the same as \`${same.rule.id}\``, {
        help: 'remove one of them',
        related: [{ span: same.name, message: 'the other one' }],
      }),
    );
  }
}
