// A request's record and all events after it, folded into its present state: the decision that counts,
// people's votes, and step-ups. INVARIANT: the record stays as it was made; what came after it is only added.

import type { Decision, ResolvedFallback } from '../../../language/model/decision.ts';
import type { JsonObject } from '../../../language/model/json.ts';
import type { MetRequirements } from '../../../language/model/request.ts';
import type { PersonIdentity } from '../../../language/model/rule-requirement.ts';
import type { Trace, TracedRule } from '../../../language/model/trace.ts';
import type { ActingChain } from '../../agents/delegations/delegation.ts';
import type { ActingPoint } from '../../agents/points/point.ts';
import type { CanonicalValue } from '../../store/contract/canonical-json.ts';
import type { ChatAccount } from '../../store/contract/chat-account.ts';
import type { AgentRow, LifecycleState, RequestEvent } from '../../store/contract/records.ts';
import type { RequestHistory } from '../../store/contract/store.ts';
import { type ReceiptBasis, type RequestRecord, requestRecord } from './record.ts';
import type { ApprovedRule, VoterRights } from './vote-scope.ts';

/** A person's approval or rejection. */
export interface Vote {
  readonly isApproved: boolean;
  /** The person's id. */
  readonly person: string;
  readonly email: string;
  /** The person's name in the record. */
  readonly who: string;
  /** The person in whose place the vote was given, by their stand-in; absent when it is the voter's own. */
  readonly standsInFor?: PersonIdentity;
  /** The group that the vote was given for; null for a rejection by a person who needs no group. */
  readonly group: string | null;
  readonly comment: string;
  readonly atMs: number;
  /** Digest of the request that was voted on. */
  readonly digest: string;
  /** The rules that the vote was given for; empty for a rejection. */
  readonly rules: readonly ApprovedRule[];
  /** What later requests the approval serves; absent when it serves this request only. */
  readonly standing?: StandingVote;
  /** The account by which the person voted in a chat; absent when they voted in Writ. */
  readonly chat?: ChatAccount;
  /** When the person took the vote back; null when they have not. */
  readonly takenBackAtMs: number | null;
  /**
   * Why the vote no longer counts, as words after the person's name; null when it counts, or has not been
   * judged yet.
   */
  readonly invalidReason: string | null;
  /** What the person may answer for now; absent until the vote has been judged. */
  readonly voterRights?: VoterRights;
}

/** What later requests an approval serves, as its giver chose. */
export interface StandingVote {
  /** The version of the agent at the time of the vote. */
  readonly agentVersion: number;
  readonly rules: readonly StandingVoteRule[];
}

export interface StandingVoteRule {
  readonly rule: string;
  /** The keys of the rule, sorted. */
  readonly per: readonly string[];
  readonly untilMs: number;
  /** Null for any number of times. */
  readonly times: number | null;
}

export interface RequestState extends Pick<LifecycleState, 'status' | 'decidedAtMs' | 'expiresAtMs'> {
  /** The request as first decided. */
  readonly record: RequestRecord;
  /** The latest decision. */
  readonly decision: Decision;
  /** The rules that people had satisfied when the latest decision was made. */
  readonly satisfied: MetRequirements;
  /** The trace of the latest decision; traces that come from an event list the rules in full. */
  readonly trace: Trace | readonly TracedRule[];
  /** How many more rules the action has, none of which took part. */
  readonly others: number;
  readonly policySet: RequestRecord['policySet'];
  /** All decisions, the first included: no wait is longer than any of them allows. */
  readonly decisions: readonly Decision[];
  readonly votes: readonly Vote[];
  /** The fallbacks that have been asked, the earliest first. */
  readonly fallbacks: readonly AskedFallback[];
  /** The reminders that were sent, the earliest first. */
  readonly reminders: readonly Reminder[];
  /** Step-ups given for this request itself. */
  readonly stepUps: readonly SteppedUp[];
  /** What people have said without deciding, the earliest first. */
  readonly comments: readonly RequestComment[];
  /** Whether the grant was used; null before a report. */
  readonly wasExecuted: boolean | null;
  /** The result of the call; null when it is not known. */
  readonly result: JsonObject | null;
  /** The id of the report of the outcome; null when it had none, or there is none. */
  readonly reportId: string | null;
  /** Who has taken the grant, when, and the receipt then asked for; null when nobody has. */
  readonly taken: (TakenDetail & { readonly atMs: number }) | null;
  /** Whether the request was granted but no longer counts in any meter. */
  readonly isReleased: boolean;
  /** How many events the request has. */
  readonly seen: number;
}

