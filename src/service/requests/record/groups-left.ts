// What a decision asks of groups against the approvals that count: how many people each has given, and which groups are left.

import type { Decision } from '../../../language/model/decision.ts';
import type { Vote } from './request-state.ts';

export interface GroupAsked {
  readonly group: string;
  readonly needs: number;
  readonly given: number;
}

type Votes = readonly Pick<Vote, 'isApproved' | 'person' | 'group' | 'fellAway'>[];

/** The groups that are left of a decision that waits. Where all are there and it waits still, what was approved has changed: then each group is asked again. */
export function groupsAsked({ requires }: Pick<Decision, 'requires'>, votes: Votes): readonly GroupAsked[] {
  const asked = (requires?.approvals ?? []).map(({ group, needs }) => ({
    group,
    needs,
    given: Math.min(peopleOf(group, votes), needs),
  }));
  const isWaiting = asked.some(({ needs, given }) => given < needs);
  return isWaiting ? asked : asked.map((one) => ({ ...one, given: one.needs - 1 }));
}

/** The groups of which people have to approve yet. */
export function groupsLeft(decision: Pick<Decision, 'requires'>, votes: Votes): readonly string[] {
  return groupsAsked(decision, votes)
    .filter(({ needs, given }) => given < needs)
    .map(({ group }) => group);
}

function peopleOf(asked: string, votes: Votes): number {
  const counting = votes.filter((vote) => vote.isApproved && vote.group === asked && vote.fellAway === null);
  return new Set(counting.map(({ person }) => person)).size;
}
