// A rule never decides anything where each of its requests is denied anyway: by denials without condition of all its
// actions, or by one whose condition follows from its own, as in `escalate when x > 200` beside `deny when x > 100`.

import { implies, indexStatements } from '../implication.ts';
import { warning } from '../problem.ts';
import type { Checked, RuleInPolicy } from './warn.ts';

export function rulesNeverDeciding({ enforced, env }: Checked): void {
  const denials = enforced.filter(({ rule }) => rule.effect === 'deny');
  const open = denials.filter(isUnconditional);
  const following = indexStatements(denials.filter((one) => !isUnconditional(one)));
  for (const one of enforced) {
    if (one.rule.effect === 'risk' || one.rule.effect === 'deny') continue;
    const denial = deniedBy(one, open) ?? deniedUnder(one, following(one.statement));
    if (denial === undefined) continue;
    const isAll = isUnconditional(denial);
    const what = isAll ? 'all its actions' : 'every request that it is true of';
    const message = `\`${one.rule.name}\` never decides: \`${denial.rule.id}\` denies ${what}`;
    env.report(
      warning('rule-never-decides', one.name, message, {
        help: isAll
          ? 'remove one of the two, or give the `deny` a condition'
          : 'remove one of the two, or mend the bound by which they overlap',
        related: [{ span: denial.name, message: 'the denial' }],
      }),
    );
  }
}

function isUnconditional({ rule }: RuleInPolicy): boolean {
  return rule.condition.kind === 'literal';
}

/** One of the denials that leave none of the rule's actions. */
function deniedBy(one: RuleInPolicy, denials: readonly RuleInPolicy[]): RuleInPolicy | undefined {
  const denied = new Set(denials.flatMap(({ actions }) => actions));
  if (!one.actions.every((key) => denied.has(key))) return undefined;
  return denials.find(({ actions }) => actions.some((key) => one.actions.includes(key)));
}

/** A denial of the rule's actions whose condition follows from the rule's. */
function deniedUnder(one: RuleInPolicy, denials: readonly RuleInPolicy[]): RuleInPolicy | undefined {
  return denials.find(
    ({ actions, statement }) =>
      implies(one.statement, statement) && one.actions.every((key) => actions.includes(key)),
  );
}
