// Reads requests as people look for them: one request with its history, lists by a filter, the queue of those
// that wait. INVARIANT: the cost of a query does not grow with the records: a list walks one index from where
// the page before ended, over a limited number of requests, and the queue walks pending requests only.

import type { Database } from 'better-sqlite3';
import { type AskedPerson, askedOwner } from '../contract/asked-owner.ts';
import type { SealKey } from '../contract/seal.ts';
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
import { createEventCounts, type EventCount } from '../shared/event-counts.ts';
import { untilOf } from '../shared/request-differences.ts';
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
import { requestEvent, requestRowOf } from '../shared/rows.ts';
import { prepareRequestRead } from './seal/request-check.ts';

/**
 * SQL for the status at the time of the query. A wait or a grant past its end is over, even when its end is
 * not recorded yet.
 */
const statusAtNow = `CASE WHEN ${statusNow} IN ('pending', 'auto_approved', 'approved') AND ${endNow} <= @nowMs
  THEN 'expired' ELSE ${statusNow} END`;

/**
 * SQL conditions of the walks: over one agent's requests, over those of one status, over unanswered ones,
 * over all.
 */
export const walks = {
  agent: ['agent_id = @agentId'],
  // The second condition is that of the index, so that the planner uses it.
  status: [`${statusNow} = @status AND ${statusNow} <> 'auto_approved'`],
  unanswered: unansweredWalks,
  all: ['TRUE'],
} as const satisfies Readonly<Record<RequestWalk, readonly string[]>>;

const ofOwner = (email: string, id: string): string =>
  `agent_id IN (SELECT id FROM agents WHERE control_owner = ${email} COLLATE NOCASE OR control_owner = ${id})`;

/**
 * Returns SQL that tells whether a decision asks the person for an approval or a step-up; `json` is SQL for
 * the text that holds the decision.
 */
const asks = (json: string): string =>
  `(EXISTS (SELECT 1 FROM json_each(${json}, '$.decision.requires.approvals') AS asked, json_each(@groups) AS one
     WHERE asked.value ->> '$.group' = one.value AND one.value <> '${askedOwner}')
   OR (${ofOwner('@askedEmail', '@askedId')} AND (${json} ->> '$.decision.requires.reauth' IS NOT NULL
     OR EXISTS (SELECT 1 FROM json_each(${json}, '$.decision.requires.approvals') AS asked
       WHERE asked.value ->> '$.group' = '${askedOwner}'))))`;

const decidedOf = `SELECT detail_json FROM request_events
  WHERE request_id = requests.id AND what = 'decided' ORDER BY sequence DESC LIMIT 1`;

/** SQL conditions of a list beyond its walk; a null parameter switches its condition off. */
export const filters = `(@agentId IS NULL OR agent_id = @agentId)
  AND (@actionKey IS NULL OR action_key = @actionKey)
  AND (@status IS NULL OR ${statusAtNow} = @status OR (${statusAtNow} = 'expired'
    AND @status = CASE WHEN ${wasGranted} THEN 'grant_over' ELSE 'unanswered' END))
  AND (@outcome IS NULL OR outcome = @outcome)
  AND (@policy IS NULL OR record_json ->> '$.decision.matchedPolicy' = @policy)
  AND (@riskMin IS NULL OR record_json ->> '$.decision.risk.high' >= @riskMin)
  AND (@riskMax IS NULL OR record_json ->> '$.decision.risk.high' <= @riskMax)
  AND created_ms BETWEEN @fromMs AND @untilMs
  AND (@isOfAll OR ${ofOwner('@email', '@personId')}
    OR ${asks('record_json')} OR ${asks(`(${decidedOf})`)})`;

export function listText(walk: readonly string[]): string {
  const textOf = (condition: string) =>
    `SELECT sequence, id, created_ms AS createdAtMs, ${filters} AS isFound FROM requests
     WHERE ${condition} AND sequence < @before`;
  return walkText(walk, textOf, String(lookedThroughMax));
}

export const waitingText = `SELECT id FROM requests
  WHERE ${statusNow} = 'pending' AND ${endNow} > @nowMs AND (${endNow}, id) > (@afterMs, @afterId)
    AND ${asks(`coalesce((${decidedOf}), record_json)`)}
  ORDER BY ${endNow}, id LIMIT @countMax`;