/** The decision made when the policies decided the request again. */
export interface DecidedDetail {
  readonly decision: Decision;
  readonly trace: readonly TracedRule[];
  /** How many more rules the action has, none of which took part; absent when there are none. */
  readonly others?: number;
  readonly satisfied: MetRequirements;
  readonly meters: RequestRecord['meters'];
  readonly rows?: RequestRecord['rows'];
  readonly policySet: RequestRecord['policySet'];
}

/** A step-up: who gave it, and how. */
export interface SteppedUp {
  /** The person's id. */
  readonly person: string;
  readonly email: string;
  /** The name of the passkey; null for a password and a one-time code. */
  readonly passkey: string | null;
  /** The person's name in the record. */
  readonly who: string;
  readonly atMs: number;
}

export const commentKinds = ['comment', 'question', 'answer'] as const;
export type CommentKind = (typeof commentKinds)[number];

/** What a person has said without deciding. */
export interface RequestComment {
  /** The person's id. */
  readonly person: string;
  readonly email: string;
  /** A question is for the control owner of the agent. */
  readonly kind: CommentKind;
  readonly text: string;
  /** The account by which the person commented in a chat; absent when they commented in Writ. */
  readonly chat?: ChatAccount;
  /** The person's name in the record. */
  readonly who: string;
  readonly atMs: number;
}

type VoteDetail = Omit<
  Vote,
  'isApproved' | 'who' | 'atMs' | 'takenBackAtMs' | 'invalidReason' | 'voterRights'
>;
type SteppedUpDetail = Omit<SteppedUp, 'who' | 'atMs'>;
type SaidDetail = Omit<RequestComment, 'who' | 'atMs'>;

export function freshState(record: RequestRecord): RequestState {
  const { decision, satisfied, trace, policySet, status, decidedAtMs, expiresAtMs } = record;
  return {
    record,
    decision,
    satisfied,
    trace,
    others: trace.form.others ?? 0,
    policySet,
    status,
    decidedAtMs,
    expiresAtMs,
    decisions: [decision],
    votes: [],
    fallbacks: [],
    reminders: [],
    stepUps: [],
    comments: [],
    wasExecuted: null,
    result: null,
    reportId: null,
    taken: null,
    isReleased: false,
    seen: 0,
  };
}

export function requestStateOf({ row, events }: RequestHistory): RequestState {
  const { status, decidedAtMs, expiresAtMs } = row;
  return withEvents({ ...freshState(requestRecord(row)), status, decidedAtMs, expiresAtMs }, events);
}

/** Whether the latest question has not been answered yet. */
export function hasUnansweredQuestion({ comments }: Pick<RequestState, 'comments'>): boolean {
  return comments.findLast(({ kind }) => kind !== 'comment')?.kind === 'question';
}

/** Returns the state after further events. */
export function withEvents(state: RequestState, events: readonly RequestChange[]): RequestState {
  return events.reduce(withEvent, state);
}

function withEvent(state: RequestState, event: RequestChange): RequestState {
  const base = { ...state, ...event.state, seen: state.seen + 1 };
  switch (event.what) {
    case 'approved':
    case 'rejected':
      return { ...base, votes: [...state.votes, voteOf(event)] };
    case 'stepped-up':
      return {
        ...base,
        stepUps: [...state.stepUps, { ...detailOf<SteppedUpDetail>(event), ...byWhom(event) }],
      };
    case 'commented':
      return { ...base, comments: [...state.comments, { ...detailOf<SaidDetail>(event), ...byWhom(event) }] };
    case 'taken-back':
      return { ...base, votes: state.votes.map((vote) => withoutApproval(vote, event)) };
    case 'decided': {
      const { decision, satisfied, trace, others = 0, policySet } = detailOf<DecidedDetail>(event);
      const decisions = [...state.decisions, decision];
      return { ...base, decision, satisfied, trace, others, policySet, decisions };
    }
    case 'fallback-asked': {
      const { decision, ...asked } = detailOf<FallbackDetail>(event);
      const fallbacks = [...state.fallbacks, { ...asked, atMs: event.atMs }];
      return { ...base, decision, fallbacks, decisions: [...state.decisions, decision] };
    }
    case 'reminded': {
      const reminder = { ...detailOf<ReminderDetail>(event), atMs: event.atMs };
      return { ...base, reminders: [...state.reminders, reminder] };
    }
    case 'consumed': {
      const { executed, result = null, reportId = null } = detailOf<ConsumedDetail>(event);
      return { ...base, wasExecuted: executed, result, reportId };
    }
    case 'taken':
      return { ...base, taken: { ...detailOf<TakenDetail>(event), atMs: event.atMs } };
    case 'released':
      return { ...base, isReleased: true };
    case 'withdrawn':
    case 'expired':
      return base;
  }
}

/** Approvers who may approve as well, since a request was pending for so long. */
export interface AskedFallback extends ResolvedFallback {
  readonly atMs: number;
}

