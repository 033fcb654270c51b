// A person's approval or rejection of a request. INVARIANT: a vote and the decision that follows from it are
// stored together or not at all; the voter is active, asked and allowed at the moment the vote is stored. Somebody votes
// as a stand-in only where they have no vote of their own.

import type { ActivePolicies } from '../../../language/model/active-policies.ts';
import { canonical } from '../../../language/model/canonical.ts';
import type { ApprovalRequirement, Decision } from '../../../language/model/decision.ts';
import type { ApprovalRule } from '../../../language/model/rule-requirement.ts';
import { isControlOwner } from '../../agents/agent-facts.ts';
import { groupsOpenTo } from '../record/group-progress.ts';
import { refusalValidSeconds } from '../record/lifecycle.ts';
import { lifecycleOf, type RequestState, type Vote, voteEvent } from '../record/request-state.ts';
import {
  type ApprovalScope,
  approvedRule,
  mayApprove,
  requestDigest,
  satisfiedRules,
  type VoterRights,
} from '../record/vote-scope.ts';
import {
  type ChangeResult,
  changeRequest,
  type Events,
  type RefusedChange,
  type RequestChangeDeps,
  type RequestSnapshot,
} from './change-request.ts';
import { chatRefusal, restingOn, type ThroughChat } from './chat-votes.ts';
import {
  type DecisionContext,
  decideAgain,
  isApprovalRule,
  type RepeatedDecision,
  requirementsOf,
} from './decide-again.ts';
import { approvedOf, lastApproval } from './effective-votes.ts';
import { closedReason, decidedEvent, grantContext } from './grant-context.ts';
import { barredByStandIn, excludedText } from './permissions.ts';
import {
  answersFor,
  approvalsOf,
  approvingPerson,
  type Caller,
  isWithin,
  type Voter,
  votersOf,
} from './rights.ts';
import { offersOf, type StandingChoice, standingVote, writeOffered } from './standing-vote.ts';

export interface VoteDraft {
  readonly caller: Caller;
  /** The group to answer for. Null takes the asked group that the person belongs to, if there is only one. */
  readonly group: string | null;
  readonly comment: string;
  /** What later requests the approval is to serve; absent when it serves this request only. */
  readonly standing?: StandingChoice | null;
  /** The chat through which the person votes; absent when they vote in Writ. */
  readonly chat?: ThroughChat;
}

export async function approve(deps: RequestChangeDeps, id: string, draft: VoteDraft): Promise<ChangeResult> {
  const asker = draft.caller.id;
  const judge = (snapshot: RequestSnapshot) => handleApproval(deps, snapshot, draft);
  const result = await changeRequest(deps, { id, asker, handler: judge, ...restingOn(draft.chat) });
  if (result.kind === 'not-allowed') {
    const askAgain = (snapshot: RequestSnapshot) => handleApprovers(deps, snapshot);
    await changeRequest(deps, { id, asker, handler: askAgain });
  }
  return result;
}

/** Asks the approvers whom data name today, if they are others than those whom the request asks. */
async function handleApprovers(
  deps: RequestChangeDeps,
  snapshot: RequestSnapshot,
): Promise<Events | RefusedChange | 'nothing'> {
  const { state, nowMs } = snapshot;
  const context = await grantContext(deps, snapshot, 'approve');
  if ('kind' in context) return context;
  const again = decideAgain(state, context);
  const isPending = again.decision.requires !== null;
  const namesOthers = approvalsOf(again.decision).some(
    ({ group, anyOf }) =>
      anyOf !== undefined &&
      !approvalsOf(state.decision).some(
        (one) => one.group === group && canonical(one.anyOf) === canonical(anyOf),
      ),
  );
  return isPending && namesOthers ? [decidedEvent(state, 'approve', { again, nowMs })] : 'nothing';
}

export function reject(deps: RequestChangeDeps, id: string, draft: VoteDraft): Promise<ChangeResult> {
  const judge = async (snapshot: RequestSnapshot) => handleRejection(deps, snapshot, draft);
  return changeRequest(deps, { id, asker: draft.caller.id, handler: judge, ...restingOn(draft.chat) });
}

