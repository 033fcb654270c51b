// The permissions of a person on a request, so that no other code has to know these rules. INVARIANT:
// `decisions` evaluates the same rules again when the person acts.

import { isExcepted } from '../../../language/model/rule-requirement.ts';
import { isControlOwner } from '../../agents/agent-facts.ts';
import type { AgentRow } from '../../store/contract/records.ts';
import { groupsOpenTo } from '../record/group-progress.ts';
import { statusAt } from '../record/lifecycle.ts';
import type { AllowedActions } from '../record/reply.ts';
import type { RequestState } from '../record/request-state.ts';
import { type ApprovalScope, earlierVote, isOwnRequestOf, mayApprove } from '../record/vote-scope.ts';
import type { RefusedChange } from './change-request.ts';
import { approvedOf, countingApprovals, hasApproved, lastApproval } from './effective-votes.ts';
import {
  answersFor,
  approvalsOf,
  approvingPerson,
  type Caller,
  isWithin,
  type Rights,
  type Voter,
  votersOf,
} from './rights.ts';

export interface PermissionOptions {
  readonly caller: Caller;
  readonly agent: AgentRow;
  readonly nowMs: number;
  /** Why a kill switch stops the request; null when none does. */
  readonly stopped: string | null;
}

/** Returns what the caller may do. `state` has its votes as they count now. */
export function permissionsOf(state: RequestState, options: PermissionOptions): AllowedActions {
  const { caller, agent, nowMs, stopped } = options;
  if (statusAt(state, nowMs) !== 'pending') {
    const isGrant = state.status === 'auto_approved' || state.status === 'approved';
    const report = isGrant && isWithin(caller.report, { person: caller, state, agent });
    return { ...noPermissions, report, reason: 'It is no longer pending.' };
  }
  const isGrantable = agent.status === 'active' && stopped === null;
  const [own = [], ...asStandIn] = votersOf(caller).map((voter) => groupsToApprove(state, voter, agent));
  const standsInFor = own.length > 0 ? [] : caller.standsInFor.filter((_, at) => asStandIn[at]?.length !== 0);
  const groups = own.length > 0 ? own : [...new Set(asStandIn.flat())];
  const reason = whyNot(state, options, groups);
  return {
    approve: reason === null ? groups : [],
    stands_in_for: reason === null ? standsInFor.map(({ group, person: { name } }) => ({ group, name })) : [],
    reject: mayReject(state, caller, agent),
    revoke_approval: lastApproval(state, caller.id)?.takenBackAtMs === null,
    comment: mayComment(state, caller, agent),
    report: false,
    step_up: isGrantable && state.decision.requires?.reauth != null && mayStepUp(caller, agent),
    reason,
  };
}

const noPermissions: Omit<AllowedActions, 'report' | 'reason'> = {
  approve: [],
  stands_in_for: [],
  reject: false,
  revoke_approval: false,
  comment: false,
  step_up: false,
};

/** People who may answer for the request may comment, and so may the person who answers for its agent. */
export function mayComment(state: RequestState, caller: Caller, agent: AgentRow): boolean {
  return (
    mayReject(state, caller, agent) ||
    isAskedNow(state, caller, agent) ||
    (caller.stepUp.own && isControlOwner(caller, agent.controlOwner))
  );
}

function mayReject(state: RequestState, caller: Caller, agent: AgentRow): boolean {
  const isAsked = votersOf(caller).some(
    (voter) => answersNow(state, voter.reject, { caller: voter, agent }).length > 0,
  );
  return isAsked || isWithin({ ...caller.reject, groups: [] }, { person: caller, state, agent });
}

/** Whether the caller is asked for an approval, for themselves or as a stand-in. */
function isAskedNow(state: RequestState, caller: Caller, agent: AgentRow): boolean {
  return votersOf(caller).some(
    (voter) => answersNow(state, voter.approve, { caller: voter, agent }).length > 0,
  );
}

/** The groups of the decision that counts for which the caller may answer. */
function answersNow(
  { decision }: RequestState,
  rights: Rights,
  { caller, agent }: Pick<PermissionOptions, 'caller' | 'agent'>,
): readonly string[] {
  const isOwner = isControlOwner(caller, agent.controlOwner);
  return answersFor(approvalsOf(decision), rights, { ...caller, isOwner });
}

