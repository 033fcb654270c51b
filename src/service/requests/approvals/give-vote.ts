// A person's approval or rejection of a request. INVARIANT: a vote and the decision that follows from it are
// stored together or not at all; the voter is active, asked and allowed at the moment the vote is stored.

import type { ActivePolicies } from '../../../language/model/active-policies.ts';
import { isControlOwner } from '../../agents/agent-facts.ts';
import { groupsLeft } from '../record/groups-left.ts';
import { refusalValidSeconds } from '../record/lifecycle.ts';
import { lifecycleOf, type RequestState, type Vote, voteEvent } from '../record/request-state.ts';
import { approvedRule, isSatisfied, mayApprove, requestDigest } from '../record/vote-scope.ts';
import {
  type ChangeResult,
  changeRequest,
  type DecisionsDeps,
  type Events,
  type RefusedChange,
  type RequestSnapshot,
} from './change-request.ts';
import {
  approvedOf,
  askedBy,
  type DecisionContext,
  decideAgain,
  isApprovalRule,
  type RepeatedDecision,
} from './decide-again.ts';
import { closedReason, decidedEvent, grantContext } from './grant-context.ts';
import { leftOutText } from './permissions.ts';
import { answersFor, askedGroups, type Caller, isWithin } from './rights.ts';
import { lastApproval } from './votes-now.ts';

export interface VoteDraft {
  readonly caller: Caller;
  /** The group to answer for. Null takes the asked group that the person belongs to, if there is only one. */
  readonly group: string | null;
  readonly comment: string;
}

export function approve(deps: DecisionsDeps, id: string, draft: VoteDraft): Promise<ChangeResult> {
  const judge = (snapshot: RequestSnapshot) => judgeApproval(deps, snapshot, draft);
  return changeRequest(deps, { id, asker: draft.caller.id, handler: judge });
}

export function reject(deps: DecisionsDeps, id: string, draft: VoteDraft): Promise<ChangeResult> {
  const judge = async (snapshot: RequestSnapshot) => judgeRejection(snapshot, draft);
  return changeRequest(deps, { id, asker: draft.caller.id, handler: judge });
}

async function judgeApproval(
  deps: DecisionsDeps,
  snapshot: RequestSnapshot,
  draft: VoteDraft,
): Promise<Events | RefusedChange> {
  const { state, nowMs } = snapshot;
  const hidden = hiddenFrom(snapshot, draft.caller);
  if (hidden !== null) return hidden;
  const context = await grantContext(deps, snapshot, 'approve');
  if ('kind' in context) return context;
  const repeated = decideAgain(state, context);
  const given = lastApproval(state, draft.caller.id);
  if (given?.invalidReason === null) {
    // The person's approval, which did not count for a while, may count again. Everything that was asked for
    // may then be there, and nobody else has to vote.
    return repeated.decision.outcome === 'ALLOW'
      ? [decidedEvent(state, 'approve', { again: repeated, nowMs })]
      : { kind: 'conflict', detail: `you have approved this for ${given.group ?? 'others'}` };
  }
  const chosen = chooseGroup(
    draft.group,
    answersNow(snapshot, draft.caller, { right: 'approve', asked: groupsToAnswer(state, repeated) }),
  );
  if (typeof chosen === 'object') return chosen;
  const rules = rulesToApprove(state, repeated, context.active).filter(({ groups }) =>
    groups.includes(chosen),
  );
  const approved = approvedOf(state, context.agent);
  if (rules.some(({ needs }) => needs > 1) && approved.isOwner(draft.caller)) return ownOneOfSeveral;
  const apart = rules.find((rule) => !mayApprove(rule, draft.caller, approved));
  if (apart !== undefined) return { kind: 'not-allowed', detail: leftOutText(apart.except) };
  const vote: Vote = {
    ...voteBy(draft, snapshot),
    isApproved: true,
    group: chosen,
    rules: rules.map((rule) => approvedRule(rule, chosen)),
  };
  const next = { ...state, votes: [...state.votes, vote] };
  const approval = voteEvent(vote, lifecycleOf(state));
  const isComplete = rules.every((rule) => isSatisfied(rule, { ...approved, votes: next.votes }));
  return isComplete ? [approval, decidedByVote(next, context, nowMs)] : [approval];
}

