// Defines each kind of write once: the types of a write and of its result, and the way to its statements, are
// inferred from one table. INVARIANT: a write looks before it changes anything, under the lock of its batch's
// transaction, so a write that is refused because of what it finds leaves no trace and does no harm to others
// of its batch.

import type { Database } from 'better-sqlite3';
import type { Link } from '../contract/chain.ts';
import type { GrantPrecondition } from '../contract/grant-precondition.ts';
import type { MeterEntryRow } from '../contract/metering.ts';
import type { PlantRow, RefusalRecord, RequestEvent, RequestRow } from '../contract/records.ts';
import type { StateAcceptance } from '../contract/state.ts';
import type {
  AppendResult,
  RequestBatch,
  RequestChange,
  RequestChangeResult,
  SignedCheckpoint,
} from '../contract/store.ts';
import {
  type EventColumns,
  eventColumns,
  idempotencyExpiry,
  type RefusalColumns,
  type RequestColumns,
  refusalColumns,
  requestColumns,
  requestRowOf,
  type StoredEventRow,
} from '../shared/rows.ts';
import { prepareAgentWrites } from './agent-writes.ts';
import { prepareDocumentWrites } from './documents.ts';
import { prepareSnapshotWrites } from './meter-snapshots.ts';
import { prepareMeterWrites } from './meters.ts';
import { prepareRequestRead } from './seal/request-check.ts';
import { recountEvents } from './seal/seal-earlier.ts';
import { prepareStatisticsWrites } from './statistics.ts';
import { prepareTreeWrites } from './tree.ts';
import { prepareWriteContext, type WriteContext, type WriteOptions } from './write-context.ts';

// Records what becomes of requests at the end of the chain, and notes the latest state in the request's own
// row, by which queries find it. INVARIANT: a request's row holds the state of its last event, and a sealed
// row counts its events, since all are written together; nothing is written on a request that is not as the
// service wrote it.

interface DuePage {
  readonly atMs: number;
  readonly countMax: number;
}

/** The most rows that count events which are deleted at once. */
const sweptAtOnce = 1_000;

function prepareEventWrites(database: Database, context: WriteContext) {
  const read = prepareRequestRead(database, context.sealKey);
  const record = prepareRecord(database, context);
  const selectDue = database.prepare<[number, number], { readonly id: string }>(
    `SELECT id FROM requests
     WHERE coalesce(now_status, status) = 'pending' AND coalesce(now_expires_ms, expires_ms) <= ?
     ORDER BY coalesce(now_expires_ms, expires_ms) LIMIT ?`,
  );
  const sweep = prepareSweep(database);

  return {
    'change-request'({
      requestId,
      events,
      from,
      seen,
      precondition,
      entries = [],
    }: RequestChange): RequestChangeResult {
      const present = read(requestId);
      if (present === null) return 'unknown-request';
      const isSeen = seen === null || present.events.length === seen;
      if (!from.includes(requestRowOf(present.row).status) || !isSeen) return 'state-differs';
      const atMs = events[0]?.atMs ?? 0;
      if (precondition !== undefined && !context.precondition.holds(precondition, atMs))
        return 'precondition-failed';
      for (const event of events) record({ ...event, requestId });
      const grantedAtMs = events.at(-1)?.state.decidedAtMs ?? null;
      for (const entry of entries) context.meterEntries.settle(requestId, grantedAtMs, entry);
      return 'changed';
    },
    /**
     * Records the end of waits that are over. Returns the ids of their requests; fewer than `countMax` when
     * none is left.
     */
    'expire-due'({ atMs, countMax }: DuePage): readonly string[] {
      const due = selectDue.all(atMs, countMax).map(({ id }) => id);
      for (const requestId of due) {
        const present = read(requestId);
        if (present === null) continue;
        const { decidedAtMs, expiresAtMs } = requestRowOf(present.row);
        const state = { status: 'expired', decidedAtMs, expiresAtMs } as const;
        record({ requestId, atMs, who: 'system', what: 'expired', state, detail: null });
      }
      sweep(atMs);
      return due;
    },
  };
}

