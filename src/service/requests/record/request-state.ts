// A request's record and all that became of it, folded into its present state: the decision that counts, people's votes,
// who has stepped up. INVARIANT: the record stays as it was made; only what came after it is added.

import type { Decision } from '../../../language/model/decision.ts';
import type { JsonObject } from '../../../language/model/json.ts';
import type { Satisfied } from '../../../language/model/request.ts';
import type { Trace, TracedRule } from '../../../language/model/trace.ts';
import type { CanonicalValue } from '../../store/contract/canonical-json.ts';
import type { LifecycleState, RequestEvent } from '../../store/contract/records.ts';
import type { RequestHistory } from '../../store/contract/store.ts';
import { type ReceiptBasis, type RequestRecord, requestRecord } from './record.ts';
import type { ApprovedRule } from './vote-scope.ts';

/** A person's approval or rejection. */
export interface Vote {
  readonly isApproved: boolean;
  /** The person's id. */
  readonly person: string;
  readonly email: string;
  /** As the record names the person. */
  readonly who: string;
  /** For which it was given; null for a rejection by a person who needs no group. */
  readonly group: string | null;
  readonly comment: string;
  readonly atMs: number;
  /** Of the request that was approved. */
  readonly digest: string;
  /** The rules for which it was given; none for a rejection. */
  readonly rules: readonly ApprovedRule[];
  /** When its giver took it back; null where they did not. */
  readonly takenBackAtMs: number | null;
  /** Why it counts no more, as words after its giver's name; null where it counts, or nobody has looked yet. */
  readonly fellAway: string | null;
}

export interface RequestState extends Pick<LifecycleState, 'status' | 'decidedAtMs' | 'expiresAtMs'> {
  /** As it was decided first. */
  readonly record: RequestRecord;
  /** The latest. */
  readonly decision: Decision;
  /** An event keeps the rules written out. */
  readonly trace: Trace | readonly TracedRule[];
  /** How many more rules the action has, none of which took part. */
  readonly others: number;
  readonly policySet: RequestRecord['policySet'];
  /** Requirements of all decisions, the first included: no wait is longer than any of them allows. */
  readonly decisions: readonly Decision[];
  readonly votes: readonly Vote[];
  /** For this very request. */
  readonly stepUps: readonly SteppedUp[];
  /** What people have said without deciding, the earliest first. */
  readonly said: readonly Said[];
  /** Null while nobody has said. */
  readonly wasExecuted: boolean | null;
  /** What its call has returned; null where that is not known. */
  readonly result: JsonObject | null;
  /** Who has come for the grant, and what for; null while nobody has. */
  readonly taken: TakenDetail | null;
  /** Whether it counts in no meter any more, though it was granted. */
  readonly isReleased: boolean;
  /** How many events there are. */
  readonly seen: number;
}

/** What the policies made of it when they were asked again. */
export interface DecidedDetail {
  readonly decision: Decision;
  readonly trace: readonly TracedRule[];
  /** How many more rules the action has, none of which took part; absent where there are none. */
  readonly others?: number;
  readonly satisfied: Satisfied;
  readonly meters: RequestRecord['meters'];
  readonly rows?: RequestRecord['rows'];
  readonly policySet: RequestRecord['policySet'];
}

/** Who has stepped up, and how. */
export interface SteppedUp {
  /** The person's id. */
  readonly person: string;
  readonly email: string;
  /** The name of the passkey; null for a password and a one-time code. */
  readonly passkey: string | null;
  /** As the record names the person. */
  readonly who: string;
  readonly atMs: number;
}

export const saidKinds = ['comment', 'question', 'answer'] as const;
export type SaidKind = (typeof saidKinds)[number];

/** What somebody has said without deciding. */
export interface Said {
  /** The person's id. */
  readonly person: string;
  readonly email: string;
  /** A question is for the control owner of the agent. */
  readonly kind: SaidKind;
  readonly text: string;
  /** As the record names the person. */
  readonly who: string;
  readonly atMs: number;
}

type VoteDetail = Omit<Vote, 'isApproved' | 'who' | 'atMs' | 'takenBackAtMs' | 'fellAway'>;
type SteppedUpDetail = Omit<SteppedUp, 'who' | 'atMs'>;
type SaidDetail = Omit<Said, 'who' | 'atMs'>;

