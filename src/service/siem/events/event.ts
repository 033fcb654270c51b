// Turns a record of the chain into an event in neutral words, from which each format is made. INVARIANT: every record
// becomes an event: one that cannot be read becomes an event that says so. An event holds no value of a payload except
// for fields that were allowed, and neither comments nor reasons, which may quote one.

import type { JsonObject } from '../../../language/model/json.ts';
import { timeOf } from '../../audit/export.ts';
import { decisionRecord } from '../../requests/record/record.ts';
import type { CanonicalValue } from '../../store/contract/canonical-json.ts';
import type { ChainEntry, ChainRecord } from '../../store/contract/chain.ts';
import { followedBy, laneOf } from '../../store/contract/lanes.ts';
import { familyOf } from './change-families.ts';
import type { AllowedFields } from './payload-fields.ts';

interface EventPlace {
  /** The number of the record: the order of events, and the key by which a receiver finds duplicates. */
  readonly sequence: number;
  /** Unlike the number, it also differs after the records were restored from a copy. */
  readonly uid: string;
  readonly lane: number;
  /** The number of the record before in the lane; null for a gap. */
  readonly follows: number | null;
  readonly atMs: number;
}

/** A request that the policies have decided. */
export interface DecisionEvent extends EventPlace {
  readonly kind: 'decision';
  readonly requestId: string;
  readonly agentId: string;
  readonly agentName: string;
  readonly action: string;
  readonly outcome: string;
  readonly status: string;
  readonly policy: string;
  readonly rule: string;
  readonly policySet: string;
  readonly risk: number;
  readonly keyId: string;
  readonly isSigned: boolean;
  readonly clientAddress: string;
  /** What the agent has called its session; null when it has not. */
  readonly session: string | null;
  /** The name of the enforcement point that asked; null when the agent asked itself. */
  readonly point: string | null;
  /** The person on whose behalf the agent asked; null when not known. */
  readonly user: { readonly id: string | null; readonly email: string | null } | null;
  readonly payload: AllowedFields;
}

/** A request that was refused before the policies decided it. */
export interface RefusalEvent extends EventPlace {
  readonly kind: 'refusal';
  readonly refusalId: string;
  readonly agentId: string;
  readonly keyId: string;
  readonly httpStatus: number;
  readonly code: string;
  readonly detail: string;
  readonly clientAddress: string;
}

/** What happened to a request later, such as a vote. */
export interface RequestChangeEvent extends EventPlace {
  readonly kind: 'request-change';
  readonly requestId: string;
  readonly what: string;
  readonly who: string;
  /** The status of the request from now on. */
  readonly status: string;
  /** The approval group of a vote; null for anything else. */
  readonly group: string | null;
  /** Whether the agent has acted; null for anything but a report. */
  readonly wasExecuted: boolean | null;
  /** The decision that counts from now on; null when it is unchanged. */
  readonly decision: Pick<DecisionEvent, 'outcome' | 'policy' | 'rule'> | null;
}

/** A change of management. */
export interface ChangeEvent extends EventPlace {
  readonly kind: 'change';
  readonly what: string;
  readonly who: string;
  readonly subject: string;
  /** Null also for kinds of change that may hold values of payloads. */
  readonly before: CanonicalValue;
  readonly after: CanonicalValue;
}

/** Ties the lanes of the chain together. */
export interface KnotEvent extends EventPlace {
  readonly kind: 'knot';
}

/** Records that the receiver does not get. */
export interface GapEvent extends EventPlace {
  readonly kind: 'gap';
  readonly firstSequence: number;
  readonly because: 'deleted' | 'skipped';
}

/** A record that somebody has changed so that it cannot be read. */
export interface UnreadableEvent extends EventPlace {
  readonly kind: 'unreadable';
}

export type SiemEvent =
  | DecisionEvent
  | RefusalEvent
  | RequestChangeEvent
  | ChangeEvent
  | KnotEvent
  | GapEvent
  | UnreadableEvent;

/** Picks the payload fields of an action that may be sent. */
export type PickFields = (action: string, payload: JsonObject) => AllowedFields;

export function eventOf(record: ChainRecord, pickFields: PickFields): SiemEvent {
  try {
    return readEvent(record, pickFields);
  } catch {
    return { kind: 'unreadable', ...placeOf(record) };
  }
}

/** A gap from `firstSequence` to the number of the last missing record. */
export function gapEvent(gap: Pick<GapEvent, 'firstSequence' | 'sequence' | 'because' | 'atMs'>): GapEvent {
  const { firstSequence, sequence, because } = gap;
  return { kind: 'gap', ...gap, uid: `${because}-${firstSequence}-${sequence}`, lane: 0, follows: null };
}

const dateMsMax = 8.64e15;

function placeOf({ entry, hash }: ChainRecord): EventPlace {
  const atMs = timeOf(entry);
  return {
    sequence: entry.sequence,
    uid: hash,
    lane: laneOf(entry),
    follows: followedBy(entry),
    // A time that no date has is that of a record which was changed.
    atMs: atMs >= 0 && atMs <= dateMsMax ? Math.trunc(atMs) : 0,
  };
}

function readEvent(record: ChainRecord, pickFields: PickFields): SiemEvent {
  const place = placeOf(record);
  const { entry } = record;
  switch (entry.kind) {
    case 'request':
      return { ...place, ...readDecision(entry, pickFields) };
    case 'refusal':
      return { ...place, ...readRefusal(entry) };
    case 'event':
      return { ...place, ...readRequestChange(entry) };
    case 'change':
      return { ...place, ...readChange(entry) };
    case 'knot':
      return { ...place, kind: 'knot' };
  }
}

