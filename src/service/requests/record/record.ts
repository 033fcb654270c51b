// Converts a decided request to its stored row, and back: everything that a replay of the decision needs, and
// the request's state. INVARIANT: reading a row returns an equal record.

import type { Decision } from '../../../language/model/decision.ts';
import type { DelegationLink } from '../../../language/model/delegation.ts';
import type { JsonObject } from '../../../language/model/json.ts';
import type {
  AgentFacts,
  MetRequirements,
  PushedRows,
  RequestFacts,
} from '../../../language/model/request.ts';
import { shortFields } from '../../../language/model/title.ts';
import type { ResolvedText, Trace } from '../../../language/model/trace.ts';
import { memo } from '../../../language/value/memo.ts';
import type { RequestRow } from '../../store/contract/records.ts';
import type { UserUnknown } from '../../users/on-behalf.ts';
import type { EngineVersions } from './engine-versions.ts';
import type { Evaluation } from './evaluation.ts';
import type { PlanPlace } from './plan-place.ts';
import { readTrace, type StoredTrace, traceText } from './stored-trace.ts';

export interface RequestRecord extends Omit<RequestRow, 'outcome' | 'recordJson'>, DecisionRecord {}

/** What never changes about a decided request. */
export interface DecisionRecord {
  /** The payload; keyed digests replace secret fields. */
  readonly payload: JsonObject;
  /** The texts of the payload that rules saw in another form than sent; absent when there are none. */
  readonly resolved?: readonly ResolvedText[];
  /** The agent's facts at the time of the decision. */
  readonly agent: AgentFacts;
  readonly request: RequestFacts;
  readonly meters: Readonly<Record<string, RecordedReading>>;
  /** The pushed rows that were read, by table and key; absent when no rule reads one. */
  readonly rows?: PushedRows['given'];
  readonly satisfied: MetRequirements;
  readonly decision: Decision;
  readonly trace: Trace;
  readonly policySet: { readonly digest: string; readonly commit: string | null };
  /** Versions of the program and the data that decided. */
  readonly engine: EngineVersions;
  readonly key: UsedKey;
  readonly isSigned: boolean;
  readonly clientAddress: string;
  readonly timing: RequestTiming;
  /** What a receipt is made from; absent when no receipt was asked for. */
  readonly receipt?: ReceiptBasis;
  /** What the request is about, by the action's title; absent when the action has none. */
  readonly title?: string;
  /** The enforcement point that sent the request; absent when the agent sent it itself. */
  readonly point?: RequestPoint;
  /** The delegations by which the request came, the agent's own first; absent when the agent asked itself. */
  readonly chain?: readonly RecordedLink[];
  /** The workload whose token identified the agent; absent when a key did. */
  readonly workload?: RecordedWorkload;
  /** Why the sent token does not identify a person; absent when it does, or when none was sent. */
  readonly userUnknown?: UserUnknown;
  /** The AuthZEN evaluation or access request that this record is for; absent for other requests. */
  readonly evaluation?: Evaluation;
  /** The plan that the request is a step of; absent for other requests. */
  readonly plan?: PlanPlace;
  /** Who gave the standing approvals that the request uses, who may therefore see it; absent when it uses none. */
  readonly givers?: readonly StandingGiver[];
}

export interface StandingGiver {
  /** `policy/rule`. */
  readonly rule: string;
  /** The id of the person. */
  readonly person: string;
}

/** The enforcement point that sent a request, with its name at that time. */
export interface RequestPoint {
  readonly id: string;
  readonly name: string;
}

/** Issuer and subject of the token that identified an agent. */
export interface RecordedWorkload {
  readonly issuer: string;
  readonly subject: string;
}

/** A delegation as it was when the request came. */
export interface RecordedLink extends DelegationLink {
  readonly id: string;
  /** How many requests may come by it; absent for any number. */
  readonly uses?: number;
}

/** What a receipt states beyond the rest of the record. */
export interface ReceiptBasis {
  /** The tool that the receipt is for. */
  readonly audience: string;
  /**
   * SHA-256 of the payload as sent, sealed with the master key, since a secret with few possible values could
   * be guessed from a plain digest.
   */
  readonly sealedDigest: string;
}

/** The API key that came with the request. */
export interface UsedKey {
  readonly id: string;
  /** The agent already had a newer key, and this key was due to expire. */
  readonly isReplaced: boolean;
}