async function handleApproval(
  deps: RequestChangeDeps,
  snapshot: RequestSnapshot,
  draft: VoteDraft,
): Promise<Events | RefusedChange> {
  const { state, nowMs } = snapshot;
  const hidden = hiddenFrom(snapshot, draft.caller);
  if (hidden !== null) return hidden;
  const context = await grantContext(deps, snapshot, 'approve');
  if ('kind' in context) return context;
  const repeated = decideAgain(state, context);
  const decided = [repeated.decision, askingAll(repeated)];
  const barred = chatRefusal(draft.chat, { state, decided, active: context.active });
  if (barred !== null) return barred;
  const earlier = lastApproval(state, draft.caller.id);
  if (earlier?.invalidReason === null) {
    // The person's approval, which did not count for a while, may count again. Everything that was asked for
    // may then be there, and nobody else has to vote.
    return repeated.decision.outcome === 'ALLOW'
      ? [decidedEvent(state, 'approve', { again: repeated, nowMs })]
      : { kind: 'conflict', detail: `you have approved this for ${earlier.group ?? 'others'}` };
  }
  const given = { deps, snapshot, draft, context, repeated };
  const [own, ...asStandIn] = votersOf(draft.caller);
  const events = await approveAs(own, given);
  if (!('kind' in events) || events.kind !== 'not-allowed') return events;
  return (await approveAsStandIn(asStandIn, given)) ?? events;
}

interface GivenApproval {
  readonly deps: RequestChangeDeps;
  readonly snapshot: RequestSnapshot;
  readonly draft: VoteDraft;
  readonly context: DecisionContext;
  readonly repeated: RepeatedDecision;
}

/** The approval in the place of a person who is asked; null when nobody is for whom the caller stands in. */
async function approveAsStandIn(
  voters: readonly Voter[],
  given: GivenApproval,
): Promise<Events | RefusedChange | null> {
  const approvals = approvalsToGive(given.snapshot.state, given.repeated);
  const asked = voters.filter(
    (voter) => answersNow(given.snapshot, voter, { right: 'approve', approvals }).length > 0,
  );
  const groups = [...new Set(asked.flatMap(({ approve: { groups: own } }) => own))];
  if (given.draft.group === null && groups.length > 1) return { kind: 'which-group', groups };
  let refused: RefusedChange | null = null;
  for (const voter of asked) {
    const result = await approveAs(voter, given);
    if (!('kind' in result)) return result;
    refused ??= result;
  }
  return refused;
}

async function approveAs(
  voter: Voter,
  { deps, snapshot, draft, context, repeated }: GivenApproval,
): Promise<Events | RefusedChange> {
  const { state, nowMs } = snapshot;
  const approvals = approvalsToGive(state, repeated);
  const theirs = answersNow(snapshot, voter, { right: 'approve', approvals });
  const chosen = chooseGroups(draft.group, approvals, groupsToAnswer(theirs, voter, state, repeated));
  if ('kind' in chosen) return chosen;
  const allRules = rulesToApprove(state, repeated, context.active);
  const approved = { ...approvedOf(state, context.agent), approvals };
  const barred = barredByStandIn(voter, state, approved);
  if (barred !== null) return barred;
  const groups = chosen.filter((group) =>
    rulesOf(allRules, group).every((rule) => mayApprove(rule, approvingPerson(voter), approved)),
  );
  const rules = allRules.filter((rule) => groups.some((group) => rule.groups.includes(group)));
  if (groups.length === 0) return whyNone(allRules, chosen, { voter, approved });
  if (draft.standing != null && voter.absent !== null) return onlyOnce;
  const offers = draft.standing == null ? [] : offersOf(rules, snapshot);
  const standing = draft.standing == null ? null : standingVote(draft.standing, offers, snapshot);
  if (standing !== null && 'kind' in standing) return standing;
  const vote: Vote = {
    ...voteBy(draft, snapshot, voter),
    ...(standing && { standing }),
    isApproved: true,
    group: groups[0] ?? null,
    rules: groups.flatMap((group) => rulesOf(rules, group).map((rule) => approvedRule(rule, group))),
    voterRights: voterRightsNow(snapshot, voter, 'approve'),
  };
  if (standing !== null) await writeOffered(deps, snapshot, { standing, offers });
  const next = { ...state, votes: [...state.votes, vote] };
  const approval = voteEvent(vote, lifecycleOf(state));
  const complete = satisfiedRules(allRules, { ...approved, votes: next.votes });
  const isComplete = rules.every((rule) => complete.includes(rule));
  return isComplete ? [approval, decidedByVote(next, context, nowMs)] : [approval];
}