function prepareRecord(database: Database, { chain, meterEntries, sealOf }: WriteContext) {
  const insert = database.prepare<[EventColumns & Pick<StoredEventRow, 'sequence' | 'hash' | 'seal'>]>(
    `INSERT INTO request_events (sequence, request_id, at_ms, who, what, status, decided_ms, expires_ms,
       detail_json, hash, seal)
     VALUES (@sequence, @request_id, @at_ms, @who, @what, @status, @decided_ms, @expires_ms, @detail_json, @hash, @seal)`,
  );
  const update = database.prepare<[EventColumns]>(
    `UPDATE requests SET now_status = @status, now_decided_ms = @decided_ms, now_expires_ms = @expires_ms
     WHERE id = @request_id`,
  );
  const count = database.prepare<[EventColumns]>(
    `INSERT INTO request_heads
     SELECT id, (SELECT count(*) FROM request_events WHERE request_id = id), max(expires_ms, @expires_ms)
     FROM requests WHERE id = @request_id
     ON CONFLICT (request_id) DO UPDATE SET event_count = event_count + 1, until_ms = max(until_ms, @expires_ms)`,
  );
  return (event: RequestEvent): void => {
    const columns = eventColumns(event);
    chain.append('event', columns, (row, link) => insert.run({ ...row, ...link, seal: sealOf(link.hash) }));
    update.run(columns);
    count.run(columns);
    meterEntries.follow(event);
  };
}

/** Returns a function that deletes the counts of requests that grant nothing any more at `atMs`. */
function prepareSweep(database: Database): (atMs: number) => void {
  const remove = database.prepare<[number, number]>(
    `DELETE FROM request_heads WHERE request_id IN
       (SELECT request_id FROM request_heads WHERE until_ms <= ? ORDER BY until_ms LIMIT ?)`,
  );
  const mark = database.prepare<[number, number]>('UPDATE heads_mark SET swept_ms = ? WHERE swept_ms < ?');
  return (atMs) => {
    if (remove.run(atMs, sweptAtOnce).changes > 0) mark.run(atMs, atMs);
  };
}

// Stores checkpoints in rows, and deletes the records before a checkpoint. INVARIANT: records are deleted
// only together with the storing of the checkpoint that stands for them, and only if the chain still has the
// record that the checkpoint names.

const tables = ['requests', 'refusals', 'changes', 'request_events'] as const;

interface NewCheckpoint {
  readonly checkpoint: SignedCheckpoint;
}

function prepareChainWrites(database: Database, { recordChange: record }: WriteContext) {
  const insert = database.prepare<[SignedCheckpoint]>(
    `INSERT INTO checkpoints (sequence, hash, at_ms, purpose, signature)
     VALUES (@sequence, @hash, @atMs, @purpose, @signature) ON CONFLICT DO NOTHING`,
  );
  const lastPruned = database.prepare<[], { sequence: number }>(
    "SELECT sequence FROM checkpoints WHERE purpose = 'pruned' ORDER BY sequence DESC LIMIT 1",
  );
  const forgetEarlier = database.prepare<[number]>('DELETE FROM checkpoints WHERE sequence < ?');
  const find = database.prepare<[Link], unknown>(
    tables
      .map((table) => `SELECT 1 FROM ${table} WHERE sequence = @sequence AND hash = @hash`)
      .join(' UNION ALL '),
  );
  const deletions = tables.map((table) =>
    database.prepare<[number]>(`DELETE FROM ${table} WHERE sequence <= ?`),
  );
  const forgetHeads = database.prepare<[]>(
    'DELETE FROM request_heads WHERE request_id NOT IN (SELECT id FROM requests)',
  );
  const forgetSnapshots = database.prepare('DELETE FROM meter_snapshots');
  return {
    'add-checkpoint'({ checkpoint }: NewCheckpoint): 'added' {
      insert.run(checkpoint);
      return 'added';
    },
    /** The writer makes a new seal after all writes of the batch. What counts events follows from the events. */
    'accept-state'({ acceptance }: { readonly acceptance: StateAcceptance }): 'accepted' {
      const { atMs, differences } = acceptance;
      const before = { differences: differences.map(({ table, row, message }) => ({ table, row, message })) };
      recountEvents(database);
      record({ atMs, what: 'state-accepted', subject: '', before, after: null });
      // They were made of entries that may not be those that are accepted.
      forgetSnapshots.run();
      return 'accepted';
    },
    prune({ checkpoint }: NewCheckpoint): 'pruned' | 'not-there' {
      const { sequence, hash, atMs } = checkpoint;
      if (find.get({ sequence, hash }) === undefined) return 'not-there';
      const before = { firstSequence: (lastPruned.get()?.sequence ?? 0) + 1 };
      const after = { firstSequence: sequence + 1 };
      // The record comes first, so that its number is higher than those of the deleted records.
      record({ atMs, what: 'records-pruned', subject: '', before, after });
      for (const deletion of deletions) deletion.run(sequence);
      forgetHeads.run();
      forgetEarlier.run(sequence);
      insert.run(checkpoint);
      return 'pruned';
    },
  };
}

