// Effective votes: which votes count now, given the current people, policies and agent. INVARIANT: an approval
// counts only if the voter is active, an approver and in the group at the moment it is counted, and the rule is
// unchanged since the approval. A stand-in's approval counts only while the stand-in does, and while the person in whose
// place it was given has none that counts.

import type { ActivePolicies } from '../../../language/model/active-policies.ts';
import type { ApprovalRequirement } from '../../../language/model/decision.ts';
import type { RuleRequirement } from '../../../language/model/rule-requirement.ts';
import { isControlOwner } from '../../agents/agent-facts.ts';
import { controlOwnerGroup } from '../../store/contract/control-owner-group.ts';
import type { AgentRow } from '../../store/contract/records.ts';
import type { Store } from '../../store/contract/store.ts';
import { groupsOfVote } from '../record/group-progress.ts';
import { type RequestState, revokedText, type Vote } from '../record/request-state.ts';
import {
  type ApprovalScope,
  answers,
  earlierVote,
  isFor,
  requestDigest,
  type VoterRights,
} from '../record/vote-scope.ts';
import { votesJudgedBy } from './chat-votes.ts';
import type { CurrentPerson, FindPeople } from './current-person.ts';
import { approvalsOf } from './rights.ts';

export interface VoteContext {
  readonly people: ReadonlyMap<string, CurrentPerson>;
  readonly agent: AgentRow;
  readonly asks: ReadonlyMap<string, RuleRequirement>;
  /** Whether the policies of now allow that the request is decided by chat. */
  readonly isByChat: (state: RequestState) => boolean;
}

/** Ids of all people whose votes or step-ups the request rests on. */
export function voters({ votes, stepUps }: RequestState): readonly string[] {
  return [...new Set([...votes, ...stepUps].map(({ person }) => person))];
}

/**
 * Returns the request with approvals that no longer count marked, and step-ups that no longer count left out.
 */
export function withEffectiveVotes(state: RequestState, now: VoteContext): RequestState {
  const judged = state.votes.map((vote) => ({
    ...vote,
    invalidReason: invalidReasonOf(vote, state, now),
    voterRights: rightsOf(vote, now),
  }));
  const counting = countingApprovals({ votes: judged });
  const votes = judged.map((vote) => {
    if (!counting.includes(vote) || earlierVote(vote, counting) === null) return vote;
    return { ...vote, invalidReason: `stands in for ${vote.standsInFor?.email}, whose approval counts` };
  });
  const stepUps = state.stepUps.filter(
    (one) =>
      now.people.get(one.person)?.isActive === true &&
      isControlOwner({ id: one.person, email: one.email }, now.agent.controlOwner),
  );
  return { ...state, votes, stepUps };
}

/** Why an approval no longer counts, as words that follow its giver's name; null when it counts. */
function invalidReasonOf(vote: Vote, state: RequestState, now: VoteContext): string | null {
  const { people, agent, asks, isByChat } = now;
  if (!vote.isApproved) return null;
  if (vote.takenBackAtMs !== null) return revokedText;
  const person = people.get(vote.person);
  if (person?.isActive !== true) return 'is disabled';
  const lost = vote.standsInFor === undefined ? lostRight(vote, state, now) : lostStandIn(vote, state, now);
  if (lost !== null) return lost;
  if (vote.chat !== undefined && !isByChat(state))
    return 'approved by chat, which the policies no longer allow';
  if (!isScopeAsItWas(vote, state, asks)) return 'approved before the rule changed';
  if (isOwnerOfShared(vote, { agent, asks })) return 'is the control owner now, and the rule needs others';
  return lastApproval(state, vote.person) === vote ? null : 'has approved again';
}

/** Why the giver of an approval may no longer give it for themselves; null when they may. */
function lostRight(vote: Vote, state: RequestState, { people, agent }: VoteContext): string | null {
  const person = people.get(vote.person);
  if (person === undefined) return 'is disabled';
  const choices = choicesOf(vote, state);
  if (choices.length > 0) {
    const voterRights = { ...rightsOf(vote, { people, agent }), id: vote.person, email: vote.email };
    if (!person.isApprover && !person.asOwner) return 'is no longer an approver';
    if (!choices.some((requirement) => answers(requirement, voterRights))) return 'is no longer asked';
  } else if (vote.group === controlOwnerGroup) {
    if (!person.asOwner) return 'may no longer approve';
    if (!isControlOwner({ id: vote.person, email: vote.email }, agent.controlOwner))
      return 'is no longer the control owner';
  } else if (!person.isApprover) return 'is no longer an approver';
  else if (vote.group !== null && !person.approvesFor.includes(vote.group))
    return `is no longer in the group \`${vote.group}\``;
  return null;
}