function decidedByVote(state: RequestState, context: DecisionContext, nowMs: number): Events[number] {
  return decidedEvent(state, 'approve', { again: decideAgain(state, context), nowMs });
}

function judgeRejection(snapshot: RequestSnapshot, draft: VoteDraft): Events | RefusedChange {
  const { state, agent, people, nowMs } = snapshot;
  const { caller, group } = draft;
  const hidden = hiddenFrom(snapshot, caller);
  if (hidden !== null) return hidden;
  const over = closedReason(state, 'reject', nowMs);
  if (over !== null) return over;
  if (people.get(caller.id)?.isActive !== true) return disabled;
  const groups = askedGroups(state.decision);
  const answered = answersNow(snapshot, caller, { right: 'reject', asked: groups });
  if (group !== null && !answered.includes(group)) return notOf(group);
  const isOfAll = isWithin({ ...caller.reject, groups: [] }, { person: caller, state, agent });
  if (answered.length === 0 && !isOfAll) return notAsked;
  const vote: Vote = {
    ...voteBy(draft, snapshot),
    isApproved: false,
    group: group ?? answered[0] ?? null,
    rules: [],
  };
  const expiresAtMs = nowMs + refusalValidSeconds * 1000;
  return [voteEvent(vote, { status: 'rejected', decidedAtMs: nowMs, expiresAtMs })];
}

/** A request that the caller may not see is answered like one that does not exist. */
function hiddenFrom({ state, agent }: RequestSnapshot, caller: Caller): RefusedChange | null {
  return isWithin(caller.view, { person: caller, state, agent }) ? null : { kind: 'unknown' };
}

function voteBy(
  { caller, comment }: VoteDraft,
  { state, nowMs }: RequestSnapshot,
): Omit<Vote, 'isApproved' | 'group' | 'rules'> {
  const { id: person, email, who } = caller;
  const digest = requestDigest(state.record);
  return { person, email, who, comment, atMs: nowMs, digest, takenBackAtMs: null, invalidReason: null };
}

interface VoteContext {
  readonly right: 'approve' | 'reject';
  readonly asked: readonly string[];
}

/**
 * The groups that the caller may answer for, both by the rights of this call and by the person's rights now.
 */
function answersNow(
  { people, agent }: RequestSnapshot,
  caller: Caller,
  { right, asked }: VoteContext,
): readonly string[] {
  const person = people.get(caller.id);
  if (person?.isActive !== true) return [];
  const now = {
    groups: caller[right].groups.filter((group) => person.approvesFor.includes(group)),
    asOwner: caller[right].asOwner && person.asOwner,
  };
  return answersFor(asked, now, isControlOwner(caller, agent.controlOwner));
}

/**
 * The groups whose approval is still missing, by the decision that counts and by today's, which may ask other
 * groups.
 */
function groupsToAnswer({ decision, votes }: RequestState, repeated: RepeatedDecision): readonly string[] {
  return [...new Set([...groupsLeft(decision, votes), ...groupsLeft(repeated.decision, votes)])];
}

function chooseGroup(group: string | null, candidates: readonly string[]): string | RefusedChange {
  if (group !== null) return candidates.includes(group) ? group : notOf(group);
  if (candidates.length > 1) return { kind: 'which-group', groups: candidates };
  return candidates[0] ?? notAsked;
}

/**
 * The approval rules, as they are today, that took part in the decision that counts or would take part today.
 */
function rulesToApprove(state: RequestState, { firing }: RepeatedDecision, active: ActivePolicies) {
  const rules = new Map([...askedBy(state.decision, active), ...firing].map((rule) => [rule.rule, rule]));
  return [...rules.values()].filter(isApprovalRule);
}

const disabled: RefusedChange = { kind: 'not-allowed', detail: 'your account is disabled' };
const notAsked: RefusedChange = { kind: 'not-allowed', detail: 'neither you nor your groups are asked' };
const ownOneOfSeveral: RefusedChange = {
  kind: 'not-allowed',
  detail: 'this needs more than one person, and the control owner of the agent cannot be one of them',
};

function notOf(group: string): RefusedChange {
  return { kind: 'not-allowed', detail: `you cannot answer for \`${group}\`, or it is not asked` };
}