/** The kinds of write by name, each as a function that makes the write and returns its result. */
type WriteKinds = ReturnType<typeof prepareWriteKinds>;

function prepareWriteKinds(database: Database, context: WriteContext, { sealKey }: WriteOptions) {
  return {
    ...preparePreconditionWrites(database, context),
    ...prepareRecordWrites(database, context),
    ...prepareBatchWrites(database, context),
    ...prepareEventWrites(database, context),
    ...prepareMeterWrites(database, context.meterEntries),
    ...prepareSnapshotWrites(database, sealKey),
    ...prepareChainWrites(database, context),
    ...prepareTreeWrites(database),
    ...prepareStatisticsWrites(database),
    ...prepareOtherWrites(database),
  };
}

/** The writes that may change what a grant rests on. */
function preparePreconditionWrites(database: Database, context: WriteContext) {
  return { ...prepareAgentWrites(database, context), ...prepareDocumentWrites(database, context) };
}

function prepareOtherWrites(database: Database) {
  const insertPlant = database.prepare<[PlantRow]>(
    'INSERT INTO plants VALUES (@id, @name, @tag) ON CONFLICT (id) DO NOTHING',
  );
  const insertSetting = database.prepare<[string, string]>(
    'INSERT INTO settings VALUES (?, ?) ON CONFLICT (name) DO NOTHING',
  );
  return {
    'add-plant': ({ plant }: { readonly plant: PlantRow }): 'added' | 'used' =>
      insertPlant.run(plant).changes === 0 ? 'used' : 'added',
    'put-setting': ({ name, value }: { readonly name: string; readonly value: string }): 'put' | 'there' =>
      insertSetting.run(name, value).changes === 0 ? 'there' : 'put',
  };
}

export type WriteKind = keyof WriteKinds;

/** The result of each kind of write. */
export type WriteResults = { readonly [K in WriteKind]: ReturnType<WriteKinds[K]> };

type WritesByKind = { readonly [K in WriteKind]: { readonly kind: K } & Parameters<WriteKinds[K]>[0] };
export type WriteOf<K extends WriteKind> = WritesByKind[K];
export type Write = WriteOf<WriteKind>;

export type ApplyWrite = (write: Write) => WriteResults[WriteKind];

/**
 * Prepares all statements. The returned function is to be called inside a transaction that holds the write
 * lock.
 */
export function prepareWrites(database: Database, options: WriteOptions): ApplyWrite {
  const context = prepareWriteContext(database, options);
  const preconditionKinds = new Set(Object.keys(preparePreconditionWrites(database, context)));
  const kinds = prepareWriteKinds(database, context, options);
  return (write) => {
    // The type of a write follows from its kind, but the compiler does not see that through the table.
    const apply = kinds[write.kind] as (write: Write) => WriteResults[WriteKind];
    const result = apply(write);
    if (preconditionKinds.has(write.kind)) options.precondition.forget();
    return result;
  };
}

// Stores requests and refusals in rows at the end of the chain.

interface NewRequest {
  readonly row: RequestRow;
  readonly openMax: number;
  /** What the decision rests on; null when that is not judged. */
  readonly precondition: GrantPrecondition | null;
  readonly entries: readonly MeterEntryRow[];
}

