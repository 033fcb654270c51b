// Compares what a decision asks of people with the approvals that count: how many people have approved for each
// requirement, and which requirements are left.

import type {
  ApprovalRequirement,
  Decision,
  ResolvedApprover,
  ResolvedFallback,
} from '../../../language/model/decision.ts';
import { type AssignablePerson, assignPeople } from './assign-people.ts';
import type { Vote } from './request-state.ts';

export interface GroupProgress {
  readonly group: string;
  /** Who may approve when it is not one group. */
  readonly any_of?: readonly ResolvedApprover[];
  /** Who may approve as well from a time on, in order; absent when nobody. */
  readonly fallbacks?: readonly AwaitedFallback[];
  readonly needs: number;
  readonly given: number;
}

export interface AwaitedFallback {
  /** When they are asked, if the request is still pending; RFC 3339 in UTC. */
  readonly asked_at: string;
  readonly any_of: readonly ResolvedApprover[];
}

type Votes = readonly (Pick<Vote, 'isApproved' | 'person' | 'group' | 'invalidReason'> &
  Partial<Pick<Vote, 'rules'>>)[];

interface ProgressSubject {
  readonly decision: Pick<Decision, 'requires'>;
  readonly votes: Votes;
  readonly record: { readonly createdAtMs: number };
}

/**
 * Returns the asked groups, with how many people each needs and has given. When all approvals are there and
 * the request still waits, what was approved has changed; each group is then asked again.
 */
export function groupProgressOf({
  decision: { requires },
  votes,
  record: { createdAtMs },
}: ProgressSubject): readonly GroupProgress[] {
  const approvals = requires?.approvals ?? [];
  const awaited = ({ afterSeconds, anyOf }: ResolvedFallback): AwaitedFallback => ({
    asked_at: new Date(createdAtMs + afterSeconds * 1000).toISOString(),
    any_of: anyOf,
  });
  const assignedGroups = [...assignPeople(approvals, votersOf(votes)).values()];
  const required = approvals.map(({ group, needs, anyOf, fallbacks }) => ({
    group,
    ...(anyOf && { any_of: anyOf }),
    ...(fallbacks && { fallbacks: fallbacks.map(awaited) }),
    needs,
    given: assignedGroups.filter((one) => one === group).length,
  }));
  const isWaiting = required.some(({ needs, given: count }) => count < needs);
  return isWaiting ? required : required.map((one) => ({ ...one, given: one.needs - 1 }));
}

/**
 * Returns those of the groups for which an approval by the person would bring the request further, although
 * each person counts for one group only.
 */
export function groupsOpenTo(
  person: string,
  groups: readonly string[],
  { requires, votes }: { readonly requires: Decision['requires']; readonly votes: Votes },
): readonly string[] {
  const approvals: readonly ApprovalRequirement[] = requires?.approvals ?? [];
  const others = votersOf(votes).filter((one) => one.person !== person);
  const { size } = assignPeople(approvals, others);
  const isMet = size === approvals.reduce((sum, { needs }) => sum + needs, 0);
  const pendingGroups = groups.filter((group) => approvals.some((one) => one.group === group));
  if (isMet) return pendingGroups;
  return pendingGroups.filter(
    (group) => assignPeople(approvals, [...others, { person, groups: [group] }]).size > size,
  );
}

/** Everybody who has approved, with the groups that their vote may count for. */
function votersOf(votes: Votes): readonly AssignablePerson[] {
  const counting = votes.filter(({ isApproved, invalidReason }) => isApproved && invalidReason === null);
  const people = Map.groupBy(counting, ({ person }) => person);
  return [...people].map(([person, own]) => ({ person, groups: [...new Set(own.flatMap(groupsOfVote))] }));
}

/** The groups that a vote may count for, the one that it was given for first. */
export function groupsOfVote({
  group,
  rules = [],
}: Pick<Vote, 'group'> & Partial<Pick<Vote, 'rules'>>): readonly string[] {
  return [...new Set([...(group === null ? [] : [group]), ...rules.map((rule) => rule.group)])];
}
