// A request's record into what its agent is told: the eight fields of the reply, as they stand at a moment, and the
// detail behind them. INVARIANT: a request past its end never reads as one under which the agent may proceed.

import type { Decision, Outcome, Requirements } from '../model/decision.ts';
import type { JsonObject } from '../model/json.ts';
import type { AgentFacts } from '../model/request.ts';
import type { TracedRule } from '../model/trace.ts';
import type { RequestStatus } from '../store/records.ts';
import type { RequestRecord } from './record.ts';

/** The fields of a reply, exactly these eight; times are RFC 3339 in UTC. */
export interface RequestView {
  readonly request_id: string;
  readonly decision: Outcome;
  readonly reason: string;
  readonly matched_policy: string;
  /** 0 to 100. */
  readonly risk_score: number;
  readonly status: RequestStatus;
  /** One sentence: what the client is to do. */
  readonly message: string;
  readonly expires_at: string;
}

export interface RequestDetail extends RequestView {
  readonly action_key: string;
  /** Secrets are keyed digests. */
  readonly payload: JsonObject;
  /** As it was when it asked. */
  readonly agent: AgentFacts;
  readonly approvals: readonly Approval[];
  readonly trace: readonly TracedRule[];
  readonly policy_set: { readonly digest: string; readonly commit: string | null };
  readonly created_at: string;
  /** Null while pending. */
  readonly decided_at: string | null;
}

interface Approval {
  readonly by: string;
  readonly group: string;
  readonly is_approved: boolean;
  readonly at: string;
}

/**
 * The reply to the POST that made the request, or that repeats it under the same idempotency key. Its status is only
 * ever `auto_approved`, `rejected` or `pending`: a request that has ended is a DENY, whatever was decided once.
 */
export function replyView(record: RequestRecord, nowMs: number): RequestView {
  const view = requestView(record, nowMs);
  switch (view.status) {
    case 'auto_approved':
    case 'pending':
      return view;
    case 'rejected':
      return { ...view, decision: 'DENY' };
    case 'approved':
      return { ...view, decision: 'ALLOW', status: 'auto_approved' };
    case 'expired':
      return { ...view, decision: 'DENY', status: 'rejected', reason: 'The request has expired' };
    case 'consumed':
      return { ...view, decision: 'DENY', status: 'rejected', reason: 'The grant has been used' };
  }
}

/** The request as it stands at `nowMs`, with all that its agent may see of it. */
export function requestDetail(record: RequestRecord, nowMs: number): RequestDetail {
  return {
    ...requestView(record, nowMs),
    action_key: record.actionKey,
    payload: record.payload,
    agent: record.agent,
    approvals: [],
    trace: record.trace,
    policy_set: record.policySet,
    created_at: timeText(record.createdAtMs),
    decided_at: record.decidedAtMs === null ? null : timeText(record.decidedAtMs),
  };
}

function requestView(record: RequestRecord, nowMs: number): RequestView {
  const { decision } = record;
  const status = statusAt(record, nowMs);
  return {
    request_id: record.id,
    decision: decision.outcome,
    reason: decision.reason,
    matched_policy: decision.matchedPolicy,
    risk_score: decision.risk.high,
    status,
    message: messageFor(status, decision, timeText(record.expiresAtMs)),
    expires_at: timeText(record.expiresAtMs),
  };
}

/** Grants and waits end by themselves; what was refused or used stays so. */
function statusAt({ status, expiresAtMs }: RequestRecord, nowMs: number): RequestStatus {
  switch (status) {
    case 'auto_approved':
    case 'approved':
    case 'pending':
      return nowMs >= expiresAtMs ? 'expired' : status;
    case 'rejected':
    case 'expired':
    case 'consumed':
      return status;
  }
}

function messageFor(status: RequestStatus, decision: Decision, until: string): string {
  switch (status) {
    case 'auto_approved':
    case 'approved':
      return `Proceed before ${until}.`;
    case 'pending':
      return `Wait and look this request up again: ${requirementText(decision.requires)} before ${until}.`;
    case 'rejected':
      return 'Do not proceed: the action is refused.';
    case 'expired':
      return 'Do not proceed: this request has expired, so make a new one if the action is still wanted.';
    case 'consumed':
      return 'Do not proceed: this grant has been used, so make a new request to act again.';
  }
}

/** What people have to do, a step-up first. */
function requirementText(requires: Requirements | null): string {
  const approvals = requires?.approvals ?? [];
  const list = approvals.map(
    ({ group, needs }) => `${needs} ${needs === 1 ? 'approval' : 'approvals'} by ${who(group)}`,
  );
  const asked = list.length > 0 ? `it needs ${joinWords(list)}` : null;
  if (requires?.reauth == null) return asked ?? 'it needs an approval';
  const stepUp = "a step-up by the agent's control owner is needed";
  return asked === null ? stepUp : `${stepUp}, and then ${asked},`;
}

function who(group: string): string {
  return group === 'owner' ? "the agent's control owner" : group;
}

function joinWords(words: readonly string[]): string {
  return words.length < 2 ? words.join('') : `${words.slice(0, -1).join(', ')} and ${words.at(-1)}`;
}

function timeText(ms: number): string {
  return new Date(ms).toISOString();
}
