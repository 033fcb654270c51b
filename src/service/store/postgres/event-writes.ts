// Records what becomes of requests at the end of the chain, and notes the latest state in the request's own
// row, by which queries find it. INVARIANT: a request's row holds the state of its last event, and its
// entries in meters change with it, since all of this is written together.

import { lastingMeterPrefix } from '../../../language/value/lasting-meter.ts';
import { type GrantPrecondition, switchKind } from '../contract/grant-precondition.ts';
import type { MetersRead, MovedMeterEntry } from '../contract/metering.ts';
import type { RefusalRecord, RequestEvent } from '../contract/records.ts';
import type { SealKey } from '../contract/seal.ts';
import type { RequestChange, RequestChangeResult } from '../contract/store.ts';
import { StoreError, tamperedRequest } from '../contract/store-error.ts';
import { type EventColumns, eventColumns, refusalColumns, requestRowOf } from '../shared/rows.ts';
import { duplicateId } from './append-requests.ts';
import type { CommitQueue } from './commit-queue.ts';
import { isRemovedByThisTransaction, isWrittenAfter } from './moved-meters.ts';
import { readStored } from './request-reads.ts';
import { eventSeal, requestDifference, type StoredRequest } from './seals/request-seals.ts';
import { idArray } from './server/arrays.ts';
import { isInUse } from './server/errors.ts';
import type { Transaction, Work } from './transaction.ts';

export function requestWrites(sealKey: SealKey) {
  return { expireDue: (atMs: number, countMax: number) => expireDueWork({ atMs, countMax }, sealKey) };
}

/** What became of a change, or why the request cannot be changed at all. */
type ChangeOutcome = RequestChangeResult | StoreError;

/**
 * Makes changes of different requests, those that may be made; returns what became of each. Statements that
 * do not wait for each other go out together.
 */
async function makeTogether(
  transaction: Transaction,
  changes: readonly RequestChange[],
  sealKey: SealKey,
): Promise<readonly ChangeOutcome[]> {
  const stored = await readStored(
    transaction.rows,
    changes.map(({ requestId }) => requestId),
  );
  const present = new Map(stored.map((request) => [request.row.id, request]));
  const outcomes = await all(
    changes.map((one) => judge(transaction, one, { present: present.get(one.requestId), sealKey })),
  );
  const changed = changes.filter((_, at) => outcomes[at] === 'changed');
  const events = changed.flatMap(({ requestId, events }) => {
    const count = present.get(requestId)?.events.length ?? 0;
    return events.map((event, at) => ({ event: { ...event, requestId }, number: count + at + 1 }));
  });
  await recordAll(transaction, events, sealKey);
  for (const { requestId, events, entries = [] } of changed) {
    const grantedAtMs = events.at(-1)?.state.decidedAtMs ?? null;
    await all(entries.map((entry) => settle(transaction, { ...entry, requestId, grantedAtMs })));
  }
  return outcomes;
}

/** Whether the change may be made, as the result that says so or why not. */
async function judge(
  transaction: Transaction,
  { requestId, events, from, seen, precondition, meters }: RequestChange,
  { present, sealKey }: { readonly present: StoredRequest | undefined; readonly sealKey: SealKey },
): Promise<ChangeOutcome> {
  if (present === undefined) return 'unknown-request';
  const difference = requestDifference(sealKey, present);
  if (difference !== null) return tamperedRequest(requestId, difference);
  const isSeen = seen === null || present.events.length === seen;
  if (!from.includes(requestRowOf(present.row).status) || !isSeen) return 'state-differs';
  const atMs = events[0]?.atMs ?? 0;
  if (precondition !== undefined && !(await holds(transaction, precondition, atMs)))
    return 'precondition-failed';
  if (meters !== undefined && (await haveMoved(transaction, meters))) return 'precondition-failed';
  return 'changed';
}

/**
 * Waits for all, and then throws the first failure: nothing may be sent after a failure, behind which the
 * transaction is rolled back.
 */
async function all<T>(promises: readonly Promise<T>[]): Promise<readonly T[]> {
  const settled = await Promise.allSettled(promises);
  return settled.map((one) => {
    if (one.status === 'rejected') throw one.reason;
    return one.value;
  });
}

