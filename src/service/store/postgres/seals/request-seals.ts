// The seals of requests and their events in PostgreSQL. The server links the records, so a seal covers what a
// record says and not its place; the seal of an event covers the number of the event among those of its
// request. INVARIANT: nobody without the master key can add, change, copy or move what a grant rests on, or
// leave out any but the last events of a request.

import { canonicalJson } from '../../contract/canonical-json.ts';
import { keyedCode, type SealKey } from '../../contract/seal.ts';
import { tamperedRequest } from '../../contract/store-error.ts';
import type { EventCounts } from '../../shared/event-counts.ts';
import type { EventColumns, RequestColumns, StoredEventRow, StoredRequestRow } from '../../shared/rows.ts';
import { latestExpiry, stateDifference } from '../../shared/stored-state.ts';

/**
 * The canonical JSON of a request in four parts, without `record_json`: before `follows`, before `lane`, before
 * the record number, and after it.
 */
export type RequestTexts = readonly [head: string, before: string, between: string, after: string];

/**
 * Canonical JSON orders all names: those in `headNames` come before `follows`, those in `beforeNames` between
 * `follows` and `kind`; `lane`, `outcome`, `sequence` and `status` come last.
 */
const headNames = ['action_key', 'agent_id', 'created_ms', 'decided_ms', 'expires_ms'] as const;
const beforeNames = ['id', 'idempotency_digest', 'idempotency_key', 'idempotency_until_ms'] as const;

function membersOf(columns: RequestColumns, names: readonly (keyof RequestColumns)[]): string {
  return names.map((name) => `"${name}":${canonicalJson(columns[name])},`).join('');
}

/** Returns the canonical JSON of a request around its place, without `record_json`. */
export function requestParts(columns: RequestColumns): RequestTexts {
  const head = `{${membersOf(columns, headNames)}`;
  const before = `${membersOf(columns, beforeNames)}"kind":"request",`;
  const between = `${membersOf(columns, ['outcome'])}"sequence":`;
  const after = `,"status":${canonicalJson(columns.status)}}`;
  return [head, before, between, after];
}

export function requestSeal(key: SealKey, columns: RequestColumns): string {
  return keyedCode(key, `request ${requestParts(columns).join('')}${columns.record_json}`);
}

/** `number` counts the events of the request from 1. */
export function eventSeal(key: SealKey, columns: EventColumns, number: number): string {
  const { request_id, at_ms, who, what, status, decided_ms, expires_ms, detail_json } = columns;
  const event = { request_id, at_ms, who, what, status, decided_ms, expires_ms, detail_json };
  return keyedCode(key, `event ${number} ${canonicalJson(event)}`);
}

export interface StoredRequest {
  readonly row: StoredRequestRow;
  /** All events of the request, the earliest first. */
  readonly events: readonly StoredEventRow[];
}

/**
 * Returns what is not as the service wrote it, one sentence in lower case without a final period; null when
 * nothing is.
 */
export function requestDifference(key: SealKey, { row, events }: StoredRequest): string | null {
  if (row.seal !== requestSeal(key, row)) return 'its record is not the one that the service wrote';
  const wrong = events.find((event, at) => event.seal !== eventSeal(key, event, at + 1));
  if (wrong !== undefined)
    return `its event ${wrong.sequence} (\`${wrong.what}\`) is not the one that the service wrote there`;
  return stateDifference(row, events.at(-1));
}

export interface RequestGuard {
  readonly key: SealKey;
  readonly counts: EventCounts;
}

/** Throws StoreError when the request is not as the service wrote it, or has had more events. */
export function requireWhole({ key, counts }: RequestGuard, request: StoredRequest): void {
  const { row, events } = request;
  const difference = requestDifference(key, request);
  if (difference !== null) throw tamperedRequest(row.id, difference);
  counts.see(row.id, { count: events.length, untilMs: latestExpiry(row, events) });
}