function rulesOf(rules: readonly ApprovalRule[], group: string): readonly ApprovalRule[] {
  return rules.filter(({ groups }) => groups.includes(group));
}

/** Why the caller may approve for none of the groups. */
function whyNone(
  rules: readonly ApprovalRule[],
  groups: readonly string[],
  { voter, approved }: { readonly voter: Voter; readonly approved: ApprovalScope },
): RefusedChange {
  const asking = groups.flatMap((group) => rulesOf(rules, group));
  if (asking.some(({ needs }) => needs > 1) && approved.isOwner(voter.absent?.person ?? voter))
    return ownOneOfSeveral;
  const apart = asking.find((rule) => !mayApprove(rule, approvingPerson(voter), approved));
  return apart === undefined ? notAsked : { kind: 'not-allowed', detail: excludedText(apart.except) };
}

function decidedByVote(state: RequestState, context: DecisionContext, nowMs: number): Events[number] {
  return decidedEvent(state, 'approve', { again: decideAgain(state, context), nowMs });
}

/** Today's decision with all that it would ask if nobody had approved. */
function askingAll({ decision, asking }: RepeatedDecision): Decision {
  const reauth = decision.requires?.reauth ?? null;
  return { ...decision, requires: { ...decision.requires, approvals: asking, reauth } };
}

