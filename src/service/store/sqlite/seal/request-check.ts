// Checks one stored request before anything rests on it: its record and its events against their seals, that
// none of its events is missing, and the state in its row against its last event. INVARIANT: what passes is
// what the service wrote last about this request, unless someone has the master key, or has put back an
// earlier copy of the whole file.

import type { Database } from 'better-sqlite3';
import { type ChainEntry, chainStart } from '../../contract/chain.ts';
import { isSealed, type SealKey } from '../../contract/seal.ts';
import { tamperedRequest } from '../../contract/store-error.ts';
import { createLinkHasher } from '../../shared/link-hasher.ts';
import type { StoredEventRow, StoredRequestRow } from '../../shared/rows.ts';
import { latestExpiry, stateDifference } from '../../shared/stored-state.ts';

export interface CheckedRequest {
  readonly row: StoredRequestRow;
  /** All events of the request, the earliest first. */
  readonly events: readonly StoredEventRow[];
}

/**
 * Returns what is not as the service wrote it, one sentence in lower case without a final period; null when
 * the request is whole. To be called in the transaction that has read the request.
 */
export type RequestCheck = (request: CheckedRequest) => string | null;

export function prepareRequestCheck(database: Database, key: SealKey): RequestCheck {
  const isGenuine = prepareGenuine(database, key);
  const headOf = database
    .prepare<[string], number>('SELECT event_count FROM request_heads WHERE request_id = ?')
    .pluck();
  const sweptMs = database.prepare<[], number>('SELECT swept_ms FROM heads_mark').pluck();
  return ({ row, events }) => {
    if (!isGenuine('request', row)) return 'its record is not the one that the service wrote';
    for (const event of events)
      if (event.request_id !== row.id || !isGenuine('event', event))
        return `its event ${event.sequence} (\`${event.what}\`) is not one that the service wrote`;
    const counted = headOf.get(row.id);
    if (counted !== undefined && counted !== events.length)
      return `it has ${events.length} events, and the service wrote ${counted}`;
    if (counted === undefined && events.length > 0 && latestExpiry(row, events) > (sweptMs.get() ?? 0))
      return 'the row that counts its events is gone';
    return stateDifference(row, events.at(-1));
  };
}

/**
 * Returns a function that reads a request with its events; null when there is none. It throws StoreError when
 * the request is not as the service wrote it. To be called in a transaction.
 */
export function prepareRequestRead(
  database: Database,
  key: SealKey,
): (requestId: string) => CheckedRequest | null {
  const read = prepareRequestRows(database);
  const differenceOf = prepareRequestCheck(database, key);
  return (requestId) => {
    const request = read(requestId);
    const difference = request === null ? null : differenceOf(request);
    if (difference !== null) throw tamperedRequest(requestId, difference);
    return request;
  };
}

/** Returns a function that reads a request with its events as they are stored. */
export function prepareRequestRows(database: Database): (requestId: string) => CheckedRequest | null {
  const requests = database.prepare<[string], StoredRequestRow>('SELECT * FROM requests WHERE id = ?');
  const eventsOf = database.prepare<[string], StoredEventRow>(
    'SELECT * FROM request_events WHERE request_id = ? ORDER BY sequence',
  );
  return (requestId) => {
    const row = requests.get(requestId);
    return row === undefined ? null : { row, events: eventsOf.all(requestId) };
  };
}

/**
 * Returns a function that tells whether the service wrote a record: the hash of the record before and what
 * the record says give its hash, and the hash has its seal.
 */
function prepareGenuine(database: Database, key: SealKey) {
  const hashOf = createLinkHasher();
  const tables = ['requests', 'refusals', 'changes', 'request_events'].map(
    (table) => `SELECT hash FROM ${table} WHERE sequence = @sequence`,
  );
  const before = database
    .prepare<[{ readonly sequence: number }], string>(
      `${tables.join(' UNION ALL ')}
       UNION ALL SELECT hash FROM checkpoints WHERE purpose = 'pruned' AND sequence = @sequence LIMIT 1`,
    )
    .pluck();
  return (kind: 'request' | 'event', stored: StoredRequestRow | StoredEventRow): boolean => {
    if (!isSealed(key, stored)) return false;
    const { hash, seal: _, ...columns } = stored;
    const previous = before.get({ sequence: stored.sequence - 1 }) ?? chainStart.hash;
    return hashOf(previous, entryOf(kind, columns)) === hash;
  };
}

/** The columns of a record: all but those that repeat the present state. */
function entryOf(kind: 'request' | 'event', columns: object): ChainEntry {
  const {
    now_status: _,
    now_decided_ms: __,
    now_expires_ms: ___,
    ...entry
  } = columns as Record<string, unknown>;
  // Columns hold texts, numbers and nulls.
  return { ...entry, kind } as ChainEntry;
}
