// Turns the program of a policy set into a matrix: the rules that can apply to each action, and the actions
// that nothing can allow. Conditions on the action itself are evaluated: a rule that they exclude from an
// action does not appear beside it.

import type { Effect } from '../../language/model/policy.ts';
import type { ActionProgram, PlannedRule, Program } from '../../language/program/program.ts';

export const effectOrder: readonly Effect[] = ['allow', 'escalate', 'reauth', 'deny', 'risk'];

export interface MatrixRow {
  readonly action: string;
  /** The rules that can apply to the action, sorted by id. */
  readonly rules: readonly MatrixRule[];
  /** Why nothing can allow the action; null when something can. */
  readonly closed: string | null;
}

export interface MatrixRule {
  /** The rule as `policy/rule`. */
  readonly id: string;
  readonly policy: string;
  readonly name: string;
  readonly effect: Effect;
  /** Whether the rule is true for every request for this action. */
  readonly isUnconditional: boolean;
  /** What an `allow` rule requires before it grants; null when it requires nothing. */
  readonly after: 'approval' | 'reauth' | null;
  readonly isShadow: boolean;
  /** The points that the rule adds to the risk. */
  readonly points: number;
}

/** A row for each action, sorted by key. */
export function matrixOf({ actions }: Program): readonly MatrixRow[] {
  return [...actions.values()].map(toRow);
}

function toRow({ action, rules: planned }: ActionProgram): MatrixRow {
  const rules = planned.filter(canMeet).map(toRule);
  return { action, rules, closed: whyClosed(rules) };
}

function canMeet({ condition }: PlannedRule): boolean {
  return condition.kind !== 'constant' || condition.truth !== 'false';
}

function toRule({ id, policy, effect, condition, requirement, isShadow, points }: PlannedRule): MatrixRule {
  return {
    id,
    policy,
    name: id.slice(policy.length + 1),
    effect,
    isUnconditional: condition.kind === 'constant' && condition.truth === 'true',
    after: effect === 'allow' ? (requirement?.kind ?? null) : null,
    isShadow,
    points,
  };
}

function whyClosed(rules: readonly MatrixRule[]): string | null {
  const enforced = rules.filter(({ isShadow }) => !isShadow);
  const denial = enforced.find(({ effect, isUnconditional }) => effect === 'deny' && isUnconditional);
  if (denial !== undefined) return `${denial.id} denies it without condition`;
  return enforced.some(({ effect }) => effect === 'allow') ? null : 'no rule allows it';
}