export interface FallbackDetail extends ResolvedFallback {
  /** The decision that counts, with whom it asks from now on. */
  readonly decision: Decision;
}

/** People were reminded that the request is pending. */
export interface ReminderDetail extends RemindedGroup {
  /** In which of the times that people are asked: 0 at first, one more with each fallback. */
  readonly askingTime: number;
  /** When that time ends; milliseconds since 1970-01-01T00:00Z. */
  readonly endMs: number;
  /** Whether others are asked then; otherwise the request expires. */
  readonly endsWithFallback: boolean;
  /** The ids of the people who were reminded. */
  readonly told: readonly string[];
}

export interface Reminder extends ReminderDetail {
  readonly atMs: number;
}

/** Who is reminded together. */
export interface RemindedGroup {
  readonly groups: readonly string[];
  /** Addresses and ids of people who are asked by name. */
  readonly people: readonly string[];
  readonly asksStepUp: boolean;
}

/** The agent took the grant and proceeds. */
export interface TakenDetail {
  /**
   * The agent and its idempotency key, by which a repeated call finds its grant again; null when the call had
   * no key.
   */
  readonly taker: string | null;
  /** The call that took the grant, by the facts of its own that rules read, and what allowed it. */
  readonly call: ConsumingCall;
  /** What a receipt is made from, if one was asked for when the grant was taken. */
  readonly receipt?: ReceiptBasis;
}

export interface ConsumingCall extends Pick<RequestRecord, 'request' | 'meters' | 'rows' | 'satisfied'> {
  readonly keyId: string;
  readonly decision: Decision;
  /** Digest of the policy set that allowed the call. */
  readonly policySet: string;
}

export interface ConsumedDetail {
  readonly executed: boolean;
  /** The result of the call, in the shape that its action declares; absent when none was reported. */
  readonly result?: JsonObject;
  /** The id that the reporter gave the report; absent when it gave none. */
  readonly reportId?: string;
}

function voteOf(event: RequestChange): Vote {
  const isApproved = event.what === 'approved';
  return {
    ...detailOf<VoteDetail>(event),
    ...byWhom(event),
    isApproved,
    takenBackAtMs: null,
    invalidReason: null,
  };
}

/** The words after the person's name when a vote was taken back. */
export const revokedText = 'revoked it';

function withoutApproval(vote: Vote, event: RequestChange): Vote {
  const { person } = detailOf<{ readonly person: string }>(event);
  const isMeant = vote.isApproved && vote.person === person && vote.takenBackAtMs === null;
  return isMeant ? { ...vote, takenBackAtMs: event.atMs, invalidReason: revokedText } : vote;
}

function byWhom({ who, atMs }: RequestChange): Pick<Vote, 'who' | 'atMs'> {
  return { who, atMs };
}

/** The detail of an event; only this part of the service makes events, so its type is known. */
function detailOf<T>({ detail }: RequestChange): T {
  return detail as T;
}

/** An event of a request, without the request's id. */
export type RequestChange = Omit<RequestEvent, 'requestId'>;

/** Returns an event of a request as it is recorded; `detail` is plain data. */
export function eventOf(
  what: RequestEvent['what'],
  event: Omit<RequestChange, 'what' | 'detail'>,
  detail: object,
): RequestChange {
  // Drops what JSON leaves out, since the canonical text cannot be made of it.
  return { ...event, what, detail: JSON.parse(JSON.stringify(detail)) as CanonicalValue };
}

export function voteEvent(vote: Vote, state: LifecycleState): RequestChange {
  const { isApproved, who, atMs, takenBackAtMs: _, invalidReason: __, voterRights: ___, ...detail } = vote;
  return eventOf(isApproved ? 'approved' : 'rejected', { who, atMs, state }, detail satisfies VoteDetail);
}

export function lifecycleOf({ status, decidedAtMs, expiresAtMs }: RequestState): LifecycleState {
  return { status, decidedAtMs, expiresAtMs };
}

/** The caller that a key belongs to: an agent, or an enforcement point that acts for it. */
export interface AgentCaller {
  readonly agent: AgentRow;
  readonly point?: ActingPoint;
  readonly chain?: ActingChain;
}

/** Whether the request is this caller's own, or that of a sub-agent that the caller answers for. */
export function isOwnRequest(
  { agent, point, chain }: AgentCaller,
  { agentId, point: by, chain: via }: Pick<RequestRecord, 'agentId' | 'point' | 'chain'>,
): boolean {
  if (agent.id !== agentId || point?.id !== by?.id) return false;
  return chain === undefined || isSameChain(chain, via);
}

/** Whether both are the same chain, or both the agent itself. */
export function isSameChain(chain: ActingChain | undefined, recorded: RequestRecord['chain']): boolean {
  return chain?.links.at(-1)?.id === recorded?.at(-1)?.id;
}
