// Reads segments of the chain from an SQLite database. INVARIANT: a segment and the place where the chain
// begins are read at one moment, and the record numbers of a segment bound its rows, however many records
// there are.

import type { Database } from 'better-sqlite3';
import {
  type ChainEntry,
  type ChainRecord,
  chainStart,
  type Link,
  type RecordKind,
} from '../../contract/chain.ts';
import type { ChainSegment, SignedCheckpoint } from '../../contract/store.ts';

interface StoredRow {
  readonly sequence: number;
  readonly hash: string;
  /** Of requests and their events. */
  readonly seal?: string;
}

interface CheckpointColumns extends Link {
  readonly at_ms: number;
  readonly purpose: 'end' | 'pruned';
  readonly signature: string;
}

export function prepareChainReads(database: Database) {
  const tables = [
    prepareRequestStretch(database),
    prepareStretch(database, 'refusal', 'refusals'),
    prepareStretch(database, 'change', 'changes'),
    prepareStretch(database, 'event', 'request_events'),
  ];
  const lastSequence = prepareEnd(database, 'max');
  const firstSequence = prepareEnd(database, 'min');
  const allCheckpoints = database.prepare<[], CheckpointColumns>(
    'SELECT * FROM checkpoints ORDER BY sequence, at_ms',
  );
  const pruned = database.prepare<[], CheckpointColumns>(
    "SELECT * FROM checkpoints WHERE purpose = 'pruned' ORDER BY sequence DESC LIMIT 1",
  );

  function segment(afterSequence: number, countMax: number): ChainSegment {
    const pruning = pruned.get();
    const begin: Link = pruning ?? chainStart;
    const after = Math.max(afterSequence, begin.sequence);
    return {
      pruning: pruning === undefined ? null : checkpointOf(pruning),
      records: tables
        .flatMap((read) => read(after, after + countMax))
        .sort((a, b) => a.entry.sequence - b.entry.sequence),
      firstSequence: firstSequence.get()?.sequence ?? null,
      lastSequence: lastSequence.get()?.sequence ?? begin.sequence,
    };
  }

  return {
    segment: database.transaction(segment),
    /** The number of the last record; 0 when there is none. */
    lastSequence: (): number => lastSequence.get()?.sequence ?? 0,
    checkpoints: (): readonly SignedCheckpoint[] => allCheckpoints.all().map(checkpointOf),
  };
}

function prepareEnd(database: Database, end: 'min' | 'max') {
  const each = ['requests', 'refusals', 'changes', 'request_events'].map(
    (table) => `SELECT ${end}(sequence) AS sequence FROM ${table}`,
  );
  return database.prepare<[], { sequence: number | null }>(
    `SELECT ${end}(sequence) AS sequence FROM (${each.join(' UNION ALL ')})`,
  );
}

interface StoredRequest extends StoredRow {
  readonly now_status: string | null;
  readonly now_decided_ms: number | null;
  readonly now_expires_ms: number | null;
  readonly event_status: string | null;
  readonly event_decided_ms: number | null;
  readonly event_expires_ms: number | null;
}

/**
 * The present state of a request is no part of its record: it is read beside the record, with the state that
 * its events give.
 */
function prepareRequestStretch(database: Database) {
  const select = database.prepare<[number, number], StoredRequest>(
    `SELECT requests.*, event.status AS event_status, event.decided_ms AS event_decided_ms,
       event.expires_ms AS event_expires_ms
     FROM requests LEFT JOIN request_events AS event
       ON event.sequence = (SELECT max(sequence) FROM request_events WHERE request_id = requests.id)
     WHERE requests.sequence > ? AND requests.sequence <= ?`,
  );
  return (after: number, upTo: number): readonly ChainRecord[] => select.all(after, upTo).map(requestEntry);
}

function requestEntry(row: StoredRequest): ChainRecord {
  const { hash, seal, now_status, now_decided_ms, now_expires_ms, ...rest } = row;
  const { event_status, event_decided_ms, event_expires_ms, ...columns } = rest;
  return {
    entry: { ...columns, kind: 'request' },
    hash,
    ...(seal !== undefined && { seal }),
    later: {
      stored: { status: now_status, decidedAtMs: now_decided_ms, expiresAtMs: now_expires_ms },
      byEvents: { status: event_status, decidedAtMs: event_decided_ms, expiresAtMs: event_expires_ms },
    },
  };
}

function prepareStretch(database: Database, kind: Exclude<RecordKind, 'request'>, table: string) {
  const select = database.prepare<[number, number], StoredRow>(
    `SELECT * FROM ${table} WHERE sequence > ? AND sequence <= ?`,
  );
  return (after: number, upTo: number): readonly ChainRecord[] =>
    select.all(after, upTo).map(({ hash, seal, ...columns }) => ({
      // Columns hold texts, numbers and nulls.
      entry: { ...columns, kind } as ChainEntry,
      hash,
      ...(seal !== undefined && { seal }),
      later: null,
    }));
}

function checkpointOf({
  sequence,
  hash,
  at_ms: atMs,
  purpose,
  signature,
}: CheckpointColumns): SignedCheckpoint {
  return { sequence, hash, atMs, purpose, signature };
}
