// Reads requests from a file, each checked against its seals: one request with its history, and the requests of
// lists, whose queries are in `queries/request-lists.ts`. What agents wait for is prepared for speed.

import type { Database } from 'better-sqlite3';
import type { RequestEvent, RequestRow } from '../contract/records.ts';
import type { SealKey } from '../contract/seal.ts';
import type {
  FoundRequests,
  HeldQuery,
  IdempotencyQuery,
  PendingCounts,
  RequestHistory,
  RequestPage,
  RequestPosition,
  WaitingCount,
  WaitingPage,
} from '../contract/store.ts';
import { sqliteDialect } from '../queries/dialect.ts';
import {
  endNow,
  numberAfterQuery,
  type PlacedId,
  pageOf,
  pendingCounts,
  type RequestId,
  requestQueries,
  statusNow,
  waitingIds,
} from '../queries/request-lists.ts';
import { createEventCounts, type EventCount } from '../shared/event-counts.ts';
import { idempotencyExpiry, requestEvent, requestRowOf } from '../shared/rows.ts';
import { latestExpiry } from '../shared/stored-state.ts';
import { createSyncQueryRunner } from './query-runner.ts';
import { prepareRequestRead } from './seal/request-check.ts';

/** These conditions are those of the indexes, so that SQLite uses them. */
const taken = `FROM request_events WHERE what = 'taken' AND detail_json ->> '$.taker' = @taker`;
const held = `FROM requests
  WHERE agent_id = @agentId AND action_key = @actionKey AND ${statusNow} IN ('pending', 'approved') AND ${endNow} > @nowMs`;

/**
 * Whether there are any held requests, which is rarely so. SQLite plans a query with an order and comparisons
 * again for each new value; it does not plan this one again.
 */
export const anyResumableQuery = `SELECT EXISTS (SELECT 1 ${taken}) OR EXISTS (SELECT 1 ${held})`;

export const resumableQuery = `SELECT request_id AS id ${taken}
  UNION ALL SELECT * FROM (SELECT id ${held} ORDER BY ${endNow} DESC LIMIT @countMax)`;

export function prepareRequestReads(database: Database, key: SealKey) {
  const read = prepareRequestRead(database, key);
  const counts = createEventCounts();
  const headColumns = 'event_count AS count, until_ms AS untilMs FROM request_heads';
  const heads = database.prepare<[], EventCount & RequestId>(`SELECT request_id AS id, ${headColumns}`);
  const head = database.prepare<[string], EventCount>(`SELECT ${headColumns} WHERE request_id = ?`);
  const byKey = database.prepare<[IdempotencyQuery], RequestId>(
    `SELECT id FROM requests
     WHERE agent_id = @agentId AND idempotency_key = @key AND ${idempotencyExpiry} > @nowMs`,
  );
  const anyHeld = database.prepare<[HeldQuery], number>(anyResumableQuery).pluck();
  const allHeld = database.prepare<[HeldQuery], RequestId>(resumableQuery);

  /** To be called in a transaction. Throws StoreError when the request is not as the service wrote it. */
  function find(id: string): RequestHistory | null {
    const request = read(id);
    if (request === null) return null;
    const { row, events } = request;
    counts.see(id, { count: events.length, untilMs: latestExpiry(row, events) });
    return { row: requestRowOf(row), events: events.map(requestEvent) };
  }
  const findAll = (rows: readonly RequestId[]) => rows.flatMap(({ id }) => find(id) ?? []);

  // Transactions, so that everything is read at one moment.
  const history = database.transaction(find);
  const readHeld = database.transaction((query: HeldQuery) => findAll(allHeld.all(query)));
  const request = (id: string): RequestRow | null => history(id)?.row ?? null;
  return {
    /** Remembers the events of all requests that may still be granted: none of them can go from now on. */
    rememberEvents(): void {
      for (const { id, ...seen } of heads.iterate()) counts.see(id, seen);
    },
    /** Remembers an event that was just stored. */
    rememberEvent(id: string): void {
      const stored = head.get(id);
      if (stored !== undefined) counts.see(id, stored);
    },
    history,
    request,
    events: (id: string): readonly RequestEvent[] => history(id)?.events ?? [],
    requestByKey(query: IdempotencyQuery): RequestRow | null {
      const id = byKey.get(query);
      return id === undefined ? null : request(id.id);
    },
    heldOf: (query: HeldQuery): readonly RequestHistory[] =>
      anyHeld.get(query) === 1 ? readHeld(query) : [],
    ...prepareLists(database, findAll),
  };
}

function prepareLists(database: Database, findAll: (ids: readonly RequestId[]) => readonly RequestHistory[]) {
  const queries = requestQueries(sqliteDialect);
  const { all, iterate } = createSyncQueryRunner(database);

  const placed = (ids: readonly PlacedId[]): FoundRequests['items'] =>
    ids.flatMap((one) => findAll([one]).map((history) => ({ ...history, sequence: one.sequence })));

  return {
    requestPage: database.transaction((page: RequestPage): Omit<FoundRequests, 'unsearched'> => {
      const { after, untilMs } = page;
      const last = after === null && untilMs !== null ? all(numberAfterQuery(untilMs))[0]?.number : null;
      const before = after?.sequence ?? last ?? Number.MAX_SAFE_INTEGER;
      const walk = iterate(queries.page(page, before));
      const { items: found, next } = pageOf(walk, page);
      return { items: placed(found), next };
    }),
    /** The requests at these places, the latest first; missing requests are left out. */
    requestsAt: database.transaction((places: readonly RequestPosition[]) => placed(all(queries.at(places)))),
    waiting: database.transaction((page: WaitingPage) => findAll(all(queries.waiting(page)))),
    countWaiting: database.transaction((query: WaitingCount): PendingCounts => {
      const counted = waitingIds(all(queries.waitingCount(query)));
      const ids = [...counted.untouched.map(({ id }) => id), ...counted.touched];
      return pendingCounts(counted, findAll(ids.map((id) => ({ id }))));
    }),
  };
}
