// What people and agents do to a stored request: approve, reject, take back, comment, step up, withdraw, and
// report the outcome of a grant. Each change is judged on one read of the request and stored only if nothing
// that it rests on has changed since; otherwise it is judged again.

import {
  type ChangeResult,
  changeRequest,
  type Events,
  loadMany,
  type RefusedChange,
  type RequestChangeDeps,
  type RequestSnapshot,
  readRequest,
} from './approvals/change-request.ts';
import { restingOn, type ThroughChat } from './approvals/chat-votes.ts';
import { decideAgain } from './approvals/decide-again.ts';
import { lastApproval } from './approvals/effective-votes.ts';
import { approve, reject, type VoteDraft } from './approvals/give-vote.ts';
import { closedReason, decidedEvent, grantContext } from './approvals/grant-context.ts';
import { mayComment } from './approvals/permissions.ts';
import { type SteppedUpAgent, type SteppingUp, stepUp, stepUpAgent } from './approvals/record-step-up.ts';
import { type OutcomeReport, reportOutcome } from './approvals/report-outcome.ts';
import { type Caller, isWithin } from './approvals/rights.ts';
import type { StepUpPerson } from './approvals/step-up.ts';
import {
  type AgentCaller,
  type CommentKind,
  eventOf,
  isOwnRequest,
  lifecycleOf,
  type RequestState,
  withEvents,
} from './record/request-state.ts';
import { createCallReporter, type ReportCall } from './report-call.ts';

export interface RequestChanges {
  approve(id: string, draft: VoteDraft): Promise<ChangeResult>;
  reject(id: string, draft: VoteDraft): Promise<ChangeResult>;
  /** Takes the person's own approval back while the request waits for other approvals. */
  revokeVote(id: string, caller: Caller): Promise<ChangeResult>;
  /** Adds a comment, a question or an answer without deciding the request. */
  comment(id: string, draft: CommentDraft): Promise<ChangeResult>;
  /** Steps up for a request. The caller has made sure that the person has just re-authenticated. */
  stepUp(id: string, person: SteppingUp): Promise<ChangeResult>;
  /** Steps up for an agent, whose waiting requests are then decided again. */
  stepUpAgent(agentId: string, person: StepUpPerson): Promise<RefusedChange | SteppedUpAgent>;
  report(id: string, report: OutcomeReport): Promise<ChangeResult>;
  /** Reports the outcome of a call of an agent that is named by what was called. */
  readonly reportCall: ReportCall;
  /** Gives up the wait, for the agent that made the request. */
  withdraw(id: string, by: AgentCaller): Promise<ChangeResult>;
  /**
   * The request now, with everything that decides what may be done about it; null when there is no such
   * request.
   */
  snapshot(id: string): Promise<RequestSnapshot | null>;
  /**
   * The same as `snapshot`, for requests that have already been read. What they share, such as agents and people,
   * is read once.
   */
  snapshots(states: readonly RequestState[]): Promise<readonly RequestSnapshot[]>;
}

export function createRequestChanges(deps: RequestChangeDeps): RequestChanges {
  return {
    approve: (id, draft) => approve(deps, id, draft),
    reject: (id, draft) => reject(deps, id, draft),
    revokeVote: (id, caller) => revokeVote(deps, id, caller),
    comment: (id, draft) => comment(deps, id, draft),
    stepUp: (id, person) => stepUp(deps, id, person),
    stepUpAgent: (agentId, person) => stepUpAgent(deps, agentId, person),
    report: (id, report) => reportOutcome(deps, id, report),
    reportCall: createCallReporter(deps),
    withdraw: (id, by) => withdrawRequest(deps, id, by),
    snapshot: async (id) => (await readRequest(deps, { id, asker: null }))?.snapshot ?? null,
    snapshots: (states) => loadMany(deps, states),
  };
}

// An agent gives up the wait for its request. INVARIANT: only the agent that made the request withdraws it,
// and only while it waits; nothing is granted.

