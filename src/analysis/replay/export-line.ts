// Recognises a line of an export of requests: a record of the chain, as `writ audit export` writes it, or a
// request as the list of requests is exported. Only this file tells the two forms apart.

import type { JsonLimits } from '../../language/json/read-json.ts';
import { isJsonObject, type JsonObject } from '../../language/model/json.ts';
import { type Facts, nothingSatisfied, presentRows } from '../../language/model/request.ts';
import { formatDecimal } from '../../language/value/decimal.ts';
import type { RequestRecord } from '../../service/requests/record/record.ts';
import type { RecordKind } from '../../service/store/contract/chain.ts';
import type { LogRecord } from '../../service/store/contract/log.ts';
import { factsOfRecord, type RecordedRequest } from '../records/recorded-request.ts';
import type { LogEntry, LoggedRequest } from './engine/log.ts';
import { loggedEvent, requestOf, requestOfRecord } from './log-entries.ts';

/** Limits of one line; a record with its trace may be longer than a request. */
export const exportLimits: JsonLimits = { bytesMax: 16 * 1024 * 1024, depthMax: 64 };

export type ExportLine =
  /** `record` is null for a record that says nothing about what became of requests. */
  | { readonly kind: 'record'; readonly sequence: number; readonly record: LogRecord | null }
  | { readonly kind: 'request'; readonly line: ListedRequest };

/** The parts of a line of the list's export that are read. */
export interface ListedRequest {
  readonly request_id: string;
  readonly action_key: string;
  readonly payload: JsonObject;
  readonly agent: RecordedRequest['agent'];
  readonly created_at: string;
  readonly policy_set?: RequestRecord['policySet'];
  /**
   * What is needed to decide the request again; absent when the line is a reply of `GET /v1/requests/{id}`.
   */
  readonly recorded?: JsonObject;
}

const kinds: readonly RecordKind[] = ['request', 'refusal', 'change', 'event', 'knot'];

/** Returns null when the value is not a line of an export. */
export function exportLineOf(value: JsonObject): ExportLine | null {
  const { entry, hash, request_id, action_key, payload, agent, created_at } = value;
  if (typeof hash === 'string' && isJsonObject(entry) && kinds.some((kind) => kind === entry.kind))
    return { kind: 'record', sequence: Number(entry.sequence), record: recordOfEntry(entry) };
  const isListed =
    [request_id, action_key, created_at].every((one) => typeof one === 'string') &&
    isJsonObject(payload) &&
    isJsonObject(agent);
  return isListed ? { kind: 'request', line: value as unknown as ListedRequest } : null;
}

/**
 * Reads an entry of the chain, as `writ audit export` writes it; null for an entry that replay does not need.
 */
function recordOfEntry(entry: JsonObject): LogRecord | null {
  const { kind, id, action_key, created_ms, expires_ms, record_json, request_id, at_ms, what, detail_json } =
    entry;
  const base = { sequence: Number(entry.sequence), expiresAtMs: Number(expires_ms) };
  if (kind === 'request') {
    const identity = { id: String(id), action: String(action_key), createdAtMs: Number(created_ms) };
    return { ...base, ...identity, kind, recordJson: String(record_json) };
  }
  const atMs = Number(at_ms);
  if (kind === 'event') {
    const detailJson = typeof detail_json === 'string' ? detail_json : null;
    return { ...base, kind, requestId: String(request_id), atMs, what: String(what), detailJson };
  }
  const isStepUp = kind === 'change' && what === 'stepped-up';
  return isStepUp ? { kind: 'step-up', sequence: base.sequence, agentId: String(entry.subject), atMs } : null;
}

/**
 * The request of a line in the form in which tests and `writ decide` take facts; null when the line is
 * another kind of record. Throws an error whose message is one sentence in lower case.
 */
