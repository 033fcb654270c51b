// Warns of two rules of equal content about the same actions: one of them was probably meant to differ.

import { structureOf } from '../../logic/structure.ts';
import { warning } from '../../messages/problem.ts';
import type { RuleInPolicy } from '../engine/rule-in-policy.ts';
import type { ExaminedRule, GroupRule } from '../engine/rule-subjects.ts';

export function ruleDuplicated({ env }: ExaminedRule): GroupRule {
  return ({ rules }) => {
    const first = new Map<number, RuleInPolicy[]>();
    for (const one of rules) {
      const alike = first.get(one.hash);
      if (alike === undefined) {
        first.set(one.hash, [one]);
        continue;
      }
      const text = textOf(one);
      const same = alike.find((each) => textOf(each) === text);
      if (same === undefined) alike.push(one);
      else env.report(duplicated(one, same));
    }
  };
}

function textOf({ rule }: RuleInPolicy): string {
  const { effect, condition, requirement, points, validForSeconds } = rule;
  return structureOf([effect, condition, requirement, points, validForSeconds]);
}

function duplicated(one: RuleInPolicy, same: RuleInPolicy): ReturnType<typeof warning> {
  const message = `\`${one.rule.name}\` says the same as \`${same.rule.id}\``;
  return warning('rule-duplicated', one.name, message, {
    help: 'remove one of them',
    related: [{ span: same.name, message: 'the other one' }],
  });
}