/** Withdraws a request; doing so again changes nothing. */
function withdrawRequest(deps: RequestChangeDeps, id: string, by: AgentCaller): Promise<ChangeResult> {
  return changeRequest(deps, {
    id,
    asker: null,
    handler: async ({ state, nowMs }) => {
      if (!isOwnRequest(by, state.record)) return { kind: 'unknown' };
      if (state.status === 'withdrawn') return 'nothing';
      const over = closedReason(state, 'withdraw', nowMs);
      if (over !== null) return over;
      const after = { status: 'withdrawn', decidedAtMs: null, expiresAtMs: nowMs } as const;
      return [eventOf('withdrawn', { who: `agent ${by.agent.id}`, atMs: nowMs, state: after }, {})];
    },
  });
}

// What people say about a request that waits, without deciding it: a comment, a question or an answer.
// INVARIANT: a comment does not change what the request waits for; its author is active and may answer for
// the request at the moment it is stored.

export interface CommentDraft {
  readonly caller: Caller;
  readonly kind: CommentKind;
  readonly text: string;
  /** The chat through which the person comments; absent when they comment in Writ. */
  readonly chat?: ThroughChat;
}

function comment(
  deps: RequestChangeDeps,
  id: string,
  { caller, kind, text, chat }: CommentDraft,
): Promise<ChangeResult> {
  return changeRequest(deps, {
    id,
    asker: caller.id,
    ...restingOn(chat),
    handler: async ({ state, agent, people, nowMs }) => {
      const { id: person, email, who } = caller;
      if (!isWithin(caller.view, { person: caller, state, agent })) return { kind: 'unknown' };
      const over = closedReason(state, 'reject', nowMs);
      if (over !== null) return over;
      const isTheirs = people.get(person)?.isActive === true && mayComment(state, caller, agent);
      if (!isTheirs) return { kind: 'not-allowed', detail: 'neither you nor your groups are asked' };
      if (kind === 'answer' && !state.comments.some((one) => one.kind === 'question'))
        return { kind: 'conflict', detail: 'this request has no open question' };
      const by = chat === undefined ? {} : { chat: chat.account };
      const at = { who, atMs: nowMs, state: lifecycleOf(state) };
      return [eventOf('commented', at, { person, email, kind, text, ...by })];
    },
  });
}

/**
 * A person takes their approval back while the request waits for other approvals. INVARIANT: taking back
 * never grants anything, and a granted request cannot be taken back; the caller is active and has given the
 * approval at the moment the change is stored.
 */
function revokeVote(deps: RequestChangeDeps, id: string, caller: Caller): Promise<ChangeResult> {
  return changeRequest(deps, {
    id,
    asker: caller.id,
    handler: async (snapshot) => {
      const { state, agent, people, nowMs } = snapshot;
      if (!isWithin(caller.view, { person: caller, state, agent })) return { kind: 'unknown' };
      const over = closedReason(state, 'approve', nowMs);
      if (over !== null) return over;
      if (people.get(caller.id)?.isActive !== true)
        return { kind: 'not-allowed', detail: 'your account is disabled' };
      const approval = lastApproval(state, caller.id);
      if (approval === null && !isWithin(caller.approve, { person: caller, state, agent }))
        return { kind: 'not-allowed', detail: 'neither you nor your groups are asked' };
      if (approval === null || approval.takenBackAtMs !== null)
        return { kind: 'conflict', detail: 'you have no approval to revoke' };
      const at = { who: caller.who, atMs: nowMs, state: lifecycleOf(state) };
      const taken = eventOf('taken-back', at, { person: caller.id, group: approval.group });
      return [taken, ...(await askedAgain(deps, snapshot, withEvents(state, [taken])))];
    },
  });
}

/** What the request waits for without the approval. If it would no longer wait, it waits as before. */
async function askedAgain(
  deps: RequestChangeDeps,
  snapshot: RequestSnapshot,
  state: RequestState,
): Promise<Events> {
  const context = await grantContext(deps, snapshot, 'approve');
  if ('kind' in context) return [];
  const again = decideAgain(state, context);
  const waits = again.decision.outcome === 'ESCALATE' || again.decision.outcome === 'REAUTH_REQUIRED';
  return waits ? [decidedEvent(state, 'approve', { again, nowMs: snapshot.nowMs })] : [];
}
