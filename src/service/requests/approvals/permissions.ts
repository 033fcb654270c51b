// The permissions of a person on a request, so that no other code has to know these rules. INVARIANT:
// `decisions` evaluates the same rules again when the person acts.

import { isExcepted } from '../../../language/model/rule-requirement.ts';
import { isControlOwner } from '../../agents/agent-facts.ts';
import type { AgentRow } from '../../store/contract/records.ts';
import { groupsOpenTo } from '../record/group-progress.ts';
import { statusAt } from '../record/lifecycle.ts';
import type { AllowedActions } from '../record/reply.ts';
import type { RequestState } from '../record/request-state.ts';
import { mayApprove } from '../record/vote-scope.ts';
import { approvedOf, hasApproved, lastApproval } from './effective-votes.ts';
import { answersFor, approvalsOf, type Caller, isWithin, type Rights } from './rights.ts';

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
  const groups = groupsToApprove(state, options);
  const reason = whyNot(state, options, groups);
  return {
    approve: reason === null ? groups : [],
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
  reject: false,
  revoke_approval: false,
  comment: false,
  step_up: false,
};

/** People who may answer for the request may comment, and so may the person who answers for its agent. */
export function mayComment(state: RequestState, caller: Caller, agent: AgentRow): boolean {
  return (
    mayReject(state, caller, agent) ||
    answersNow(state, caller.approve, { caller, agent }).length > 0 ||
    (caller.stepUp.own && isControlOwner(caller, agent.controlOwner))
  );
}

function mayReject(state: RequestState, caller: Caller, agent: AgentRow): boolean {
  const theirs = answersNow(state, caller.reject, { caller, agent });
  return theirs.length > 0 || isWithin({ ...caller.reject, groups: [] }, { person: caller, state, agent });
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
 * The groups that the caller may approve for. A rule that needs several people does not accept the control
 * owner of the agent.
 */
function groupsToApprove(state: RequestState, { caller, agent }: PermissionOptions): readonly string[] {
  const approved = approvedOf(state, agent);
  const open = approvalsOf(state.decision).filter(({ needs, except = [] }) =>
    mayApprove({ needs, except }, caller, approved),
  );
  const theirs = answersNow(state, caller.approve, { caller, agent });
  const fit = theirs.filter((one) => open.some(({ group }) => group === one));
  const { requires } = state.decision;
  return groupsOpenTo(caller.id, fit, { requires, votes: state.votes });
}

function whyNot(
  state: RequestState,
  { caller, agent, stopped }: PermissionOptions,
  groups: readonly string[],
): string | null {
  const isAsked = answersNow(state, caller.approve, { caller, agent }).length > 0;
  if (!isAsked) return 'Neither you nor your groups are asked.';
  if (agent.status !== 'active') return `The agent is ${agent.status}.`;
  if (stopped !== null) return sentence(stopped);
  if (hasApproved(state, caller.id)) return 'You have approved this; other approvals are missing.';
  if (groups.length > 0) return null;
  const approved = approvedOf(state, agent);
  const except = (state.decision.requires?.approvals ?? []).flatMap((one) => one.except ?? []);
  if (isExcepted(except, approved.names, caller)) return sentence(excludedText([...new Set(except)]));
  return approved.isOwner(caller)
    ? 'This needs more than one person, and you are the control owner of the agent.'
    : 'Your group has approved this; other approvals are missing.';
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
