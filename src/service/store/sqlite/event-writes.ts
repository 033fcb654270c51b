// Records what becomes of requests at the end of the chain, and notes the latest state in the request's own
// row, by which queries find it. INVARIANT: a request's row holds the state of its last event, since both are
// written together; what the request was recorded with never changes.

import type { Database } from 'better-sqlite3';
import type { Link } from '../contract/chain.ts';
import type { LifecycleState, RequestEvent } from '../contract/records.ts';
import type { RequestChange, RequestChangeResult } from '../contract/store.ts';
import { type EventColumns, eventColumns } from './rows.ts';
import type { WriteContext } from './write-context.ts';

interface DuePage {
  readonly atMs: number;
  readonly countMax: number;
}

interface Due {
  readonly id: string;
  readonly decidedAtMs: number | null;
  readonly expiresAtMs: number;
}

export function prepareEventWrites(database: Database, context: WriteContext) {
  const selectStatus = database.prepare<[string], Pick<LifecycleState, 'status'>>(
    'SELECT coalesce(now_status, status) AS status FROM requests WHERE id = ?',
  );
  const countEvents = database.prepare<[string], { count: number }>(
    'SELECT count(*) AS count FROM request_events WHERE request_id = ?',
  );
  const insert = database.prepare<[EventColumns & Link]>(
    `INSERT INTO request_events (sequence, request_id, at_ms, who, what, status, decided_ms, expires_ms,
       detail_json, hash)
     VALUES (@sequence, @request_id, @at_ms, @who, @what, @status, @decided_ms, @expires_ms, @detail_json, @hash)`,
  );
  const update = database.prepare<[EventColumns]>(
    `UPDATE requests SET now_status = @status, now_decided_ms = @decided_ms, now_expires_ms = @expires_ms
     WHERE id = @request_id`,
  );
  const selectDue = database.prepare<[number, number], Due>(
    `SELECT id, now_decided_ms AS decidedAtMs, coalesce(now_expires_ms, expires_ms) AS expiresAtMs FROM requests
     WHERE coalesce(now_status, status) = 'pending' AND coalesce(now_expires_ms, expires_ms) <= ?
     ORDER BY coalesce(now_expires_ms, expires_ms) LIMIT ?`,
  );

  function record(event: RequestEvent): void {
    const columns = eventColumns(event);
    context.chain.append('event', columns, (row, link) => insert.run({ ...row, ...link }));
    update.run(columns);
    context.meterEntries.follow(event);
  }

  return {
    'change-request'({
      requestId,
      events,
      from,
      seen,
      basis,
      entries = [],
    }: RequestChange): RequestChangeResult {
      const present = selectStatus.get(requestId)?.status;
      if (present === undefined) return 'unknown-request';
      const isSeen = seen === null || countEvents.get(requestId)?.count === seen;
      if (!from.includes(present) || !isSeen) return 'state-differs';
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
      const due = selectDue.all(atMs, countMax);
      for (const { id: requestId, decidedAtMs, expiresAtMs } of due) {
        const state = { status: 'expired', decidedAtMs, expiresAtMs } as const;
        record({ requestId, atMs, who: 'system', what: 'expired', state, detail: null });
      }
      return due.map(({ id }) => id);
    },
  };
}
