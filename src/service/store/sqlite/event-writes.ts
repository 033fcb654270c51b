// Records what becomes of requests at the end of the chain, and notes the latest state in the request's own
// row, by which queries find it. INVARIANT: a request's row holds the state of its last event, and a sealed
// row counts its events, since all are written together; nothing is written on a request that is not as the
// service wrote it.

import type { Database } from 'better-sqlite3';
import type { RequestEvent } from '../contract/records.ts';
import type { RequestChange, RequestChangeResult } from '../contract/store.ts';
import { type EventColumns, eventColumns, requestRowOf, type StoredEventRow } from '../shared/rows.ts';
import { prepareRequestRead } from './seal/request-check.ts';
import type { WriteContext } from './write-context.ts';

interface DuePage {
  readonly atMs: number;
  readonly countMax: number;
}

/** The most rows that count events which are deleted at once. */
const sweptAtOnce = 1_000;

export function prepareEventWrites(database: Database, context: WriteContext) {
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
      basis,
      entries = [],
    }: RequestChange): RequestChangeResult {
      const present = read(requestId);
      if (present === null) return 'unknown-request';
      const isSeen = seen === null || present.events.length === seen;
      if (!from.includes(requestRowOf(present.row).status) || !isSeen) return 'state-differs';
      const atMs = events[0]?.atMs ?? 0;
      if (basis !== undefined && !context.basis.holds(basis, atMs)) return 'basis-changed';
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