export function givenOf(line: ExportLine): JsonObject | null {
  const facts = factsOf(line);
  if (facts === null) return null;
  const { action, payload, agent, request, nowMs, meters, rows, satisfied } = facts;
  const readings = Object.entries(meters).map(([name, { low, high }]) => [
    name,
    [formatDecimal(low), formatDecimal(high)],
  ]);
  const { escalate, reauth } = satisfied;
  return {
    action,
    payload,
    agent: { ...agent },
    request: { ...request },
    now: new Date(nowMs).toISOString(),
    meters: Object.fromEntries(readings),
    ...(rows && { tables: presentRows(rows) }),
    satisfied: { escalate, reauth },
  } as unknown as JsonObject;
}

/** What a recorded request came by. */
export interface CameBy {
  /** The standing approvals that satisfy rules: ids by rule. */
  readonly standing: Readonly<Record<string, string>>;
  /** The names of the delegations, that of the agent first. */
  readonly chain: readonly string[];
}

export const cameByItself: CameBy = { standing: {}, chain: [] };

/** Returns what the request of a line came by, as far as the line says so. */
export function cameByOf(line: ExportLine): CameBy {
  const request = loggedRequestOf(line);
  if (request === null) return cameByItself;
  const { facts, chain = [] } = request;
  return { standing: facts.satisfied.standing ?? {}, chain: chain.map(({ name }) => name) };
}

function factsOf(line: ExportLine): Facts | null {
  const isAlone = line.kind === 'request' && line.line.recorded === undefined;
  return isAlone ? factsAlone(line.line) : (loggedRequestOf(line)?.facts ?? null);
}

/** The request of a line with the facts of its decision; null when the line has none. */
function loggedRequestOf(line: ExportLine): LoggedRequest | null {
  if (line.kind === 'record') return line.record?.kind === 'request' ? requestOfRecord(line.record) : null;
  return line.line.recorded === undefined ? null : listedRequest(line.line);
}

/**
 * A listed request with everything that became of it. Throws an error whose message is one sentence in lower
 * case.
 */
export function listedEntries(line: ListedRequest): readonly LogEntry[] {
  if (line.recorded === undefined)
    throw new Error('the line lacks the facts of the decision: export the requests again');
  const { events } = line.recorded;
  if (!Array.isArray(events)) throw new Error('`recorded.events` must be a list');
  const request = listedRequest(line);
  return [request, ...eventsOf(request.id, events as readonly ListedEvent[])];
}

interface ListedEvent {
  readonly what: string;
  readonly at: string;
  readonly expires_at: string;
  readonly detail: unknown;
}

/** The events of a request; events of the same moment are one entry. */
function eventsOf(requestId: string, listed: readonly ListedEvent[]): readonly LogEntry[] {
  const steps = Map.groupBy(listed, ({ at }) => timeOf(at));
  return [...steps].map(([atMs, events]) => ({
    kind: 'events',
    requestId,
    atMs,
    events: events.flatMap(({ what, expires_at, detail }) => {
      const event = loggedEvent({ what, expiresAtMs: timeOf(expires_at), detail });
      return event === null ? [] : [event];
    }),
  }));
}

function listedRequest({
  request_id,
  action_key,
  payload,
  agent,
  created_at,
  policy_set: policySet,
  recorded,
}: ListedRequest): LoggedRequest {
  const columns = {
    id: request_id,
    action: action_key,
    createdAtMs: timeOf(created_at),
    expiresAtMs: timeOf(String(recorded?.expires_at)),
  };
  return requestOf(columns, { ...recorded, payload, agent, policySet });
}

/** Facts from the payload and the agent alone: the line does not hold the other facts. */
function factsAlone({ action_key: actionKey, payload, agent, created_at }: ListedRequest): Facts {
  const createdAtMs = timeOf(created_at);
  const satisfied = nothingSatisfied;
  return factsOfRecord({ actionKey, payload, agent, request: {}, createdAtMs, meters: {}, satisfied });
}

function timeOf(text: string): number {
  const atMs = Date.parse(text);
  if (Number.isNaN(atMs)) throw new Error(`\`${text.slice(0, 40)}\` is not a time`);
  return atMs;
}