/** Reads requests with their events. Throws StoreError when one is not as the service wrote it. */
async function readWhole(
  { rows }: Transaction,
  requestIds: readonly string[],
  sealKey: SealKey,
): Promise<readonly StoredRequest[]> {
  const stored = await readStored(rows, requestIds);
  for (const request of stored) {
    const difference = requestDifference(sealKey, request);
    if (difference !== null) throw tamperedRequest(request.row.id, difference);
  }
  return stored;
}

/**
 * Records the end of waits that are over. Returns the ids of their requests; fewer than `countMax` when none
 * is left.
 */
function expireDueWork(
  { atMs, countMax }: { readonly atMs: number; readonly countMax: number },
  sealKey: SealKey,
): Work<readonly string[]> {
  return async (transaction) => {
    const expired = await transaction.rows<{ readonly id: string }>(
      `SELECT id FROM requests
       WHERE coalesce(now_status, status) = 'pending' AND coalesce(now_expires_ms, expires_ms) <= $1
       ORDER BY coalesce(now_expires_ms, expires_ms), id LIMIT $2`,
      [atMs, countMax],
    );
    const ids = expired.map(({ id }) => id);
    const events = (await readWhole(transaction, ids, sealKey)).map(({ row, events }): NumberedEvent => {
      const { id: requestId, decidedAtMs, expiresAtMs } = requestRowOf(row);
      const state = { status: 'expired', decidedAtMs, expiresAtMs } as const;
      const event = { requestId, atMs, who: 'system', what: 'expired', state, detail: null } as const;
      return { event, number: events.length + 1 };
    });
    await recordAll(transaction, events, sealKey);
    return ids;
  };
}

interface NumberedEvent {
  readonly event: RequestEvent;
  /** The number of the event among those of its request, from 1. */
  readonly number: number;
}

/** Records events, and notes in the row of each request the state of its last one. */
async function recordAll(
  transaction: Transaction,
  events: readonly NumberedEvent[],
  sealKey: SealKey,
): Promise<void> {
  const last = new Map<string, EventColumns>();
  for (const { event, number } of events) {
    const columns = eventColumns(event);
    transaction.append('event', { ...columns }, { seal: eventSeal(sealKey, columns, number) });
    last.set(columns.request_id, columns);
  }
  if (last.size === 0) return;
  const rows = [...last.values()];
  await all<unknown>([
    transaction.rows(
      `UPDATE requests SET now_status = now.status, now_decided_ms = now.decided, now_expires_ms = now.expires
       FROM unnest($1::uuid[], $2::text[], $3::int8[], $4::int8[]) AS now(id, status, decided, expires)
       WHERE requests.id = now.id`,
      [
        ...[idArray(rows.map((one) => one.request_id)), rows.map(({ status }) => status)],
        ...[rows.map((one) => one.decided_ms), rows.map((one) => one.expires_ms)],
      ],
    ),
    ...events.map(({ event }) => followInMeters(transaction, event)),
  ]);
}

/**
 * Changes the meter entries of a request as the event changes the request. Each process has yet to hear of
 * it, this one included, so the entry's slot becomes null.
 */
async function followInMeters(
  { rows }: Transaction,
  { requestId, what, atMs, state: { status, decidedAtMs } }: RequestEvent,
): Promise<void> {
  const values = [requestId, atMs];
  const end =
    'UPDATE meter_entries SET is_gone = true, granted_ms = coalesce(granted_ms, $2), written = pg_current_xact_id(), slot = NULL';
  if (what === 'released')
    await rows(`${end} WHERE request_id = $1 AND NOT is_gone AND NOT starts_with(definition, $3)`, [
      ...values,
      lastingMeterPrefix,
    ]);
  else if (status === 'approved' && decidedAtMs !== null)
    await rows(
      `UPDATE meter_entries SET granted_ms = $2, written = pg_current_xact_id(), slot = NULL
       WHERE request_id = $1 AND granted_ms IS NULL`,
      [requestId, decidedAtMs],
    );
  else if (status === 'rejected' || status === 'expired' || status === 'withdrawn')
    await rows(`${end} WHERE request_id = $1 AND granted_ms IS NULL`, values);
}

/**
 * Changes an entry once the result of the call is known. Each process has yet to hear of it, so the entry's
 * slot becomes null.
 */
