// Reads requests as people look for them: one request with its history, lists by a filter, the queue of those
// that wait. INVARIANT: the cost of a query does not grow with the records: a list walks one index from where
// the page before ended, over a limited number of requests, and the queue walks pending requests only.

import { askedOwner } from '../contract/asked-owner.ts';
import type {
  FoundRequests,
  HeldQuery,
  PendingCounts,
  RequestFilter,
  RequestHistory,
  RequestPage,
  RequestPlace,
  WaitingCount,
  WaitingPage,
} from '../contract/store.ts';
import {
  endNow,
  lookedThroughMax,
  outOfOrderMs,
  type RequestWalk,
  statusNow,
  unansweredWalks,
  walkOf,
  walkText,
  wasGranted,
} from '../shared/request-walk.ts';
import { requestEvent, requestRowOf, type StoredEventRow, type StoredRequestRow } from '../shared/rows.ts';
import { type RequestGuard, requireWhole, type StoredRequest } from './seals/request-seals.ts';
import type { ReadPool, Rows } from './server/read-pool.ts';
import { leastRequestId, requestIdOrNull } from './server/request-ids.ts';

/**
 * SQL conditions of the walks: over one agent's requests, over those of one status, over unanswered ones,
 * over all.
 */
export const databaseWalks = {
  agent: ['agent_id = $1'],
  // The second condition is that of the index, so that the planner uses it.
  status: [`${statusNow} = $3 AND ${statusNow} <> 'auto_approved'`],
  unanswered: unansweredWalks,
  all: ['true'],
} as const satisfies Readonly<Record<RequestWalk, readonly string[]>>;

/**
 * SQL for the status at the time of the query. A wait or a grant past its end is over, even when its end is
 * not recorded yet.
 */
const statusAtNow = `CASE WHEN ${statusNow} IN ('pending', 'auto_approved', 'approved') AND ${endNow} <= $4 THEN 'expired'
    ELSE ${statusNow} END`;

const ofOwner = (email: string, id: string): string =>
  `agent_id IN (SELECT id FROM agents
     WHERE lower(control_owner COLLATE "C") = lower(${email}::text COLLATE "C") OR control_owner = ${id}::text)`;

/** The parameters that hold the groups, the address and the id of the person who is asked. */
type AskedPlaces = readonly [groups: string, email: string, id: string];

/**
 * Returns SQL that tells whether a decision asks the person for an approval or a step-up; `json` is SQL for
 * the text that holds the decision.
 */
const asks = (json: string, [groups, email, id]: AskedPlaces): string =>
  `(EXISTS (SELECT 1 FROM json_array_elements(${json}::json #> '{decision,requires,approvals}') AS asked
     WHERE asked ->> 'group' = ANY (${groups}::text[]) AND asked ->> 'group' <> '${askedOwner}')
   OR (${ofOwner(email, id)} AND (${json}::json #>> '{decision,requires,reauth}' IS NOT NULL
     OR EXISTS (SELECT 1 FROM json_array_elements(${json}::json #> '{decision,requires,approvals}') AS asked
       WHERE asked ->> 'group' = '${askedOwner}'))))`;

const decidedOf = `(SELECT detail_json FROM request_events
  WHERE request_id = requests.id AND what = 'decided' ORDER BY sequence DESC LIMIT 1)`;

/** SQL conditions of a list beyond its walk; a null parameter switches its condition off. */
export const databaseFilters = `($1::text IS NULL OR agent_id = $1)
  AND ($2::text IS NULL OR action_key = $2)
  AND ($3::text IS NULL OR $3 = ${statusAtNow} OR (${statusAtNow} = 'expired'
    AND $3 = CASE WHEN ${wasGranted} THEN 'grant_over' ELSE 'unanswered' END))
  AND ($5::text IS NULL OR outcome = $5)
  AND ($6::text IS NULL OR record_json::json #>> '{decision,matchedPolicy}' = $6)
  AND ($7::float8 IS NULL OR (record_json::json #>> '{decision,risk,high}')::float8 >= $7)
  AND ($8::float8 IS NULL OR (record_json::json #>> '{decision,risk,high}')::float8 <= $8)
  AND created_ms BETWEEN $9 AND $10
  AND ($11::bool OR ${ofOwner('$12', '$13')}
    OR ${asks('record_json', ['$14', '$15', '$16'])} OR ${asks(decidedOf, ['$14', '$15', '$16'])})`;

