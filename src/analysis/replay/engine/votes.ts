// Takes people's votes from the log, as far as they answer what the candidate asks. INVARIANT: a vote counts
// only for a group that the candidate asks when the vote is given, and only while the candidate's wait lasts.

import type { ApprovalRule, AskedRule } from '../../../language/model/asked.ts';
import type { Decision } from '../../../language/model/decision.ts';
import { type Course, isApproval, isApproved, type KeptVote, latestOf } from './course.ts';

export interface GivenApproval {
  readonly person: string;
  readonly email: string;
  readonly isOwner: boolean;
  readonly group: string;
}

/**
 * Enters an approval. Returns whether everything the candidate asks of the group is now there. `firing` are
 * the rules that would take part now; `isDecided` tells whether this vote made the service decide again in
 * the log.
 */
export function enterApproval(
  course: Course,
  given: GivenApproval,
  { firing, asks, isDecided }: { firing: readonly AskedRule[]; asks: Asks; isDecided: boolean },
): boolean {
  const rules = rulesAsking(course, firing, asks).filter(({ groups }) => groups.includes(given.group));
  if (rules.length === 0) return false;
  const vote: KeptVote = { ...given, rules: rules.map(({ rule }) => rule) };
  course.votes = [...course.votes, vote];
  if (!rules.every((rule) => isApproved(rule, course))) return false;
  // If the log asked for no more people and still went on waiting, some vote had lost its person or its rule.
  const needs = Math.max(...rules.map((rule) => rule.needs));
  return isDecided || needs < (needsOf(latestOf(course.log), given.group) ?? 0);
}

export type Asks = ReadonlyMap<string, AskedRule>;

/** The rules that take part in a decision and ask for approval or a step-up. */
export function askedByRules({ rules }: Decision, asks: Asks): readonly AskedRule[] {
  const asked: AskedRule[] = [];
  for (const id of rules) {
    const rule = asks.get(id);
    if (rule !== undefined) asked.push(rule);
  }
  return asked;
}

/** The approval rules by which the latest decision asks, and those by which a decision would ask now. */
function rulesAsking(course: Course, firing: readonly AskedRule[], asks: Asks): readonly ApprovalRule[] {
  const latest = askedByRules(latestOf(course), asks);
  return [...latest, ...firing.filter((rule) => !latest.includes(rule))].filter(isApproval);
}

export function needsOf({ requires }: Decision, group: string): number | null {
  return requires?.approvals.find((one) => one.group === group)?.needs ?? null;
}