/** Why a meter has no reading while the service reads what it has counted. */
export const pastNotKnown = 'its history is unknown';

/** Begins why a meter has no reading while records that it counts are missing; the end of that time follows. */
export const pastMissingUntil = 'its history is incomplete until ';

/** Both ends of a meter's reading as decimal text, or why the reading is unknown. */
export type RecordedReading = { readonly low: string; readonly high: string } | { readonly unknown: string };

interface RequestTiming {
  /** Microseconds that the decision took, including its trace. */
  readonly decideMicroseconds: number;
}

/** Returns what the request is about, in one line; empty when nothing short describes it. */
export function recordTitle({
  title,
  payload,
  resolved,
}: Pick<DecisionRecord, 'title' | 'payload' | 'resolved'>): string {
  return title ?? shortFields(payload, resolved);
}

export function requestRow(record: RequestRecord): RequestRow {
  const { id, agentId, actionKey, createdAtMs, idempotency, status, decidedAtMs, expiresAtMs } = record;
  return {
    id,
    agentId,
    actionKey,
    outcome: record.decision.outcome,
    createdAtMs,
    idempotency,
    status,
    decidedAtMs,
    expiresAtMs,
    recordJson: recordJson(record),
  };
}

/** Parts that many records share as the same object, which is never changed. */
const sharedParts = ['agent', 'meters', 'satisfied', 'policySet', 'engine'] as const;
type OwnParts = Omit<
  DecisionRecord,
  | 'decision'
  | 'trace'
  | 'resolved'
  | 'rows'
  | 'title'
  | 'receipt'
  | 'point'
  | 'chain'
  | 'workload'
  | 'userUnknown'
  | 'evaluation'
  | 'plan'
  | 'givers'
  | (typeof sharedParts)[number]
>;

/**
 * A record as JSON, with the trace in its short form. The text of shared parts is made once and used again.
 */
function recordJson(record: DecisionRecord): string {
  const { payload, request, decision, trace, key, isSigned, clientAddress, timing } = record;
  const parts: OwnParts = { payload, request, key, isSigned, clientAddress, timing };
  let text = `${JSON.stringify(parts).slice(0, -1)},"trace":${traceText(trace)}`;
  if (record.resolved !== undefined) text += `,"resolved":${JSON.stringify(record.resolved)}`;
  if (record.rows !== undefined) text += `,"rows":${JSON.stringify(record.rows)}`;
  if (record.title !== undefined) text += `,"title":${JSON.stringify(record.title)}`;
  if (record.receipt !== undefined) text += `,"receipt":${JSON.stringify(record.receipt)}`;
  if (record.point !== undefined) text += `,"point":${JSON.stringify(record.point)}`;
  if (record.chain !== undefined) text += `,"chain":${sharedText(record.chain)}`;
  if (record.workload !== undefined) text += `,"workload":${JSON.stringify(record.workload)}`;
  if (record.userUnknown !== undefined) text += `,"userUnknown":${JSON.stringify(record.userUnknown)}`;
  if (record.evaluation !== undefined) text += `,"evaluation":${JSON.stringify(record.evaluation)}`;
  if (record.plan !== undefined) text += `,"plan":${JSON.stringify(record.plan)}`;
  if (record.givers !== undefined) text += `,"givers":${JSON.stringify(record.givers)}`;
  // A decision that shows values belongs to one request alone; other decisions are frozen and shared by many
  // requests.
  text += `,"decision":${Object.isFrozen(decision) ? sharedText(decision) : JSON.stringify(decision)}`;
  for (const name of sharedParts) text += `,"${name}":${sharedText(record[name])}`;
  return `${text}}`;
}

const sharedTexts = new WeakMap<object, string>();

function sharedText(part: object): string {
  return memo(sharedTexts, part, JSON.stringify);
}

export function requestRecord({ outcome: _, recordJson, ...row }: RequestRow): RequestRecord {
  return { ...decisionRecord(recordJson), ...row };
}

/** Parses the JSON of a record from `requestRow`. */
export function decisionRecord(recordJson: string): DecisionRecord {
  const stored = JSON.parse(recordJson) as Omit<DecisionRecord, 'trace'> & { readonly trace: StoredTrace };
  return { ...stored, trace: readTrace(stored.trace) };
}