function mayStepUp(caller: Caller, agent: AgentRow): boolean {
  return caller.stepUp.own && isControlOwner(caller, agent.controlOwner);
}

/**
 * The groups that the voter may approve for. A rule that needs several people does not accept the control
 * owner of the agent.
 */
function groupsToApprove(state: RequestState, voter: Voter, agent: AgentRow): readonly string[] {
  const approved = approvedOf(state, agent);
  if (barredByStandIn(voter, state, approved) !== null) return [];
  const open = approvalsOf(state.decision).filter(({ needs, except = [] }) =>
    mayApprove({ needs, except }, approvingPerson(voter), approved),
  );
  const theirs = answersNow(state, voter.approve, { caller: voter, agent });
  const fit = theirs.filter((one) => open.some(({ group }) => group === one));
  const { requires } = state.decision;
  return groupsOpenTo(voter.id, fit, { requires, votes: state.votes });
}

/**
 * Why a stand-in keeps the voter from approving; null when none does. A person and their stand-ins have one vote, and
 * nobody approves a request of their own as a stand-in.
 */
export function barredByStandIn(
  { id, email, absent }: Voter,
  state: Pick<RequestState, 'votes' | 'record'>,
  scope: Pick<ApprovalScope, 'isOwner' | 'names'>,
): RefusedChange | null {
  const counting = countingApprovals(state);
  if (absent === null) {
    const standIn = counting.find(({ standsInFor }) => standsInFor?.id === id);
    return standIn === undefined
      ? null
      : { kind: 'conflict', detail: `${standIn.email} has approved this for you` };
  }
  // Of a user whose token was refused nobody knows who they are.
  if (isOwnRequestOf({ id, email }, scope) || state.record.userUnknown !== undefined)
    return { kind: 'not-allowed', detail: 'a stand-in cannot approve a request of their own' };
  const standsInFor = absent.person;
  return earlierVote({ person: id, standsInFor }, counting) === null
    ? null
    : { kind: 'conflict', detail: `${standsInFor.email}, for whom you stand in, has a vote on this already` };
}

function whyNot(
  state: RequestState,
  { caller, agent, stopped }: PermissionOptions,
  groups: readonly string[],
): string | null {
  if (!isAskedNow(state, caller, agent)) return 'Neither you nor your groups are asked.';
  if (agent.status !== 'active') return `The agent is ${agent.status}.`;
  if (stopped !== null) return sentence(stopped);
  if (hasApproved(state, caller.id)) return 'You have approved this; other approvals are missing.';
  if (groups.length > 0) return null;
  const approved = approvedOf(state, agent);
  const barred = votersOf(caller).map((voter) => barredOf(voter, { state, agent, approved }));
  const why = barred.find((one) => one !== null);
  if (why != null) return sentence(why);
  const except = (state.decision.requires?.approvals ?? []).flatMap((one) => one.except ?? []);
  if (isExcepted(except, approved.names, caller)) return sentence(excludedText([...new Set(except)]));
  return approved.isOwner(caller)
    ? 'This needs more than one person, and you are the control owner of the agent.'
    : 'Your group has approved this; other approvals are missing.';
}

/** What keeps a voter who is asked from approving because of a stand-in, as words; null when nothing does. */
function barredOf(
  voter: Voter,
  {
    state,
    agent,
    approved,
  }: { readonly state: RequestState; readonly agent: AgentRow; readonly approved: ApprovalScope },
): string | null {
  if (answersNow(state, voter.approve, { caller: voter, agent }).length === 0) return null;
  const refused = barredByStandIn(voter, state, approved);
  return refused !== null && 'detail' in refused ? refused.detail : null;
}

function sentence(text: string): string {
  return `${text.charAt(0).toUpperCase()}${text.slice(1)}.`;
}

/**
 * Returns the reason in lower case, without a full stop. `except` holds the fields that name who is left out.
 */
export function excludedText(except: readonly string[]): string {
  const fields = except.map((field) => `\`${field}\``).join(' or ');
  return `the policies exclude the person in ${fields}, and that is you or unknown`;
}
