// A request's record into what its agent reads: the eight fields of the reply, as they stand at a moment, and
// the detail behind them. INVARIANT: a request past its end never reads as one under which the agent may
// proceed.

import { isUnanswerable, unknownApprovers, whomText } from '../../../language/model/approvers.ts';
import type { Outcome, ResolvedApprover } from '../../../language/model/decision.ts';
import type { JsonObject } from '../../../language/model/json.ts';
import type { AgentFacts, UserFacts } from '../../../language/model/request.ts';
import { type ResolvedText, type TracedRule, tracedRules } from '../../../language/model/trace.ts';
import type { ChatAccount } from '../../store/contract/chat-account.ts';
import { controlOwnerGroup } from '../../store/contract/control-owner-group.ts';
import type { RequestStatus } from '../../store/contract/records.ts';
import { userUnknowns } from '../../users/on-behalf.ts';
import { type GroupProgress, groupProgressOf } from './group-progress.ts';
import { statusAt } from './lifecycle.ts';
import type { PlanPlace } from './plan-place.ts';
import {
  pastMissingUntil,
  pastNotKnown,
  type RecordedLink,
  type RequestPoint,
  type RequestRecord,
  recordTitle,
} from './record.ts';
import type { CommentKind, RequestState } from './request-state.ts';
import { requestDigest } from './vote-scope.ts';

/** The fields of a reply, exactly these eight; times are RFC 3339 in UTC. */
export interface RequestView {
  readonly request_id: string;
  readonly decision: Outcome;
  readonly reason: string;
  readonly matched_policy: string;
  /** 0 to 100. */
  readonly risk_score: number;
  readonly status: RequestStatus;
  /** What the client is to do, written for programs and models alike. */
  readonly message: string;
  readonly expires_at: string;
}

/** What the reader may do with a request. */
export interface AllowedActions {
  /** Groups that the person can approve for now. */
  readonly approve: readonly string[];
  /** Those of the groups for which the person can approve as a stand-in, each with the name of the absent person. */
  readonly stands_in_for: readonly { readonly group: string; readonly name: string }[];
  readonly reject: boolean;
  /** Whether the person may take back their own approval. */
  readonly revoke_approval: boolean;
  /** Whether the person may comment without deciding. */
  readonly comment: boolean;
  readonly step_up: boolean;
  /** Whether the person may report what became of the grant. */
  readonly report: boolean;
  /** Why the person cannot approve, in one sentence; null when they can. */
  readonly reason: string | null;
}

/** The person the agent asks for, or why the person is unknown. */
export interface OnBehalfView {
  readonly user: UserFacts | null;
  /** The reason as a sentence; null when the person is known. */
  readonly unknown: string | null;
}

/** A delegation as it was when the request came; `uses` is null for any number. */
type LinkView = Omit<RecordedLink, 'uses'> & { readonly uses: number | null };

export interface RequestDetail extends RequestView {
  readonly action_key: string;
  /** What the request is about, in one line; empty when nothing short describes it. */
  readonly title: string;
  /** The payload; keyed digests replace secret fields. */
  readonly payload: JsonObject;
  /** The texts of the payload that rules see in another form than sent. */
  readonly resolved: readonly ResolvedText[];
  /** The agent's facts at the time of the request. */
  readonly agent: AgentFacts;
  /** The enforcement point that sent the request; null when the agent sent it itself. */
  readonly point: RequestPoint | null;
  /** The delegations by which the request came, the agent's own first; empty when the agent asked itself. */
  readonly chain: readonly LinkView[];
  /** The person the agent asked for, by the token sent; null when none was sent. */
  readonly on_behalf_of: OnBehalfView | null;
  /** The plan that the request is a step of; null when it belongs to none. */
  readonly plan: PlanPlace | null;
  /** The session as rules read it, set by the agent or its enforcement point; null when none was sent. */
  readonly session: string | null;
  /** SHA-256 of agent, action, payload and the person the agent asks for; approvals are bound to it. */
  readonly digest: string;
  /** People's votes, the earliest first. */
  readonly approvals: readonly Approval[];
  /** What people have said without deciding, the earliest first; never shown to an agent. */
  readonly comments: readonly SaidView[];
  /** The standing approvals under which rules were satisfied, by the decision that counts. */
  readonly standing_approvals: readonly { readonly rule: string; readonly id: string }[];
  /** Who was asked in addition because nobody had decided in time, the earliest first. */
  readonly fallbacks: readonly FallbackView[];
  /** The reminders that were sent to people, the earliest first; never shown to an agent. */
  readonly reminders: readonly ReminderView[];
  /** Step-ups given for this request itself, the earliest first. */
  readonly step_ups: readonly { readonly by: string; readonly passkey: string | null; readonly at: string }[];
  /** What is still asked of people; null when the request does not wait. */
  readonly requires: OpenRequirement | null;
  /** Every rule of the action if it has few; otherwise the rules that took part. */
  readonly trace: readonly TracedRule[];
  /** How many more rules the action has. */
  readonly trace_omitted: number;
  readonly policy_set: { readonly digest: string; readonly commit: string | null };
  readonly created_at: string;
  /** Null while pending. */
  readonly decided_at: string | null;
  /** What the person who reads this may do about the request; null for an agent. */
  readonly allowed_actions: AllowedActions | null;
}