function readDecision(entry: ChainEntry, pickFields: PickFields): Omit<DecisionEvent, keyof EventPlace> {
  const { decision, agent, request, policySet, key, isSigned, clientAddress, point, payload } =
    decisionRecord(textOf(entry, 'record_json'));
  const action = textOf(entry, 'action_key');
  return {
    kind: 'decision',
    requestId: textOf(entry, 'id'),
    agentId: textOf(entry, 'agent_id'),
    agentName: agent.name ?? '',
    action,
    outcome: decision.outcome,
    status: textOf(entry, 'status'),
    policy: decision.matchedPolicy,
    rule: decision.by,
    policySet: policySet.digest,
    risk: decision.risk.high,
    keyId: key.id,
    isSigned,
    clientAddress,
    session: request.session ?? null,
    point: point?.name ?? null,
    user:
      request.user === undefined ? null : { id: request.user.id ?? null, email: request.user.email ?? null },
    payload: pickFields(action, payload),
  };
}

function readRefusal(entry: ChainEntry): Omit<RefusalEvent, keyof EventPlace> {
  return {
    kind: 'refusal',
    refusalId: textOf(entry, 'id'),
    agentId: textOf(entry, 'agent_id'),
    keyId: textOf(entry, 'key_id'),
    httpStatus: Number(entry.http_status),
    code: textOf(entry, 'code'),
    detail: textOf(entry, 'detail'),
    clientAddress: textOf(entry, 'client_address'),
  };
}

/** The parts of an event's detail that are sent. */
interface SentDetail {
  readonly group?: string | null;
  readonly executed?: boolean;
  readonly decision?: { readonly outcome: string; readonly matchedPolicy: string; readonly by: string };
}

function readRequestChange(entry: ChainEntry): Omit<RequestChangeEvent, keyof EventPlace> {
  const what = textOf(entry, 'what');
  const { group, executed, decision } = (jsonOf(entry, 'detail_json') ?? {}) as SentDetail;
  const isDecided = (what === 'decided' || what === 'fallback-asked') && decision !== undefined;
  return {
    kind: 'request-change',
    requestId: textOf(entry, 'request_id'),
    what,
    who: textOf(entry, 'who'),
    status: textOf(entry, 'status'),
    group: group ?? null,
    wasExecuted: executed ?? null,
    decision: isDecided
      ? { outcome: decision.outcome, policy: decision.matchedPolicy, rule: decision.by }
      : null,
  };
}

function readChange(entry: ChainEntry): Omit<ChangeEvent, keyof EventPlace> {
  const what = textOf(entry, 'what');
  const { isContentSent } = familyOf(what);
  return {
    kind: 'change',
    what,
    who: textOf(entry, 'who'),
    subject: textOf(entry, 'subject'),
    before: isContentSent ? jsonOf(entry, 'before_json') : null,
    after: isContentSent ? jsonOf(entry, 'after_json') : null,
  };
}

function textOf(entry: ChainEntry, column: string): string {
  const value = entry[column];
  if (typeof value !== 'string') throw new Error(`no text in ${column}`);
  return value;
}

function jsonOf(entry: ChainEntry, column: string): CanonicalValue {
  const value = entry[column] ?? null;
  return value === null ? null : (JSON.parse(String(value)) as CanonicalValue);
}

/** What happened, as one word for rules of a SIEM: `decision`, `refusal`, `request.approved`, `agent-revoked`. */
export function codeOf(event: SiemEvent): string {
  switch (event.kind) {
    case 'decision':
    case 'refusal':
    case 'knot':
    case 'gap':
    case 'unreadable':
      return event.kind;
    case 'request-change':
      return `request.${event.what}`;
    case 'change':
      return event.what;
  }
}

/** One line for people. */
export function messageOf(event: SiemEvent): string {
  switch (event.kind) {
    case 'decision':
      return `${event.outcome} ${event.action} for ${event.agentName} by ${event.rule}`;
    case 'refusal':
      return `A request was refused with ${event.code}`;
    case 'request-change':
      return `Request ${event.requestId} ${event.what} by ${event.who}, now ${event.status}`;
    case 'change':
      return `${event.what} by ${event.who}`;
    case 'knot':
      return 'The lanes of the records were tied together';
    case 'gap':
      return `Records ${event.firstSequence} to ${event.sequence} were ${event.because === 'deleted' ? 'deleted before they were sent' : 'skipped by the setting siem.skip'}`;
    case 'unreadable':
      return `Record ${event.sequence} cannot be read: it was changed outside the service`;
  }
}

export type Severity = 'informational' | 'low' | 'medium' | 'high';

/** Changes of management that people who watch should look at. */
const notable: ReadonlySet<string> = new Set([
  ...['kill-switch-created', 'agent-revoked', 'policies-rolled-back', 'alert-began', 'factors-reset'],
  ...['records-pruned', 'state-accepted', 'store-moved', 'store-restored', 'receipt-keys-rotated'],
]);

export function severityOf(event: SiemEvent): Severity {
  switch (event.kind) {
    case 'decision':
      return event.outcome === 'ALLOW' ? 'informational' : event.outcome === 'DENY' ? 'medium' : 'low';
    case 'refusal':
      return 'low';
    case 'request-change':
      return event.what === 'rejected' ? 'low' : 'informational';
    case 'change':
      return notable.has(event.what) ? 'medium' : 'informational';
    case 'knot':
      return 'informational';
    case 'gap':
    case 'unreadable':
      return 'high';
  }
}