export function freshState(record: RequestRecord): RequestState {
  const { decision, trace, policySet, status, decidedAtMs, expiresAtMs } = record;
  return {
    record,
    decision,
    trace,
    others: trace.form.others ?? 0,
    policySet,
    status,
    decidedAtMs,
    expiresAtMs,
    decisions: [decision],
    votes: [],
    stepUps: [],
    said: [],
    wasExecuted: null,
    result: null,
    taken: null,
    isReleased: false,
    seen: 0,
  };
}

export function requestStateOf({ row, events }: RequestHistory): RequestState {
  const { status, decidedAtMs, expiresAtMs } = row;
  return withEvents({ ...freshState(requestRecord(row)), status, decidedAtMs, expiresAtMs }, events);
}

/** Whether a question has been asked, and no answer was given since. */
export function waitsForAnswer({ said }: Pick<RequestState, 'said'>): boolean {
  return said.findLast(({ kind }) => kind !== 'comment')?.kind === 'question';
}

/** The state after more has become of the request. */
export function withEvents(state: RequestState, events: readonly RequestChanged[]): RequestState {
  return events.reduce(withEvent, state);
}

function withEvent(state: RequestState, event: RequestChanged): RequestState {
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
      return { ...base, said: [...state.said, { ...detailOf<SaidDetail>(event), ...byWhom(event) }] };
    case 'taken-back':
      return { ...base, votes: state.votes.map((vote) => withoutApproval(vote, event)) };
    case 'decided': {
      const { decision, trace, others = 0, policySet } = detailOf<DecidedDetail>(event);
      return { ...base, decision, trace, others, policySet, decisions: [...state.decisions, decision] };
    }
    case 'consumed': {
      const { executed, result = null } = detailOf<ConsumedDetail>(event);
      return { ...base, wasExecuted: executed, result };
    }
    case 'taken':
      return { ...base, taken: detailOf<TakenDetail>(event) };
    case 'released':
      return { ...base, isReleased: true };
    case 'withdrawn':
    case 'expired':
      return base;
  }
}

/** The agent came for the grant and proceeds. */
export interface TakenDetail {
  /** The agent and its idempotency key, by which it may come again; null where it sent none. */
  readonly taker: string | null;
  /** What a receipt says, where one was asked for then. */
  readonly receipt?: ReceiptBasis;
}

export interface ConsumedDetail {
  readonly executed: boolean;
  /** What the call has returned, of the shape that its action declares; absent where that was not reported. */
  readonly result?: JsonObject;
}

function voteOf(event: RequestChanged): Vote {
  const isApproved = event.what === 'approved';
  return {
    ...detailOf<VoteDetail>(event),
    ...byWhom(event),
    isApproved,
    takenBackAtMs: null,
    fellAway: null,
  };
}

/** What stands after the giver's name where a vote was taken back. */
export const tookBack = 'took it back';

function withoutApproval(vote: Vote, event: RequestChanged): Vote {
  const { person } = detailOf<{ readonly person: string }>(event);
  const isMeant = vote.isApproved && vote.person === person && vote.takenBackAtMs === null;
  return isMeant ? { ...vote, takenBackAtMs: event.atMs, fellAway: tookBack } : vote;
}

function byWhom({ who, atMs }: RequestChanged): Pick<Vote, 'who' | 'atMs'> {
  return { who, atMs };
}

/** The detail of an event, which this part of the service has made itself. */
function detailOf<T>({ detail }: RequestChanged): T {
  return detail as T;
}

/** Something that becomes of a request; of which one, is known. */
export type RequestChanged = Omit<RequestEvent, 'requestId'>;

/** Something that becomes of a request, as a record; `detail` is plain data. */
export function eventOf(
  what: RequestEvent['what'],
  event: Omit<RequestChanged, 'what' | 'detail'>,
  detail: object,
): RequestChanged {
  // What JSON leaves out is left out here, so that the canonical text can be made.
  return { ...event, what, detail: JSON.parse(JSON.stringify(detail)) as CanonicalValue };
}

export function voteEvent(vote: Vote, state: LifecycleState): RequestChanged {
  const { isApproved, who, atMs, takenBackAtMs: _, fellAway: __, ...detail } = vote;
  return eventOf(isApproved ? 'approved' : 'rejected', { who, atMs, state }, detail satisfies VoteDetail);
}

export function lifecycleOf({ status, decidedAtMs, expiresAtMs }: RequestState): LifecycleState {
  return { status, decidedAtMs, expiresAtMs };
}