/** Stores pending requests together, after the documents and the record of the change that they belong to. */
function prepareBatchWrites(database: Database, context: WriteContext) {
  const { 'write-documents': writeDocuments } = prepareDocumentWrites(database, context);
  const countOpen = database
    .prepare<[string, number], number>(
      `SELECT count(*) FROM requests
       WHERE coalesce(now_status, status) = 'pending' AND agent_id = ? AND coalesce(now_expires_ms, expires_ms) > ?`,
    )
    .pluck();
  const insertRow = prepareRequestInsert(database, context);
  return {
    'append-together'({ agentId, requests, limits, documents, change }: RequestBatch): AppendResult {
      const { openMax, precondition } = limits;
      if (precondition !== undefined && !context.precondition.holds(precondition, change.atMs))
        return 'precondition-failed';
      const open = countOpen.get(agentId, change.atMs) ?? 0;
      if (requests.length > 0 && open + requests.length > openMax) return 'too-many-open';
      if (writeDocuments({ writes: documents, change }) !== 'changed') return 'duplicate-key';
      context.precondition.forget();
      for (const { row, entries } of requests) {
        // A write that fails is undone, with what it has stored before.
        if (!context.chain.append('request', requestColumns(row), insertRow))
          throw new Error(`the id \`${row.id}\` is in use`);
        for (const entry of entries) context.meterEntries.put(row.id, row.decidedAtMs, entry);
      }
      return 'stored';
    },
  };
}

function prepareRecordWrites(database: Database, context: WriteContext) {
  const { chain, meterEntries } = context;
  const selectByKey = database.prepare<[RequestColumns], unknown>(
    `SELECT 1 FROM requests
     WHERE agent_id = @agent_id AND idempotency_key = @idempotency_key AND ${idempotencyExpiry} > @created_ms`,
  );
  const countOpen = database.prepare<[RequestColumns], { count: number }>(
    `SELECT count(*) AS count FROM requests
     WHERE coalesce(now_status, status) = 'pending' AND agent_id = @agent_id
       AND coalesce(now_expires_ms, expires_ms) > @created_ms`,
  );
  const insertRow = prepareRequestInsert(database, context);
  const insertRefusal = database.prepare<[RefusalColumns & Link]>(
    `INSERT INTO refusals (sequence, id, agent_id, key_id, at_ms, http_status, code, detail, client_address,
       body_digest, hash)
     VALUES (@sequence, @id, @agent_id, @key_id, @at_ms, @http_status, @code, @detail, @client_address,
       @body_digest, @hash)
     ON CONFLICT (id) DO NOTHING`,
  );
  return {
    'append-request'({ row, openMax, precondition, entries }: NewRequest): AppendResult | 'duplicate-id' {
      if (precondition !== null && !context.precondition.holds(precondition, row.createdAtMs))
        return 'precondition-failed';
      const columns = requestColumns(row);
      if (row.idempotency !== null && selectByKey.get(columns) !== undefined) return 'duplicate-key';
      if (row.status === 'pending' && (countOpen.get(columns)?.count ?? 0) >= openMax) return 'too-many-open';
      if (!chain.append('request', columns, insertRow)) return 'duplicate-id';
      for (const entry of entries) meterEntries.put(row.id, row.decidedAtMs, entry);
      return 'stored';
    },
    'append-refusal'({ record }: { readonly record: RefusalRecord }): 'stored' | 'duplicate-id' {
      const isStored = chain.append('refusal', refusalColumns(record), (columns, link) =>
        insertRefusal.run({ ...columns, ...link }),
      );
      return isStored ? 'stored' : 'duplicate-id';
    },
  };
}

function prepareRequestInsert(database: Database, { sealOf }: WriteContext) {
  // Bound by position, which takes a third less time than by name.
  const insertRequest = database.prepare<(string | number | null)[]>(
    `INSERT INTO requests (sequence, id, agent_id, action_key, outcome, status, created_ms, decided_ms, expires_ms,
       idempotency_key, idempotency_digest, idempotency_until_ms, record_json, hash, seal)
     VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
     ON CONFLICT (id) DO NOTHING`,
  );
  return (row: RequestColumns, { sequence, hash }: Link) =>
    insertRequest.run(
      sequence,
      row.id,
      row.agent_id,
      row.action_key,
      row.outcome,
      row.status,
      row.created_ms,
      row.decided_ms,
      row.expires_ms,
      row.idempotency_key,
      row.idempotency_digest,
      row.idempotency_until_ms,
      row.record_json,
      hash,
      sealOf(hash),
    );
}
