// A rule beside another of the same effect that is true whenever it is: it never decides, adds no risk and asks for
// nothing more, so that somebody took it for something else, or forgot it when the other one was widened.

import { structureOf } from '../domains.ts';
import { implies, indexStatements } from '../implication.ts';
import { warning } from '../problem.ts';
import type { Checked, RuleInPolicy } from './warn.ts';

export function rulesImplied({ enforced, env }: Checked): void {
  for (const alike of rulesAlike(enforced)) {
    const following = indexStatements(alike);
    for (const one of alike) {
      if (one.rule.points !== 0) continue;
      const other = following(one.statement).find(
        (each) => each !== one && implies(one.statement, each.statement) && replaces(each, one),
      );
      if (other !== undefined) env.report(implied(one, other));
    }
  }
}

function implied(one: RuleInPolicy, other: RuleInPolicy): ReturnType<typeof warning> {
  const message = `\`${one.rule.name}\` adds nothing: \`${other.rule.id}\` is true whenever it is`;
  return warning('rule-implied', one.name, message, {
    help: 'remove it, or mend the condition by which the two should differ',
    related: [{ span: other.name, message: 'the wider rule' }],
  });
}

/** Rules of one effect that ask for the same and grant for as long. */
function rulesAlike(enforced: readonly RuleInPolicy[]): readonly (readonly RuleInPolicy[])[] {
  const groups = new Map<string, RuleInPolicy[]>();
  for (const one of enforced) {
    const { effect, requirement, validForSeconds } = one.rule;
    if (effect === 'risk') continue;
    const key = structureOf([effect, requirement, validForSeconds]);
    const group = groups.get(key) ?? [];
    groups.set(key, group);
    group.push(one);
  }
  return [...groups.values()];
}

/**
 * Of a rule that is true whenever the other is: whether it speaks of all its actions, is no copy of it, and decides
 * before it or for the same reason. Of two that are true of the same requests the later one is replaced.
 */
function replaces(other: RuleInPolicy, one: RuleInPolicy): boolean {
  if (!one.actions.every((key) => other.actions.includes(key)) || isCopy(other, one)) return false;
  if (other.rule.points > 0 || other.rule.id < one.rule.id) return true;
  return hasSameReason(other, one) && !isEqual(other, one);
}

function isEqual(other: RuleInPolicy, one: RuleInPolicy): boolean {
  return other.actions.length === one.actions.length && implies(other.statement, one.statement);
}

function isCopy(other: RuleInPolicy, one: RuleInPolicy): boolean {
  const [a, b] = [other, one].map(({ rule, actions }) => structureOf([rule.condition, rule.points, actions]));
  return a === b;
}

function hasSameReason(other: RuleInPolicy, one: RuleInPolicy): boolean {
  const { reason } = one.rule;
  return reason !== null && structureOf(reason) === structureOf(other.rule.reason);
}