function handleRejection(
  { policies }: RequestChangeDeps,
  snapshot: RequestSnapshot,
  draft: VoteDraft,
): Events | RefusedChange {
  const { state, agent, people, nowMs } = snapshot;
  const { caller, group } = draft;
  const hidden = hiddenFrom(snapshot, caller);
  if (hidden !== null) return hidden;
  const over = closedReason(state, 'reject', nowMs);
  if (over !== null) return over;
  if (people.get(caller.id)?.isActive !== true) return disabled;
  const barred = chatRefusal(draft.chat, { state, decided: [], active: policies() });
  if (barred !== null) return barred;
  const approvals = approvalsOf(state.decision);
  const answering = votersOf(caller).map((voter) => {
    const answered = answersNow(snapshot, voter, { right: 'reject', approvals });
    return { voter, groups: group === null ? answered : slotsOf(group, approvals, answered) };
  });
  const meant = answering.find(({ groups }) => groups.length > 0);
  if (group !== null && meant === undefined) return notOf(group);
  const isOfAll = isWithin({ ...caller.reject, groups: [] }, { person: caller, state, agent });
  if (meant === undefined && !isOfAll) return notAsked;
  const vote: Vote = {
    ...voteBy(draft, snapshot, meant?.voter ?? { absent: null }),
    isApproved: false,
    group: meant?.groups[0] ?? null,
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
  { caller, comment, chat }: VoteDraft,
  { state, nowMs }: RequestSnapshot,
  { absent }: Pick<Voter, 'absent'>,
): Omit<Vote, 'isApproved' | 'group' | 'rules'> {
  const { id: person, email, who } = caller;
  return {
    person,
    email,
    who,
    ...(chat && { chat: chat.account }),
    ...(absent && { standsInFor: { id: absent.person.id, email: absent.person.email } }),
    comment,
    atMs: nowMs,
    digest: requestDigest(state.record),
    takenBackAtMs: null,
    invalidReason: null,
  };
}

interface VoteContext {
  readonly right: 'approve' | 'reject';
  readonly approvals: readonly ApprovalRequirement[];
}

/**
 * The groups that the caller may answer for, both by the rights of this call and by the person's rights now.
 */
function answersNow(
  snapshot: RequestSnapshot,
  voter: Voter,
  { right, approvals }: VoteContext,
): readonly string[] {
  if (snapshot.people.get(voter.id)?.isActive !== true) return [];
  const { groups, inPerson: asOwner, isOwner } = voterRightsNow(snapshot, voter, right);
  return answersFor(approvals, { groups, asOwner }, { ...voter, isOwner });
}

function voterRightsNow(
  { people, agent }: RequestSnapshot,
  voter: Voter,
  right: VoteContext['right'],
): VoterRights {
  const person = people.get(voter.id);
  const { absent } = voter;
  const groupsNow =
    absent === null
      ? person?.approvesFor
      : person?.standsInFor.flatMap((one) => (one.person.id === absent.person.id ? [one.group] : []));
  return {
    groups: voter[right].groups.filter((group) => groupsNow?.includes(group) === true),
    inPerson: voter[right].asOwner && person?.asOwner === true,
    isOwner: absent === null && isControlOwner(voter, agent.controlOwner),
  };
}

/**
 * What may be approved: by today's decision, and by the one that counts, which may ask other groups. Of both,
 * the approvers that data name today may answer.
 */
function approvalsToGive(
  { decision }: RequestState,
  { asking }: RepeatedDecision,
): readonly ApprovalRequirement[] {
  const today = asking.map(({ group }) => group);
  return [...approvalsOf(decision).filter(({ group }) => !today.includes(group)), ...asking];
}

/** Those of the groups whose approval by the caller is still missing, by either decision. */
function groupsToAnswer(
  groups: readonly string[],
  { id }: Caller,
  { decision, votes }: RequestState,
  repeated: RepeatedDecision,
): readonly string[] {
  const open = [decision, repeated.decision].flatMap(({ requires }) =>
    groupsOpenTo(id, groups, { requires, votes }),
  );
  return groups.filter((group) => open.includes(group));
}

/**
 * Returns the groups that a vote counts for. Without a named group it may count for all, if one of them is a
 * choice; otherwise the person has to say for which group.
 */
function chooseGroups(
  group: string | null,
  asked: readonly ApprovalRequirement[],
  candidates: readonly string[],
): readonly string[] | RefusedChange {
  if (group === null) {
    const isPlain = asked.every((one) => !candidates.includes(one.group) || one.anyOf === undefined);
    if (isPlain && candidates.length > 1) return { kind: 'which-group', groups: candidates };
    return candidates.length === 0 ? notAsked : candidates;
  }
  const slots = slotsOf(group, asked, candidates);
  return slots.length === 0 ? notOf(group) : slots;
}

/** Those of the candidates that the group means: itself, or approvers of whom it is one. */
function slotsOf(
  group: string,
  asked: readonly ApprovalRequirement[],
  candidates: readonly string[],
): readonly string[] {
  if (candidates.includes(group)) return [group];
  const within = asked.filter(
    (one) =>
      candidates.includes(one.group) &&
      one.anyOf?.some((approver) => 'group' in approver && approver.group === group),
  );
  return within.map((one) => one.group);
}

/**
 * The approval rules, as they are today, that took part in the decision that counts or would take part today.
 */
function rulesToApprove(state: RequestState, { firing }: RepeatedDecision, active: ActivePolicies) {
  const rules = new Map(
    [...requirementsOf(state.decision, active), ...firing].map((rule) => [rule.rule, rule]),
  );
  return [...rules.values()].filter(isApprovalRule);
}

const onlyOnce: RefusedChange = {
  kind: 'conflict',
  detail: 'a stand-in approves this request only: leave out `standing`',
};
const disabled: RefusedChange = { kind: 'not-allowed', detail: 'your account is disabled' };
const notAsked: RefusedChange = { kind: 'not-allowed', detail: 'neither you nor your groups are asked' };
const ownOneOfSeveral: RefusedChange = {
  kind: 'not-allowed',
  detail: 'this needs more than one person, and the control owner of the agent cannot be one of them',
};

function notOf(group: string): RefusedChange {
  return { kind: 'not-allowed', detail: `you cannot answer for \`${group}\`, or it is not asked` };
}