/** Counts the untouched requests that wait, and lists the ids of the touched ones. */
export const waitingCountText = `SELECT count(*) FILTER (WHERE NOT isTouched) AS untouched,
    json_group_array(id) FILTER (WHERE isTouched) AS touched
  FROM (SELECT id, EXISTS (SELECT 1 FROM request_events WHERE request_id = requests.id
      AND (what = 'approved' AND detail_json ->> '$.person' = @person
        OR what = 'commented' AND detail_json ->> '$.kind' = 'question')) AS isTouched
    FROM requests WHERE ${statusNow} = 'pending' AND ${endNow} > @nowMs
      AND ${asks(`coalesce((${decidedOf}), record_json)`)})`;

/** These conditions are those of the indexes, so that SQLite uses them. */
const taken = `FROM request_events WHERE what = 'taken' AND detail_json ->> '$.taker' = @taker`;
const held = `FROM requests
  WHERE agent_id = @agentId AND action_key = @actionKey AND ${statusNow} IN ('pending', 'approved') AND ${endNow} > @nowMs`;

/**
 * Whether there are any held requests, which is rarely so. SQLite plans a query with an order and comparisons
 * again for each new value; it does not plan this one again.
 */
export const anyHeldText = `SELECT EXISTS (SELECT 1 ${taken}) OR EXISTS (SELECT 1 ${held})`;

export const heldText = `SELECT request_id AS id ${taken}
  UNION ALL SELECT * FROM (SELECT id ${held} ORDER BY ${endNow} DESC LIMIT @countMax)`;

interface ListRow extends RequestPlace {
  readonly id: string;
  readonly createdAtMs: number;
  readonly isFound: 0 | 1;
}

export function prepareRequestLists(database: Database, key: SealKey) {
  const read = prepareRequestRead(database, key);
  const counts = createEventCounts();
  const headColumns = 'event_count AS count, until_ms AS untilMs FROM request_heads';
  const heads = database.prepare<[], EventCount & { readonly id: string }>(
    `SELECT request_id AS id, ${headColumns}`,
  );
  const head = database.prepare<[string], EventCount>(`SELECT ${headColumns} WHERE request_id = ?`);
  const list = (walk: readonly string[]) => database.prepare<[object], ListRow>(listText(walk));
  const lists = {
    agent: list(walks.agent),
    status: list(walks.status),
    unanswered: list(walks.unanswered),
    all: list(walks.all),
  };
  const anyHeld = database.prepare<[HeldQuery], number>(anyHeldText).pluck();
  const allHeld = database.prepare<[HeldQuery], { id: string }>(heldText);
  const readHeld = database.transaction((query: HeldQuery): readonly RequestHistory[] =>
    findAll(allHeld.all(query).map(({ id }) => id)),
  );
  const open = database.prepare<[string, number], { id: string }>(
    `SELECT id FROM requests WHERE ${statusNow} = 'pending' AND agent_id = ? ORDER BY ${endNow} LIMIT ?`,
  );

  const { numberAfter } = prepareNumbers(database);

  /** To be called in a transaction. Throws StoreError when the request is not as the service wrote it. */
  function find(id: string): RequestHistory | null {
    const found = read(id);
    if (found === null) return null;
    const { row, events } = found;
    counts.see(id, { count: events.length, untilMs: untilOf(row, events) });
    return { row: requestRowOf(row), events: events.map(requestEvent) };
  }

  const placed = (found: readonly Pick<ListRow, 'id' | 'sequence'>[]) =>
    found.flatMap(({ id, sequence }) => {
      const history = find(id);
      return history === null ? [] : { ...history, sequence };
    });

  const idOf = database.prepare<[number], RequestPlace & { readonly id: string }>(
    'SELECT sequence, id FROM requests WHERE sequence = ?',
  );

  const findAll = (ids: readonly string[]) => ids.flatMap((id) => find(id) ?? []);

  function page(asked: RequestPage): Omit<FoundRequests, 'unsearched'> {
    const before =
      asked.after?.sequence ?? (asked.untilMs === null ? allNumbers : numberAfter(asked.untilMs));
    const found: ListRow[] = [];
    let looked = 0;
    let last: RequestPlace | null = null;
    for (const one of lists[walkOf(asked)].iterate(parametersOf(asked, before))) {
      if (found.length === asked.countMax) return { found: placed(found), next: last };
      if (one.createdAtMs < (asked.fromMs ?? 0) - outOfOrderMs) return { found: placed(found), next: null };
      looked += 1;
      last = { sequence: one.sequence };
      if (one.isFound === 1) found.push(one);
    }
    return { found: placed(found), next: looked === lookedThroughMax ? last : null };
  }

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
    // A transaction, so that everything is read at one moment.
    history: database.transaction(find),
    requestPage: database.transaction(page),
    /** The requests at these places, in this order; missing requests are left out. */
    requestsAt: database.transaction((places: readonly RequestPlace[]) =>
      placed(places.flatMap(({ sequence }) => idOf.get(sequence) ?? [])),
    ),
    ...prepareWaiting(database, findAll),
    heldOf: (query: HeldQuery): readonly RequestHistory[] =>
      anyHeld.get(query) === 1 ? readHeld(query) : [],
    openOf: (agentId: string, countMax: number): readonly string[] =>
      open.all(agentId, countMax).map(({ id }) => id),
  };
}

