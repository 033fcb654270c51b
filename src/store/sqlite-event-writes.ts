// What becomes of requests into records at the end of the chain, and the latest of them into the request's own row, by
// which queries find it. INVARIANT: a request's row says what its last event says, for both are written together; what
// the request was recorded with never changes.

import type { Database } from 'better-sqlite3';
import { canonicalJson } from './canonical-json.ts';
import type { Link } from './chain.ts';
import type { RequestEvent, RequestState, RequestStatus } from './records.ts';
import type { Chain } from './sqlite-chain.ts';
import type { WriteOf, WriteResults } from './sqlite-writes.ts';

interface EventColumns {
  readonly request_id: string;
  readonly at_ms: number;
  readonly who: string;
  readonly what: string;
  readonly status: RequestStatus;
  readonly decided_ms: number | null;
  readonly expires_ms: number;
  readonly detail_json: string | null;
}

interface Due {
  readonly id: string;
  readonly decidedAtMs: number | null;
  readonly expiresAtMs: number;
}

export function prepareEventWrites(database: Database, chain: Chain) {
  const selectStatus = database.prepare<[string], Pick<RequestState, 'status'>>(
    'SELECT coalesce(now_status, status) AS status FROM requests WHERE id = ?',
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
    chain.append('event', columns, insert.run.bind(insert));
    update.run(columns);
  }

  return {
    change({ event, from }: WriteOf<'change-request'>): WriteResults['change-request'] {
      const present = selectStatus.get(event.requestId)?.status;
      if (present === undefined) return 'unknown-request';
      if (!from.includes(present)) return 'state-differs';
      record(event);
      return 'changed';
    },
    /** How many waits have ended; fewer than `countMax` where none is left. */
    expireDue({ atMs, countMax }: WriteOf<'expire-due'>): WriteResults['expire-due'] {
      const due = selectDue.all(atMs, countMax);
      for (const { id: requestId, decidedAtMs, expiresAtMs } of due) {
        const state = { status: 'expired', decidedAtMs, expiresAtMs } as const;
        record({ requestId, atMs, who: 'system', what: 'expired', state, detail: null });
      }
      return due.length;
    },
  };
}

function eventColumns({ requestId, atMs, who, what, state, detail }: RequestEvent): EventColumns {
  return {
    ...{ request_id: requestId, at_ms: atMs, who, what },
    ...{ status: state.status, decided_ms: state.decidedAtMs, expires_ms: state.expiresAtMs },
    detail_json: detail === null ? null : canonicalJson(detail),
  };
}