/** An entry of a list of requests. */
export type RequestSummary = RequestView &
  Pick<
    RequestDetail,
    | 'action_key'
    | 'title'
    | 'agent'
    | 'point'
    | 'chain'
    | 'on_behalf_of'
    | 'plan'
    | 'requires'
    | 'created_at'
    | 'decided_at'
  >;

export type UnansweredQuestion = 'yours' | 'others';

interface Approval {
  readonly by: string;
  /** The e-mail address of the person in whose place the vote was given; null when it is the voter's own. */
  readonly stands_in_for: string | null;
  /** The group that the vote was given for; null for a rejection by a person who needs no group. */
  readonly group: string | null;
  readonly is_approved: boolean;
  readonly comment: string;
  readonly at: string;
  /** What later requests the approval serves, by rule; empty when it serves this request only. */
  readonly standing: readonly StandingView[];
  /** The account by which the person voted in a chat; null when they voted in Writ. */
  readonly chat: ChatAccount | null;
  /**
   * Why the vote no longer counts, as words after the name; null when it counts, or when the request does not
   * wait.
   */
  readonly invalid_reason: string | null;
}

export interface FallbackView {
  readonly any_of: readonly ResolvedApprover[];
  readonly at: string;
}

interface ReminderView {
  readonly at: string;
  /** How many people were reminded. */
  readonly people: number;
  readonly ends_at: string;
  /** Whether others are asked at `ends_at`; otherwise the request expires. */
  readonly ends_with_fallback: boolean;
}

interface StandingView {
  readonly rule: string;
  readonly until: string;
  /** Null for any number of times. */
  readonly times: number | null;
}

interface SaidView {
  readonly by: string;
  readonly kind: CommentKind;
  readonly text: string;
  readonly at: string;
  /** The account by which the person commented in a chat; null when they commented in Writ. */
  readonly chat: ChatAccount | null;
}

interface OpenRequirement {
  readonly approvals: readonly GroupProgress[];
  /** Whether the control owner has to step up first. */
  readonly step_up: boolean;
  /** Approvals that were given and no longer count. */
  readonly invalidated: readonly FallenApproval[];
}

interface FallenApproval {
  readonly by: string;
  readonly group: string | null;
  /** The reason, as words after the name. */
  readonly reason: string;
}

/**
 * The reply to the POST that made the request, or that repeats it under the same idempotency key. Its status
 * is always `auto_approved`, `rejected` or `pending`: a request that has ended is a DENY, even if it was
 * granted before.
 */
export function replyView(state: RequestState, nowMs: number): RequestView {
  const view = requestView(state, nowMs);
  switch (view.status) {
    case 'auto_approved':
    case 'pending':
      return view;
    case 'rejected':
      return view;
    case 'approved':
      return { ...view, status: 'auto_approved' };
    case 'expired':
      return { ...view, decision: 'DENY', status: 'rejected', reason: 'The request has expired' };
    case 'consumed':
      return { ...view, decision: 'DENY', status: 'rejected', reason: 'The grant has been used' };
    case 'withdrawn':
      return { ...view, decision: 'DENY', status: 'rejected', reason: 'The agent has withdrawn the request' };
  }
}

/**
 * The reply to a call that may not go on with a request, although that is granted or waits: the policies
 * refuse the call itself.
 */
export function refusedView(
  state: RequestState,
  { reason, matchedPolicy }: Pick<RequestView, 'reason'> & { readonly matchedPolicy: string },
  nowMs: number,
): RequestView {
  return {
    ...replyView(state, nowMs),
    decision: 'DENY',
    status: 'rejected',
    reason,
    matched_policy: matchedPolicy,
    message: `Not permitted: ${sentence(reason)} The earlier grant is not valid for this call.`,
  };
}

export function requestSummary(state: RequestState, nowMs: number): RequestSummary {
  const { record, decidedAtMs } = state;
  const view = requestView(state, nowMs);
  return {
    ...view,
    action_key: record.actionKey,
    title: recordTitle(record),
    agent: record.agent,
    point: record.point ?? null,
    chain: (record.chain ?? []).map((link) => ({ ...link, uses: link.uses ?? null })),
    on_behalf_of: onBehalfView(record),
    plan: record.plan ?? null,
    requires: view.status === 'pending' ? stillAsked(state) : null,
    created_at: timeText(record.createdAtMs),
    decided_at: decidedAtMs === null ? null : timeText(decidedAtMs),
  };
}

