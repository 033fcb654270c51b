// Compares what a decision asks of groups with the approvals that count: how many people of each group have
// approved, and which groups are left.

import type { Decision } from '../../../language/model/decision.ts';
import type { Vote } from './request-state.ts';

export interface GroupProgress {
  readonly group: string;
  readonly needs: number;
  readonly given: number;
}

type Votes = readonly Pick<Vote, 'isApproved' | 'person' | 'group' | 'invalidReason'>[];

/**
 * Returns the asked groups, with how many people each needs and has given. When all approvals are there and
 * the request still waits, what was approved has changed; each group is then asked again.
 */
export function groupsAsked(
  { requires }: Pick<Decision, 'requires'>,
  votes: Votes,
): readonly GroupProgress[] {
  const groups = (requires?.approvals ?? []).map(({ group, needs }) => ({
    group,
    needs,
    given: Math.min(peopleOf(group, votes), needs),
  }));
  const isWaiting = groups.some(({ needs, given }) => given < needs);
  return isWaiting ? groups : groups.map((one) => ({ ...one, given: one.needs - 1 }));
}

/** Returns the groups that still have to approve. */
export function groupsLeft(decision: Pick<Decision, 'requires'>, votes: Votes): readonly string[] {
  return groupsAsked(decision, votes)
    .filter(({ needs, given }) => given < needs)
    .map(({ group }) => group);
}

function peopleOf(group: string, votes: Votes): number {
  const counting = votes.filter(
    (vote) => vote.isApproved && vote.group === group && vote.invalidReason === null,
  );
  return new Set(counting.map(({ person }) => person)).size;
}