const listText = (walk: readonly string[]): string => {
  const textOf = (condition: string) =>
    `SELECT sequence, id, created_ms AS "createdAtMs", coalesce(${databaseFilters}, false) AS "isFound" FROM requests
     WHERE ${condition} AND sequence < $17`;
  return walkText(walk, textOf, String(lookedThroughMax));
};

const waitingText = `SELECT id FROM requests
  WHERE ${statusNow} = 'pending' AND ${endNow} > $1 AND (${endNow}, id) > ($2, $3)
    AND ${asks(`coalesce(${decidedOf}, record_json)`, ['$4', '$6', '$7'])}
  ORDER BY ${endNow}, id LIMIT $5`;

/** Counts the untouched requests that wait, and lists the ids of the touched ones. */
const waitingCountText = `SELECT (count(*) FILTER (WHERE NOT "isTouched"))::int AS untouched,
    coalesce(array_agg(id) FILTER (WHERE "isTouched"), '{}') AS touched
  FROM (SELECT id, EXISTS (SELECT 1 FROM request_events WHERE request_id = requests.id
      AND (what = 'approved' AND detail_json::json ->> 'person' = $5
        OR what = 'commented' AND detail_json::json ->> 'kind' = 'question')) AS "isTouched"
    FROM requests WHERE ${statusNow} = 'pending' AND ${endNow} > $1
      AND ${asks(`coalesce(${decidedOf}, record_json)`, ['$2', '$3', '$4'])}) AS waiting`;

const heldText = `SELECT request_id AS id FROM request_events
    WHERE what = 'taken' AND detail_json::json ->> 'taker' = $3
  UNION ALL
  (SELECT id FROM requests
    WHERE agent_id = $1 AND action_key = $2 AND ${statusNow} IN ('pending', 'approved') AND ${endNow} > $4
    ORDER BY ${endNow} DESC LIMIT $5)`;

interface ListRow extends RequestPlace {
  readonly id: string;
  readonly createdAtMs: number;
  readonly isFound: boolean;
}

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
  const known = ids.filter((id) => requestIdOrNull(id) !== null);
  if (known.length === 0) return [];
  const requests = await rows<StoredRequestRow>('SELECT * FROM requests WHERE id = ANY ($1)', [known]);
  const events = await rows<StoredEventRow>(
    'SELECT * FROM request_events WHERE request_id = ANY ($1) ORDER BY sequence',
    [known],
  );
  const byId = new Map(requests.map((columns) => [columns.id, columns]));
  const byRequest = Map.groupBy(events, ({ request_id }) => request_id);
  return known.flatMap((id) => {
    const row = byId.get(id);
    return row === undefined ? [] : { row, events: byRequest.get(row.id) ?? [] };
  });
}

export async function findWaiting(
  reading: RequestReading,
  { asked: { groups, owner }, nowMs, after, countMax }: WaitingPage,
): Promise<readonly RequestHistory[]> {
  const waiting = await reading.rows<{ readonly id: string }>(waitingText, [
    ...[nowMs, after?.expiresAtMs ?? -1, after?.id ?? leastRequestId, groups, countMax],
    ...[owner?.email ?? null, owner?.id ?? null],
  ]);
  return await findAll(
    reading,
    waiting.map(({ id }) => id),
  );
}

export async function countWaiting(
  reading: RequestReading,
  { asked: { groups, owner }, nowMs, person }: WaitingCount,
): Promise<PendingCounts> {
  const [counted] = await reading.rows<{ readonly untouched: number; readonly touched: readonly string[] }>(
    waitingCountText,
    [nowMs, groups, owner?.email ?? null, owner?.id ?? null, person],
  );
  return { untouched: counted?.untouched ?? 0, touched: await findAll(reading, counted?.touched ?? []) };
}

/** Returns the request that was taken, then those that wait or are approved, the latest end first. */
export async function findHeld(
  reading: RequestReading,
  { agentId, actionKey, taker, nowMs, countMax }: HeldQuery,
): Promise<readonly RequestHistory[]> {
  const held = await reading.rows<{ readonly id: string }>(heldText, [
    agentId,
    actionKey,
    taker,
    nowMs,
    countMax,
  ]);
  return await findAll(
    reading,
    held.map(({ id }) => id),
  );
}