/** The request at `nowMs`, with all that its agent may see of it, and what a person may do about it. */
export function requestDetail(
  state: RequestState,
  nowMs: number,
  allowed: AllowedActions | null = null,
): RequestDetail {
  const { record, trace, others, policySet } = state;
  const { agent, point, chain, on_behalf_of, plan, requires, created_at, decided_at, ...view } =
    requestSummary(state, nowMs);
  return {
    ...view,
    payload: record.payload,
    resolved: record.resolved ?? [],
    agent,
    point,
    chain,
    on_behalf_of,
    plan,
    session: record.request.session ?? null,
    digest: requestDigest(record),
    approvals: state.votes.map(approvalView),
    comments: state.comments.map(({ who: by, kind, text, atMs, chat = null }) => ({
      by,
      kind,
      text,
      at: timeText(atMs),
      chat,
    })),
    standing_approvals: Object.entries(state.satisfied.standing ?? {}).map(([rule, id]) => ({ rule, id })),
    fallbacks: state.fallbacks.map(({ anyOf, atMs }) => ({ any_of: anyOf, at: timeText(atMs) })),
    reminders: state.reminders.map(({ atMs, told, endMs, endsWithFallback }) => ({
      at: timeText(atMs),
      people: told.length,
      ends_at: timeText(endMs),
      ends_with_fallback: endsWithFallback,
    })),
    step_ups: state.stepUps.map(({ who: by, passkey, atMs }) => ({ by, passkey, at: timeText(atMs) })),
    requires,
    trace: 'form' in trace ? tracedRules(trace) : trace,
    trace_omitted: others,
    policy_set: policySet,
    created_at,
    decided_at,
    allowed_actions: allowed,
  };
}

function approvalView(vote: RequestState['votes'][number]): Approval {
  const {
    who: by,
    standsInFor,
    group,
    isApproved,
    comment,
    atMs,
    chat = null,
    standing,
    invalidReason,
  } = vote;
  return {
    by,
    stands_in_for: standsInFor?.email ?? null,
    group,
    is_approved: isApproved,
    comment,
    at: timeText(atMs),
    chat,
    standing: (standing?.rules ?? []).map(({ rule, untilMs, times }) => ({
      rule,
      until: timeText(untilMs),
      times,
    })),
    invalid_reason: invalidReason,
  };
}

function onBehalfView({ request: { user }, userUnknown }: RequestRecord): OnBehalfView | null {
  if (user !== undefined) return { user, unknown: null };
  if (userUnknown === undefined) return null;
  return { user: null, unknown: `The token ${userUnknowns[userUnknown]}` };
}

function requestView(state: RequestState, nowMs: number): RequestView {
  const { record, decision, expiresAtMs } = state;
  const status = statusAt(state, nowMs);
  const until = timeText(expiresAtMs);
  const isRefusedByPerson = status === 'rejected' && decision.outcome !== 'DENY';
  return {
    request_id: record.id,
    decision: isRefusedByPerson ? 'DENY' : decision.outcome,
    reason: isRefusedByPerson ? whyNot(state) : decision.reason,
    matched_policy: decision.matchedPolicy,
    risk_score: decision.risk.high,
    status,
    message: status === 'rejected' ? refusalText(state, isRefusedByPerson) : messageFor(status, state, until),
    expires_at: until,
  };
}

/** Why people have not granted a request. */
function whyNot({ record, votes }: RequestState): string {
  const isAsked = record.evaluation?.deniedId !== null || votes.length > 0;
  return isAsked ? 'A person has refused it' : 'It was evaluated without asking people';
}

/** Begins the message of a pending request; what the request waits for follows. */
export const waitingPrefix = 'Wait and look this request up again: ';

/**
 * The message of a refusal. It tells whether asking again can help, since a model that reads about an error
 * tries again.
 */
function refusalText(state: RequestState, isRefusedByPerson: boolean): string {
  const { by, matchedPolicy, reason } = state.decision;
  const meter = isRefusedByPerson ? undefined : missingMeterOf(state);
  const again =
    by === 'invalid_payload'
      ? 'Change the payload before you ask again.'
      : meter !== undefined
        ? meterText(meter)
        : 'This is a decision, not a fault: the same request will be refused again.';
  const who = isRefusedByPerson || gates.has(matchedPolicy) ? '' : ` by policy ${matchedPolicy}`;
  return `Not permitted${who}: ${sentence(isRefusedByPerson ? whyNot(state) : reason)} ${again}`;
}