function prepareWaiting(database: Database, findAll: (ids: readonly string[]) => readonly RequestHistory[]) {
  const waiting = database.prepare<[object], { id: string }>(waitingText);
  const waitingCount = database.prepare<[object], { untouched: number; touched: string }>(waitingCountText);
  return {
    waiting: database.transaction(({ asked, after, ...rest }: WaitingPage): readonly RequestHistory[] =>
      findAll(
        waiting
          .all({
            ...rest,
            ...askedParameters(asked),
            afterMs: after?.expiresAtMs ?? -1,
            afterId: after?.id ?? '',
          })
          .map(({ id }) => id),
      ),
    ),
    countWaiting: database.transaction(({ asked, ...rest }: WaitingCount): PendingCounts => {
      const counted = waitingCount.get({ ...rest, ...askedParameters(asked) });
      const ids = JSON.parse(counted?.touched ?? '[]') as readonly string[];
      return { untouched: counted?.untouched ?? 0, touched: findAll(ids) };
    }),
  };
}

/** Returns functions that find record numbers by times, which numbers nearly follow. */
export function prepareNumbers(database: Database) {
  const numberAfter = prepareNumberAfter(database);
  return {
    numberAfter,
    /** A record number below those of requests made at `atMs` or later. */
    numberBefore: (atMs: number): number => numberAfter(atMs - 2 * outOfOrderMs) - 1,
  };
}

/**
 * Returns a function that gives a record number above those of all requests made at `untilMs` or earlier, and
 * not much above.
 */
function prepareNumberAfter(database: Database): (untilMs: number) => number {
  const numbered = database.prepare<[number], Omit<ListRow, 'id' | 'isFound'>>(
    'SELECT sequence, created_ms AS createdAtMs FROM requests WHERE sequence >= ? ORDER BY sequence LIMIT 1',
  );
  const lastNumber = database.prepare<[], { last: number | null }>(
    'SELECT max(sequence) AS last FROM requests',
  );
  return (untilMs: number): number => {
    let [low, high] = [0, (lastNumber.get()?.last ?? 0) + 1];
    while (low < high) {
      const middle = Math.floor((low + high) / 2);
      const next = numbered.get(middle);
      if (next !== undefined && next.createdAtMs <= untilMs + outOfOrderMs) low = next.sequence + 1;
      else high = middle;
    }
    return low;
  };
}

const allNumbers = Number.MAX_SAFE_INTEGER;

/** Returns the parameters of a list. The text of the filter is not one of them, since an index answers it. */
export function parametersOf(filter: RequestFilter, before: number): object {
  const { text: _, seenBy, fromMs, untilMs, ...asked } = filter;
  return {
    ...asked,
    before,
    fromMs: fromMs ?? 0,
    untilMs: untilMs ?? Number.MAX_SAFE_INTEGER,
    isOfAll: Number(seenBy === null),
    email: seenBy?.owner?.email ?? null,
    personId: seenBy?.owner?.id ?? null,
    ...askedParameters(seenBy?.asked ?? { groups: [], owner: null }),
  };
}

function askedParameters({ groups, owner }: AskedPerson): object {
  return {
    groups: JSON.stringify(groups),
    askedEmail: owner?.email ?? null,
    askedId: owner?.id ?? null,
  };
}
