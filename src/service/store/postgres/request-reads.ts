// Reads requests from a database, each checked against its seals: one request with its history, and the requests
// of lists, whose queries are in `queries/request-lists.ts`. `heldOf` is here because its look-ups need the
// expressions of the indices.

import type {
  FoundRequests,
  HeldQuery,
  PendingCounts,
  RequestHistory,
  RequestPage,
  RequestPosition,
  WaitingCount,
  WaitingPage,
} from '../contract/store.ts';
import { postgresDialect } from '../queries/dialect.ts';
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
import { requestEvent, requestRowOf, type StoredEventRow, type StoredRequestRow } from '../shared/rows.ts';
import { type RequestGuard, requireWhole, type StoredRequest } from './seals/request-seals.ts';
import { withNames } from './server/named-parameters.ts';
import type { Rows } from './server/read-pool.ts';
import { requestIdOrNull } from './server/request-ids.ts';

const queries = requestQueries(postgresDialect);

const resumableQuery = `SELECT request_id AS id FROM request_events
    WHERE what = 'taken' AND detail_json::json ->> 'taker' = $3
  UNION ALL
  (SELECT id FROM requests
    WHERE agent_id = $1 AND action_key = $2 AND ${statusNow} IN ('pending', 'approved') AND ${endNow} > $4
    ORDER BY ${endNow} DESC LIMIT $5)`;

/** Reads of requests. INVARIANT: what is returned is as the service wrote it. */
export interface RequestReading {
  readonly rows: Rows;
  readonly guard: RequestGuard;
}

export async function findHistory(
  reading: RequestReading,
  id: string | null,
): Promise<RequestHistory | null> {
  return id === null ? null : ((await findAll(reading, [id]))[0] ?? null);
}

/**
 * Returns the requests with these ids, in this order; missing requests are left out. Rejects with a StoreError
 * when one is not as the service wrote it.
 */
async function findAll(
  { rows, guard }: RequestReading,
  ids: readonly string[],
): Promise<readonly RequestHistory[]> {
  return (await readStored(rows, ids)).map((request) => {
    requireWhole(guard, request);
    return { row: requestRowOf(request.row), events: request.events.map(requestEvent) };
  });
}

/** Returns requests with their events as they are stored, in the order of the ids. */
export async function readStored(rows: Rows, ids: readonly string[]): Promise<readonly StoredRequest[]> {
  const validIds = ids.filter((id) => requestIdOrNull(id) !== null);
  if (validIds.length === 0) return [];
  const requests = await rows<StoredRequestRow>('SELECT * FROM requests WHERE id = ANY ($1)', [validIds]);
  const events = await rows<StoredEventRow>(
    'SELECT * FROM request_events WHERE request_id = ANY ($1) ORDER BY sequence',
    [validIds],
  );
  const byId = new Map(requests.map((columns) => [columns.id, columns]));
  const byRequest = Map.groupBy(events, ({ request_id }) => request_id);
  return validIds.flatMap((id) => {
    const row = byId.get(id);
    return row === undefined ? [] : { row, events: byRequest.get(row.id) ?? [] };
  });
}

const idsOf = (ids: readonly RequestId[]): readonly string[] => ids.map(({ id }) => id);

export async function findWaiting(
  reading: RequestReading,
  page: WaitingPage,
): Promise<readonly RequestHistory[]> {
  return await findAll(reading, idsOf(await withNames(reading.rows)(queries.waiting(page))));
}

export async function countWaiting(reading: RequestReading, query: WaitingCount): Promise<PendingCounts> {
  const counted = waitingIds(await withNames(reading.rows)(queries.waitingCount(query)));
  const ids = [...counted.untouched.map(({ id }) => id), ...counted.touched];
  return pendingCounts(counted, await findAll(reading, ids));
}

/** Returns the request that was taken, then those that wait or are approved, the latest end first. */
export async function findHeld(
  reading: RequestReading,
  { agentId, actionKey, taker, nowMs, countMax }: HeldQuery,
): Promise<readonly RequestHistory[]> {
  const values = [agentId, actionKey, taker, nowMs, countMax];
  return await findAll(reading, idsOf(await reading.rows<RequestId>(resumableQuery, values)));
}

export async function findPage(
  reading: RequestReading,
  page: RequestPage,
): Promise<Omit<FoundRequests, 'unsearched'>> {
  const { after, untilMs } = page;
  const rows = withNames(reading.rows);
  const last = after === null && untilMs !== null ? (await rows(numberAfterQuery(untilMs)))[0]?.number : null;
  const before = after?.sequence ?? last ?? Number.MAX_SAFE_INTEGER;
  const walk = await rows(queries.page(page, before));
  const { items: found, next } = pageOf(walk, page);
  return { items: await placed(reading, found), next };
}

/** Returns the requests at these places, the latest first; missing requests are left out. */
export async function findAt(
  reading: RequestReading,
  places: readonly RequestPosition[],
): Promise<FoundRequests['items']> {
  return await placed(reading, await withNames(reading.rows)(queries.at(places)));
}

async function placed(reading: RequestReading, ids: readonly PlacedId[]): Promise<FoundRequests['items']> {
  const histories = await findAll(reading, idsOf(ids));
  return histories.map((history, at) => ({ ...history, sequence: ids[at]?.sequence ?? 0 }));
}