/**
 * A meter whose past was not known and for which a request was refused: the deciding rule reads it and was
 * unknown, or no rule allowed the request. Undefined when there is none.
 */
function missingMeterOf({ record, decision: { by }, decisions, trace }: RequestState) {
  const missing = Object.entries(record.meters).flatMap(([name, reading]) =>
    'unknown' in reading && isOfPast(reading.unknown) ? [{ name, why: reading.unknown }] : [],
  );
  // The readings are those of the first decision.
  if (missing.length === 0 || decisions.length > 1) return undefined;
  if (by === 'default_deny') return missing[0];
  const rules = 'form' in trace ? tracedRules(trace) : trace;
  const deciding = rules.find(({ rule, truth }) => rule === by && truth === 'unknown');
  return deciding && missing.find(({ name }) => Object.hasOwn(deciding.reads, `meters.${name}`));
}

function isOfPast(why: string): boolean {
  return why === pastNotKnown || why.startsWith(pastMissingUntil);
}

function meterText({ name, why }: { readonly name: string; readonly why: string }): string {
  return why === pastNotKnown
    ? `The service is still reading what the meter ${name} has counted: ask again in a minute.`
    : `Records that the meter ${name} counts are missing: ask again after ${why.slice(pastMissingUntil.length)}.`;
}

/** Words that stand in place of a policy's name when no policy has decided. */
const gates: ReadonlySet<string> = new Set(['default_deny', 'invalid_payload', 'undeclared_action']);

function sentence(text: string): string {
  return /[.!?]$/.test(text) ? text : `${text}.`;
}

function messageFor(status: Exclude<RequestStatus, 'rejected'>, state: RequestState, until: string): string {
  switch (status) {
    case 'auto_approved':
    case 'approved':
      return `Proceed before ${until}.`;
    case 'pending':
      return `${waitingPrefix}${waitText(state, until)}${aboutText(state)}`;
    case 'expired':
      return 'Do not proceed: this request has expired, so make a new one if the action is still wanted.';
    case 'consumed':
      return 'Do not proceed: this grant has been used, so make a new request to act again.';
    case 'withdrawn':
      return 'Do not proceed: this request was withdrawn, so make a new one if the action is still wanted.';
  }
}

/** The title that people read, so that a caller that waits can tell which request the message is about. */
function aboutText({ record: { title } }: RequestState): string {
  return title === undefined ? '' : ` It is about: ${title}.`;
}

/** What the decision that counts asks for, and how many people have given an approval that counts. */
function stillAsked(state: RequestState): OpenRequirement {
  const { decision, votes } = state;
  return {
    approvals: groupProgressOf(state),
    step_up: decision.requires?.reauth != null,
    invalidated: votes.flatMap(({ who: by, group, invalidReason: reason }) =>
      reason === null ? [] : [{ by, group, reason }],
    ),
  };
}

function waitText(state: RequestState, until: string): string {
  const approvals = state.decision.requires?.approvals ?? [];
  if (!isUnanswerable(approvals)) return `${requirementText(stillAsked(state))} before ${until}.`;
  const why = unknownApprovers(approvals).join(', and ');
  return `nobody can approve it, because its approver is not known: ${why}. It expires at ${until}.`;
}

/** What people still have to do, as words; a step-up comes first. */
function requirementText({ approvals, step_up }: OpenRequirement): string {
  const left = approvals.filter(({ needs, given }) => given < needs);
  const list = left.map(({ group, any_of: anyOf, needs, given }) => {
    const missing = needs - given;
    const more = given > 0 ? 'more ' : '';
    return `${missing} ${more}${missing === 1 ? 'approval' : 'approvals'} by ${whomText({ group, ...(anyOf && { anyOf }) }, describeApprovers)}`;
  });
  const needed = list.length > 0 ? `it needs ${joinWords(list)}` : null;
  if (!step_up) return needed ?? 'it needs an approval';
  const stepUp = "a step-up by the agent's control owner is needed";
  return needed === null ? stepUp : `${stepUp}, and then ${needed},`;
}

/** Returns the words for an approval group in a sentence. */
export function describeApprovers(group: string): string {
  return group === controlOwnerGroup ? "the agent's control owner" : group;
}

function joinWords(words: readonly string[]): string {
  return words.length < 2 ? words.join('') : `${words.slice(0, -1).join(', ')} and ${words.at(-1)}`;
}

let lastTime = { ms: 0, text: '1970-01-01T00:00:00.000Z' };

/** Keeps the last text, since the replies to requests of the same millisecond often share their time. */
function timeText(ms: number): string {
  if (ms !== lastTime.ms) lastTime = { ms, text: new Date(ms).toISOString() };
  return lastTime.text;
}