async function settle({ rows }: Transaction, entry: MovedMeterEntry): Promise<void> {
  const { definition, requestId, key, grantedAtMs, isCertain, value, isGone } = entry;
  await rows(
    `INSERT INTO meter_entries (definition, request_id, meter_key, granted_ms, is_certain, value, written, is_gone)
     VALUES ($1, $2, $3, $4, $5, $6, pg_current_xact_id(), $7)
     ON CONFLICT (definition, request_id) DO UPDATE SET is_certain = excluded.is_certain, value = excluded.value,
       written = excluded.written, slot = NULL, is_gone = excluded.is_gone`,
    [definition, requestId, key, grantedAtMs, isCertain, value, isGone],
  );
}

/** Whether another process has entered the meters since they were read, or this transaction has taken entries out. */
export async function haveMoved(
  { rows, alone, slot }: Transaction,
  { series, position }: MetersRead,
): Promise<boolean> {
  if (position === null) return false;
  await alone();
  const moved = await rows(
    `SELECT 1 FROM meter_entries JOIN unnest($2::text[], $3::text[]) AS place(definition, key)
       ON meter_entries.definition = place.definition AND meter_key = place.key
     WHERE (${isWrittenAfter} OR ${isRemovedByThisTransaction}) AND slot IS DISTINCT FROM $4 LIMIT 1`,
    [position, series.map(({ definition }) => definition), series.map(({ key }) => key), slot],
  );
  return moved.length > 0;
}

/**
 * Whether agent, switches, people and policies are as the change saw them, and the key is valid at `atMs`.
 */
export async function holds(
  { rows }: Transaction,
  precondition: GrantPrecondition,
  atMs: number,
): Promise<boolean> {
  const { agentId, agentVersion, keyNotAfterMs, switchGeneration, documents, policies = null } = precondition;
  if (agentVersion === 0 || (keyNotAfterMs !== null && atMs >= keyNotAfterMs)) return false;
  const [row] = await rows<{ readonly holds: boolean }>(
    `SELECT EXISTS (SELECT 1 FROM agents WHERE id = $1 AND version = $2)
       AND coalesce((SELECT generation FROM document_kinds WHERE kind = $3), 0) = $4
       AND coalesce((SELECT policy_digest FROM control) = $8, true)
       AND NOT EXISTS (
         SELECT 1 FROM unnest($5::text[], $6::text[], $7::int8[]) AS seen(kind, id, version)
         LEFT JOIN documents ON documents.kind = seen.kind AND documents.id = seen.id
         WHERE coalesce(documents.version, 0) <> seen.version) AS holds`,
    [
      ...[agentId, agentVersion, switchKind, switchGeneration],
      ...[documents.map(({ kind }) => kind), documents.map(({ id }) => id)],
      ...[documents.map(({ version }) => version), policies],
    ],
  );
  return row?.holds === true;
}

interface WaitingChange {
  readonly change: RequestChange;
  readonly resolve: (result: RequestChangeResult) => void;
  readonly reject: (error: unknown) => void;
}

function answer({ resolve, reject }: WaitingChange, outcome: ChangeOutcome): void {
  if (outcome instanceof StoreError) reject(outcome);
  else resolve(outcome);
}

/** The most changes in one commit; more would delay other writes for long. */
const changesAtOnce = 64;

/**
 * Returns a function that changes a request; its promise resolves once the change is stored, or refused. A
 * commit is expensive, so one commit stores the changes that wait when its turn comes. INVARIANT: no two of
 * them concern the same request, so each sees all that is recorded of its request; and a change that rests on
 * meters looks at them after all changes before it have been made.
 */
export function createChangeWrites(
  queue: Pick<CommitQueue, 'write'>,
  sealKey: SealKey,
): (change: RequestChange) => Promise<RequestChangeResult> {
  let waiting: readonly WaitingChange[] = [];
  let isQueued = false;

  function queueNext(): void {
    if (isQueued || waiting.length === 0) return;
    isQueued = true;
    void writeNext();
  }

  async function writeNext(): Promise<void> {
    let taken: readonly WaitingChange[] = [];
    try {
      const outcomes = await queue.write(async (transaction) => {
        [taken, waiting] = takeChanges(waiting);
        isQueued = false;
        queueNext();
        return await makeChanges(
          transaction,
          taken.map(({ change }) => change),
          sealKey,
        );
      }, 'left');
      for (const [at, one] of taken.entries()) answer(one, outcomes[at]!);
    } catch (error) {
      if (taken.length > 1 && isOfOne(error)) return taken.forEach(writeAlone);
      if (taken.length === 0) [taken, waiting, isQueued] = [waiting, [], false];
      for (const { reject } of taken) reject(error);
    }
  }

  function writeAlone(one: WaitingChange): void {
    queue
      .write((transaction) => makeTogether(transaction, [one.change], sealKey), 'left')
      .then(([outcome]) => answer(one, outcome!), one.reject);
  }

  return (change) =>
    new Promise((resolve, reject) => {
      waiting = [...waiting, { change, resolve, reject }];
      queueNext();
    });
}