export async function findPage(
  reading: RequestReading,
  asked: RequestPage,
): Promise<Omit<FoundRequests, 'unsearched'>> {
  const before =
    asked.after?.sequence ??
    (asked.untilMs === null ? Number.MAX_SAFE_INTEGER : await numberAfter(reading.rows, asked.untilMs));
  const looked = await reading.rows<ListRow>(listText(databaseWalks[walkOf(asked)]), [
    ...filterValues(asked),
    before,
  ]);
  const { found, next } = cut(looked, asked);
  return { found: await placed(reading, found), next };
}

/** Returns the requests at these places, the latest first; missing requests are left out. */
export async function findAt(
  reading: RequestReading,
  places: readonly RequestPlace[],
): Promise<FoundRequests['found']> {
  const text = 'SELECT sequence, id FROM requests WHERE sequence = ANY ($1::int8[]) ORDER BY sequence DESC';
  const values = [places.map(({ sequence }) => sequence)];
  return await placed(reading, await reading.rows<Pick<ListRow, 'id' | 'sequence'>>(text, values));
}

async function placed(
  reading: RequestReading,
  found: readonly Pick<ListRow, 'id' | 'sequence'>[],
): Promise<FoundRequests['found']> {
  const histories = await findAll(
    reading,
    found.map(({ id }) => id),
  );
  return histories.map((history, at) => ({ ...history, sequence: found[at]?.sequence ?? 0 }));
}

/**
 * Returns the requests that belong on the page, out of those that were looked through, and where the next
 * page begins.
 */
function cut(
  looked: readonly ListRow[],
  { countMax, fromMs }: RequestPage,
): { readonly found: readonly ListRow[]; readonly next: RequestPlace | null } {
  const found: ListRow[] = [];
  let last: RequestPlace | null = null;
  for (const one of looked) {
    if (found.length === countMax) return { found, next: last };
    if (one.createdAtMs < (fromMs ?? 0) - outOfOrderMs) return { found, next: null };
    last = { sequence: one.sequence };
    if (one.isFound) found.push(one);
  }
  return { found, next: looked.length === lookedThroughMax ? last : null };
}

/** Returns a record number below those of all requests made at `atMs` or later, and not much below. */
export async function numberBefore({ snapshot }: Pick<ReadPool, 'snapshot'>, atMs: number): Promise<number> {
  return (await snapshot((rows) => numberAfter(rows, atMs - 2 * outOfOrderMs))) - 1;
}

/** Returns a record number above those of all requests made at `untilMs` or earlier, and not much above. */
export async function numberAfter(rows: Rows, untilMs: number): Promise<number> {
  const [end] = await rows<{ readonly last: number | null }>('SELECT max(sequence) AS last FROM requests');
  let [low, high] = [0, (end?.last ?? 0) + 1];
  while (low < high) {
    const middle = Math.floor((low + high) / 2);
    const [next] = await rows<Pick<ListRow, 'sequence' | 'createdAtMs'>>(
      'SELECT sequence, created_ms AS "createdAtMs" FROM requests WHERE sequence >= $1 ORDER BY sequence LIMIT 1',
      [middle],
    );
    if (next !== undefined && next.createdAtMs <= untilMs + outOfOrderMs) low = next.sequence + 1;
    else high = middle;
  }
  return low;
}

/** Returns the values for `databaseFilters`, `$1` to `$16`. */
export function filterValues(asked: RequestFilter): readonly unknown[] {
  const { agentId, actionKey, status, nowMs, outcome, policy, riskMin, riskMax, fromMs, untilMs, seenBy } =
    asked;
  return [
    ...[agentId, actionKey, status, nowMs, outcome, policy, riskMin, riskMax],
    ...[fromMs ?? 0, untilMs ?? Number.MAX_SAFE_INTEGER, seenBy === null],
    ...[seenBy?.owner?.email ?? null, seenBy?.owner?.id ?? null, seenBy?.asked.groups ?? []],
    ...[seenBy?.asked.owner?.email ?? null, seenBy?.asked.owner?.id ?? null],
  ];
}
