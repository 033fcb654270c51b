// Warns of a rule when another rule of the same effect is true whenever it is. The rule never decides, adds
// no risk and requires nothing more: its author mistook it for something else, or forgot it when the other
// rule was widened.

import { implies } from '../../logic/implication.ts';
import { structureOf } from '../../logic/structure.ts';
import { warning } from '../../messages/problem.ts';
import { lazily } from '../engine/lazily.ts';
import type { RuleInPolicy } from '../engine/rule-in-policy.ts';
import type { ExaminedRule, GroupRule } from '../engine/rule-subjects.ts';
import { type FindConsequences, indexStatements, rememberedIndex } from '../engine/statement-index.ts';

export function ruleImplied(checked: ExaminedRule): GroupRule {
  const { env } = checked;
  const alike = lazily(() => Map.groupBy(checked.rules().filter(isNoPoints), ({ asks }) => asks));
  const indices = new Map<string, FindConsequences<RuleInPolicy>>();
  const following = (one: RuleInPolicy): readonly RuleInPolicy[] => {
    const index =
      indices.get(one.asks) ??
      indexStatements(alike().get(one.asks) ?? [], rememberedIndex(`alike ${one.asks}`, checked));
    indices.set(one.asks, index);
    return index(one);
  };
  return ({ rules }) => {
    for (const one of rules) {
      if (one.rule.effect === 'risk' || one.rule.points !== 0) continue;
      const other = following(one).find((each) => replaces(each, one));
      if (other !== undefined) env.report(implied(one, other));
    }
  };
}

/** Whether the rule has another effect than `risk`: `risk` rules exist for their points. */
function isNoPoints({ rule }: RuleInPolicy): boolean {
  return rule.effect !== 'risk';
}

function implied(one: RuleInPolicy, other: RuleInPolicy): ReturnType<typeof warning> {
  const message = `\`${one.rule.name}\` adds nothing: \`${other.rule.id}\` is true whenever it is`;
  return warning('rule-implied', one.name, message, {
    help: 'remove it, or fix the condition by which the two should differ',
    related: [{ span: other.name, message: 'the wider rule' }],
  });
}

/**
 * Whether `other`, which is true whenever `one` is, makes `one` superfluous: it is no copy, and decides
 * before `one` or for the same reason. Of two rules that are true for the same requests the later one is
 * superfluous.
 */
function replaces(other: RuleInPolicy, one: RuleInPolicy): boolean {
  if (isCopy(other, one)) return false;
  if (other.rule.points > 0 || other.rule.id < one.rule.id) return true;
  return hasSameReason(other, one) && !isEqual(other, one);
}

function isEqual(other: RuleInPolicy, one: RuleInPolicy): boolean {
  return other.actions.length === one.actions.length && implies(other.statement, one.statement);
}

function isCopy(other: RuleInPolicy, one: RuleInPolicy): boolean {
  if (other.hash !== one.hash || other.actions !== one.actions) return false;
  if (other.rule.points !== one.rule.points) return false;
  return structureOf(other.rule.condition) === structureOf(one.rule.condition);
}

function hasSameReason(other: RuleInPolicy, one: RuleInPolicy): boolean {
  const { reason } = one.rule;
  return reason !== null && structureOf(reason) === structureOf(other.rule.reason);
}