/** Takes the first changes, one for each request; the others keep their order. */
function takeChanges(
  waiting: readonly WaitingChange[],
): readonly [taken: readonly WaitingChange[], left: readonly WaitingChange[]] {
  const requests = new Set<string>();
  const left: WaitingChange[] = [];
  const taken: WaitingChange[] = [];
  for (const one of waiting) {
    const { requestId } = one.change;
    const isTaken = taken.length < changesAtOnce && !requests.has(requestId);
    (isTaken ? taken : left).push(one);
    requests.add(requestId);
  }
  return [taken, left];
}

/** Makes the changes in one transaction, those that rest on meters last and one after the other. */
async function makeChanges(
  transaction: Transaction,
  changes: readonly RequestChange[],
  sealKey: SealKey,
): Promise<readonly ChangeOutcome[]> {
  const outcomes = new Map<RequestChange, ChangeOutcome>();
  const make = async (together: readonly RequestChange[]): Promise<void> => {
    if (together.length === 0) return;
    const made = await makeTogether(transaction, together, sealKey);
    for (const [at, one] of together.entries()) outcomes.set(one, made[at]!);
  };
  await make(changes.filter(({ meters }) => meters === undefined));
  for (const one of changes) if (one.meters !== undefined) await make([one]);
  return changes.map((one) => outcomes.get(one)!);
}

interface WaitingRefusal {
  readonly refusal: RefusalRecord;
  readonly resolve: () => void;
  readonly reject: (error: unknown) => void;
}

/** The most refusals in one commit; more would delay other writes for long. */
const refusalsAtOnce = 500;

/**
 * Returns a function that stores a refusal; its promise resolves once that refusal is stored. A commit is
 * expensive, so one commit stores the refusals that wait when its turn comes. A refusal that the database
 * rejects does no harm to the others. No decision rests on a refusal, so refusals are stored beside all other
 * writes.
 */
export function createRefusalWrites(
  queue: Pick<CommitQueue, 'write'>,
): (refusal: RefusalRecord) => Promise<void> {
  let waiting: WaitingRefusal[] = [];

  /** Takes refusals only when its turn comes, so that all that have come by then go together. */
  async function writeNext(): Promise<void> {
    let taken: readonly WaitingRefusal[] = [];
    try {
      await queue.write(async ({ append }) => {
        taken = waiting.slice(0, refusalsAtOnce);
        waiting = waiting.slice(refusalsAtOnce);
        if (waiting.length > 0) void writeNext();
        for (const { refusal } of taken) append('refusal', { ...refusalColumns(refusal) });
      }, 'beside');
      for (const { resolve } of taken) resolve();
    } catch (error) {
      if (taken.length > 0 && isOfOne(error)) return taken.forEach(writeAlone);
      if (taken.length === 0) [taken, waiting] = [waiting, []];
      for (const { reject } of taken) reject(error);
    }
  }

  function writeAlone({ refusal, resolve, reject }: WaitingRefusal): void {
    const columns = { ...refusalColumns(refusal) };
    queue
      .write(async ({ append }) => append('refusal', columns), 'beside')
      .then(resolve, (error) => reject(isInUse(error) ? duplicateId(refusal.id) : error));
  }

  return (refusal) =>
    new Promise((resolve, reject) => {
      waiting.push({ refusal, resolve, reject });
      if (waiting.length === 1) void writeNext();
    });
}

/** Whether the error concerns a single refusal, and not the server or the connection. */
function isOfOne(error: unknown): boolean {
  return error instanceof StoreError && (error.code === 'internal' || error.code === 'zero-byte');
}
