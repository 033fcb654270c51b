// Warns of a rule that never decides, because each of its requests is denied anyway: all its actions are
// denied without condition, or a `deny` follows from its condition, as in `escalate when x > 200` beside
// `deny when x > 100`.

import { warning } from '../../messages/problem.ts';
import { lazily } from '../engine/lazily.ts';
import type { RuleInPolicy } from '../engine/rule-in-policy.ts';
import type { ExaminedRule, GroupRule } from '../engine/rule-subjects.ts';
import { type RulesByActions, rulesByActions } from '../engine/rules-by-actions.ts';
import { indexStatements, rememberedIndex } from '../engine/statement-index.ts';

export function ruleNeverDecides(checked: ExaminedRule): GroupRule {
  const { env } = checked;
  const denials = lazily(() => checked.rules().filter(({ rule }) => rule.effect === 'deny'));
  const open = lazily(() => rulesByActions(denials().filter(isUnconditional)));
  const following = lazily(() =>
    indexStatements(
      denials().filter((one) => !isUnconditional(one)),
      rememberedIndex('denials', checked),
    ),
  );
  return ({ actions, rules }) => {
    const others = rules.filter(({ rule }) => rule.effect !== 'risk' && rule.effect !== 'deny');
    if (others.length === 0) return;
    const denial = firstDenial(actions, open());
    for (const one of others) {
      const before = denial ?? following()(one)[0];
      if (before !== undefined) env.report(neverDecides(one, before));
    }
  };
}

function neverDecides(one: RuleInPolicy, denial: RuleInPolicy): ReturnType<typeof warning> {
  const isAll = isUnconditional(denial);
  const requests = isAll ? 'all its actions' : 'every request that it is true of';
  const message = `\`${one.rule.name}\` never decides: \`${denial.rule.id}\` denies ${requests}`;
  return warning('rule-never-decides', one.name, message, {
    help: isAll
      ? 'remove one of the two, or give the `deny` a condition'
      : 'remove one of the two, or fix the bound by which they overlap',
    related: [{ span: denial.name, message: 'the denial' }],
  });
}

function isUnconditional({ rule }: RuleInPolicy): boolean {
  return rule.condition.kind === 'literal' && rule.condition.value === true;
}

/** Returns the first of the denials if together they cover all of the actions. */
function firstDenial(
  actions: readonly string[],
  denials: RulesByActions<RuleInPolicy>,
): RuleInPolicy | undefined {
  if (!actions.every((key) => denials.about(key).length > 0)) return undefined;
  const [first, ...others] = denials.overlapping(actions);
  const earliest = others.reduce((a, b) => (b.rules[0]!.policy < a!.rules[0]!.policy ? b : a), first);
  return earliest?.rules[0];
}
