// A decided request into the row that a store keeps, and back: all that a replay of the decision needs, and how the
// request stands. INVARIANT: what comes back equals what went in.

import type { Decision } from '../../../language/model/decision.ts';
import type { JsonObject } from '../../../language/model/json.ts';
import type { AgentFacts, PushedRows, RequestFacts, Satisfied } from '../../../language/model/request.ts';
import { shortFields } from '../../../language/model/title.ts';
import type { ResolvedText, Trace } from '../../../language/model/trace.ts';
import { memo } from '../../../language/value/memo.ts';
import type { RequestRow } from '../../store/contract/records.ts';
import type { UserUnknown } from '../../users/on-behalf.ts';
import type { Evaluation } from './evaluation.ts';
import { type KeptTrace, readTrace, traceText } from './trace-text.ts';
import type { EngineVersions } from './versions.ts';

export interface RequestRecord extends Omit<RequestRow, 'outcome' | 'recordJson'>, DecisionRecord {}

/** What never changes about a decided request. */
export interface DecisionRecord {
  /** Secret fields are replaced by keyed digests. */
  readonly payload: JsonObject;
  /** The texts of the payload that rules saw otherwise than they were sent; absent where there are none. */
  readonly resolved?: readonly ResolvedText[];
  /** The agent as it was. */
  readonly agent: AgentFacts;
  readonly request: RequestFacts;
  readonly meters: Readonly<Record<string, RecordedReading>>;
  /** The pushed rows that were read, by table and key; absent where no rule reads one. */
  readonly rows?: PushedRows['given'];
  readonly satisfied: Satisfied;
  readonly decision: Decision;
  readonly trace: Trace;
  readonly policySet: { readonly digest: string; readonly commit: string | null };
  /** Who decided. */
  readonly engine: EngineVersions;
  readonly key: KeyUsed;
  readonly isSigned: boolean;
  readonly clientAddress: string;
  readonly timing: RequestTiming;
  /** Absent where no receipt was asked for. */
  readonly receipt?: ReceiptBasis;
  /** What it is about, as its action says; absent where the action has no title. */
  readonly title?: string;
  /** Absent where the agent asked by itself. */
  readonly point?: RequestPoint;
  /** Why the token that was sent makes nobody known; absent where it does, or none was sent. */
  readonly userUnknown?: UserUnknown;
  /** Absent where it was asked otherwise. */
  readonly evaluation?: Evaluation;
}

/** The enforcement point by which a request came, with its name as it was. */
export interface RequestPoint {
  readonly id: string;
  readonly name: string;
}

/** What a receipt says that the record does not. */
export interface ReceiptBasis {
  /** For whom it is. */
  readonly audience: string;
  /** SHA-256 of the payload as it was sent, under the master key: a secret of few values could be guessed from it. */
  readonly sealedDigest: string;
}

/** The API key that came with the request. */
export interface KeyUsed {
  readonly id: string;
  /** A newer one had been made, and this one had an end. */
  readonly isReplaced: boolean;
}

/** Both ends of a meter's reading as decimal text, or why there is none. */
export type RecordedReading = { readonly low: string; readonly high: string } | { readonly unknown: string };

interface RequestTiming {
  /** The decision with its trace. */
  readonly decideMicroseconds: number;
}

/** What the request is about, in one line; empty where nothing short says so. */
export function recordTitle({ title, payload }: Pick<DecisionRecord, 'title' | 'payload'>): string {
  return title ?? shortFields(payload);
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

/** Parts that many records have in common, as the very same object, which nobody changes. */
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
  | 'userUnknown'
  | 'evaluation'
  | (typeof sharedParts)[number]
>;

/** As JSON, with the trace in its short form; shared parts are written once. */
function recordJson(record: DecisionRecord): string {
  const { payload, request, decision, trace, key, isSigned, clientAddress, timing } = record;
  const own: OwnParts = { payload, request, key, isSigned, clientAddress, timing };
  let text = `${JSON.stringify(own).slice(0, -1)},"trace":${traceText(trace)}`;
  if (record.resolved !== undefined) text += `,"resolved":${JSON.stringify(record.resolved)}`;
  if (record.rows !== undefined) text += `,"rows":${JSON.stringify(record.rows)}`;
  if (record.title !== undefined) text += `,"title":${JSON.stringify(record.title)}`;
  if (record.receipt !== undefined) text += `,"receipt":${JSON.stringify(record.receipt)}`;
  if (record.point !== undefined) text += `,"point":${JSON.stringify(record.point)}`;
  if (record.userUnknown !== undefined) text += `,"userUnknown":${JSON.stringify(record.userUnknown)}`;
  if (record.evaluation !== undefined) text += `,"evaluation":${JSON.stringify(record.evaluation)}`;
  // One that shows values is of this request alone; others are frozen, and many requests come to them.
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

/** The record in a text that `requestRow` has made. */
export function decisionRecord(recordJson: string): DecisionRecord {
  const kept = JSON.parse(recordJson) as Omit<DecisionRecord, 'trace'> & { readonly trace: KeptTrace };
  return { ...kept, trace: readTrace(kept.trace) };
}