/** Why the giver of an approval may no longer give it in the place of another person; null when they may. */
function lostStandIn(vote: Vote, state: RequestState, now: VoteContext): string | null {
  const { email = '' } = vote.standsInFor ?? {};
  const voterRights = { ...rightsOf(vote, now), id: vote.person, email: vote.email };
  if (voterRights.groups.length === 0) return `no longer stands in for ${email}`;
  const asked = choicesOf(vote, state);
  const isAsked =
    asked.length > 0
      ? asked.some((requirement) => answers(requirement, voterRights))
      : vote.group !== null && voterRights.groups.includes(vote.group);
  if (!isAsked) return `no longer stands in for ${email} in this group`;
  const isOwner = isControlOwner({ id: vote.person, email: vote.email }, now.agent.controlOwner);
  return isOwner ? 'is the control owner now, and only stands in' : null;
}

/** What the person may answer for now. */
function rightsOf(vote: Vote, { people, agent }: Pick<VoteContext, 'people' | 'agent'>): VoterRights {
  const person = people.get(vote.person);
  if (vote.standsInFor !== undefined) {
    const { id } = vote.standsInFor;
    const absent = (person?.standsInFor ?? []).filter((one) => one.person.id === id);
    return { groups: absent.map(({ group }) => group), inPerson: false, isOwner: false };
  }
  const isOwner = isControlOwner({ id: vote.person, email: vote.email }, agent.controlOwner);
  return { groups: person?.approvesFor ?? [], inPerson: person?.asOwner === true, isOwner };
}

/** What the vote was given for, as last decided, if one of it is not a declared group. */
function choicesOf(vote: Vote, { decisions }: RequestState): readonly ApprovalRequirement[] {
  const groups = groupsOfVote(vote);
  const latest = new Map(
    decisions.flatMap(approvalsOf).map((requirement) => [requirement.group, requirement]),
  );
  const approvals = groups.flatMap((group) => latest.get(group) ?? []);
  return approvals.some(({ anyOf }) => anyOf !== undefined) ? approvals : [];
}

/**
 * Whether at least one of the rules that the vote was given for still exists, and none of them has changed.
 */
function isScopeAsItWas(vote: Vote, { record }: RequestState, asks: VoteContext['asks']): boolean {
  if (vote.digest !== requestDigest(record)) return false;
  if (vote.rules.length === 0) return true;
  const left = vote.rules.flatMap(({ id }) => asks.get(id) ?? []);
  return left.length > 0 && left.every((rule) => rule.kind === 'approval' && isFor(vote, rule));
}

/** The control owner of an agent does not count as one of several people who approve for it. */
function isOwnerOfShared(vote: Vote, { agent, asks }: Pick<VoteContext, 'agent' | 'asks'>): boolean {
  const isShared = vote.rules.some(({ id }) => {
    const rule = asks.get(id);
    return rule?.kind === 'approval' && rule.needs > 1;
  });
  const givers = [{ id: vote.person, email: vote.email }, ...(vote.standsInFor ? [vote.standsInFor] : [])];
  return isShared && givers.some((giver) => isControlOwner(giver, agent.controlOwner));
}

export function approvedOf({ record, votes }: RequestState, agent: AgentRow): ApprovalScope {
  // The control owner at the time of the request and today's: neither may approve for themselves.
  const owners = [agent.controlOwner, record.agent.control_owner ?? ''];
  const isOwner: ApprovalScope['isOwner'] = (person) => owners.some((owner) => isControlOwner(person, owner));
  return { votes, digest: requestDigest(record), isOwner, names: record };
}

export function lastApproval({ votes }: Pick<RequestState, 'votes'>, person: string): Vote | null {
  return votes.findLast((vote) => vote.isApproved && vote.person === person) ?? null;
}

/** The approvals that count, as judged last; a person has one at most. */
export function countingApprovals({ votes }: Pick<RequestState, 'votes'>): readonly Vote[] {
  return votes.filter((vote) => vote.isApproved && vote.invalidReason === null);
}

/** Whether the person has given an approval of the request that counts. */
export function hasApproved(state: Pick<RequestState, 'votes'>, person: string): boolean {
  return lastApproval(state, person)?.invalidReason === null;
}

export interface VoteEvaluator {
  /**
   * Returns the given requests with their votes as they count now. Requests that are not pending stay
   * unchanged.
   */
  readonly evaluateVotes: (states: readonly RequestState[]) => Promise<readonly RequestState[]>;
}

export interface VoteEvaluatorDeps {
  readonly store: Pick<Store, 'agents'>;
  readonly policies: () => ActivePolicies;
  readonly findPeople: FindPeople;
}

/**
 * A judge of votes for callers that show several requests: people and agents are read once for all of them.
 */
export function createVoteEvaluator({
  store,
  policies,
  findPeople,
}: VoteEvaluatorDeps): VoteEvaluator['evaluateVotes'] {
  return async (states) => {
    const open = states.filter((state) => state.status === 'pending' && voters(state).length > 0);
    if (open.length === 0) return states;
    const people = await findPeople([...new Set(open.flatMap(voters))]);
    const agents = new Map<string, AgentRow | null>();
    for (const { record } of open) {
      if (!agents.has(record.agentId)) agents.set(record.agentId, await store.agents.find(record.agentId));
    }
    const judged = votesJudgedBy(policies());
    return states.map((state) => {
      const agent = agents.get(state.record.agentId) ?? null;
      return agent === null || !open.includes(state)
        ? state
        : withEffectiveVotes(state, { people, agent, ...judged });
    });
  };
}
