// A rule whose actions are all denied without condition never decides anything.

import { warning } from '../problem.ts';
import type { Checked, RuleInPolicy } from './warn.ts';

export function rulesNeverDeciding({ enforced, env }: Checked): void {
  const denials = enforced.filter(({ rule }) => rule.effect === 'deny' && rule.condition.kind === 'literal');
  for (const one of enforced) {
    if (one.rule.effect === 'risk' || one.rule.effect === 'deny') continue;
    const denial = deniedBy(one, denials);
    if (denial === undefined) continue;
    const message = `\`${one.rule.name}\` never decides: \`${denial.rule.id}\` denies all its actions`;
    env.report(
      warning('rule-never-decides', one.name, message, {
        help: 'remove one of the two, or give the `deny` a condition',
        related: [{ span: denial.name, message: 'the denial' }],
      }),
    );
  }
}

/** One of the denials that leave none of the rule's actions. */
function deniedBy(one: RuleInPolicy, denials: readonly RuleInPolicy[]): RuleInPolicy | undefined {
  const denied = new Set(denials.flatMap(({ actions }) => actions));
  if (!one.actions.every((key) => denied.has(key))) return undefined;
  return denials.find(({ actions }) => actions.some((key) => one.actions.includes(key)));
}
