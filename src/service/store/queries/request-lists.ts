// Finds requests as people look for them: lists by a filter, and the queue of pending ones. INVARIANT: the cost
// of a query does not grow with the records: a list walks one index from where the page before ended, over a
// limited number of requests, and the queue walks pending requests only. Each store reads the requests behind
// the ids itself, since it checks them against its own seals. Look-ups for a call of an agent (by id, by
// idempotency key, `heldOf`) are in the stores, prepared for speed.

import { type ApproverIdentity, controlOwnerGroup } from '../contract/control-owner-group.ts';
import type { SearchedRequest } from '../contract/search-text.ts';
import type {
  PendingCounts,
  PendingGroup,
  RequestFilter,
  RequestHistory,
  RequestPage,
  RequestPosition,
  RequestStore,
  WaitingCount,
  WaitingPage,
} from '../contract/store.ts';
import { type RefusalColumns, refusalRecord } from '../shared/rows.ts';
import { type Dialect, type Parameters, type Query, type QueryRunner, query } from './dialect.ts';

/** How many requests are looked through for one page. */
export const scannedRequestsMax = 2_000;

/**
 * Requests are numbered when they are stored; the time of a request may differ by this much from those of its
 * neighbours.
 */
export const outOfOrderMs = 60_000;

/** SQL for the present state; its columns are null until the first event. */
export const statusNow = 'coalesce(now_status, status)';
export const endNow = 'coalesce(now_expires_ms, expires_ms)';

/**
 * SQL for the status at the time of the query. A wait or a grant past its end is over, even when its end is
 * not recorded yet.
 */
const statusAtNow = `CASE WHEN ${statusNow} IN ('pending', 'auto_approved', 'approved') AND ${endNow} <= @nowMs
  THEN 'expired' ELSE ${statusNow} END`;

/** Whether the detail of an event has the decision that counts from then on. */
const isDecision = "what IN ('decided', 'fallback-asked')";

/** Whether a grant was given, by policy or by people; for requests that have expired. */
const wasGranted = `(status IN ('auto_approved', 'approved') OR EXISTS
  (SELECT 1 FROM request_events AS earlier WHERE earlier.request_id = requests.id AND earlier.status = 'approved'))`;

type ScanKind = 'agent' | 'status' | 'unanswered' | 'all';

/**
 * Returns the walk of a list: over one agent's requests, over those of one status, over those that may not
 * have been answered, or over all.
 */
export function scanKindOf({ agentId, status }: RequestFilter): ScanKind {
  if (agentId !== null) return 'agent';
  switch (status) {
    case null:
    case 'auto_approved':
    case 'expired':
    case 'grant_over':
      // Nearly all requests that are granted at once keep this status until they are over.
      return 'all';
    case 'unanswered':
      return 'unanswered';
    default:
      return 'status';
  }
}

/** The second condition is that of the index, so that the planner uses it. */
const ofStatus = (status: string) => `${statusNow} = ${status} AND ${statusNow} <> 'auto_approved'`;

/**
 * SQL conditions of the walks. A wait that is over may still be recorded as pending, so the unanswered requests
 * are in two parts of the index.
 */
const walks = {
  agent: ['agent_id = @agentId'],
  status: [ofStatus('@status')],
  unanswered: [ofStatus("'expired'"), ofStatus("'pending'")],
  all: ['TRUE'],
} as const satisfies Readonly<Record<ScanKind, readonly string[]>>;

export function requestQueries(sql: Dialect) {
  const ofOwner = (email: string, id: string): string =>
    `agent_id IN (SELECT id FROM agents WHERE ${sql.equalsNoCase('control_owner', email)} OR control_owner = ${id})`;

  /** Whether the decision, which is in the JSON text, asks the person for an approval or a step-up. */
  const asks = (decided: string): string => {
    const approvals = `${sql.elementsOf(decided, 'decision', 'requires', 'approvals')} AS asked`;
    const group = sql.textAt('asked.value', 'group');
    const choice = `${approvals}, ${sql.elementsOf('asked.value', 'anyOf')} AS one`;
    const named = (name: string): string => sql.textAt('one.value', name);
    return `(EXISTS (SELECT 1 FROM ${approvals} WHERE ${sql.isIn(group, '@groups', 'text')} AND ${group} <> '${controlOwnerGroup}')
      OR EXISTS (SELECT 1 FROM ${choice}
        WHERE ${sql.isIn(named('group'), '@groups', 'text')} AND ${named('group')} <> '${controlOwnerGroup}'
          OR ${sql.equalsNoCase(named('person'), '@askedEmail')} OR ${named('person')} = @askedId)
      OR (${ofOwner('@askedEmail', '@askedId')} AND (${sql.textAt(decided, 'decision', 'requires', 'reauth')} IS NOT NULL
        OR EXISTS (SELECT 1 FROM ${approvals} WHERE ${group} = '${controlOwnerGroup}')
        OR EXISTS (SELECT 1 FROM ${choice} WHERE ${named('group')} = '${controlOwnerGroup}'))))`;
  };
  const decidedOf = `(SELECT detail_json FROM request_events
    WHERE request_id = requests.id AND ${isDecision} ORDER BY sequence DESC LIMIT 1)`;
  const isGiven = `EXISTS (SELECT 1 FROM ${sql.elementsOf('record_json', 'givers')} AS given
    WHERE ${sql.textAt('given.value', 'person')} = @giverId)`;
  const risk = sql.numberAt('record_json', 'decision', 'risk', 'high');
  const amount = sql.numberAt('record_json', 'payload', 'amount');

  /** The conditions of a list beyond its walk; a null parameter switches its condition off. */
  const isFit = `(${sql.isNull('@agentId', 'text')} OR agent_id = @agentId)
    AND (${sql.isNull('@actionKey', 'text')} OR action_key = @actionKey)
    AND (${sql.isNull('@status', 'text')} OR ${statusAtNow} = @status OR (${statusAtNow} = 'expired'
      AND @status = CASE WHEN ${wasGranted} THEN 'grant_over' ELSE 'unanswered' END))
    AND (${sql.isNull('@outcome', 'text')} OR outcome = @outcome)
    AND (${sql.isNull('@policy', 'text')} OR ${sql.textAt('record_json', 'decision', 'matchedPolicy')} = @policy)
    AND (${sql.isNull('@riskMin', 'float8')} OR ${risk} >= @riskMin)
    AND (${sql.isNull('@riskMax', 'float8')} OR ${risk} <= @riskMax)
    AND (${sql.isNull('@amountMin', 'float8')} OR ${amount} >= @amountMin)
    AND (${sql.isNull('@amountMax', 'float8')} OR ${amount} <= @amountMax)
    AND created_ms BETWEEN @fromMs AND @untilMs
    AND (@isOfAll OR ${ofOwner('@email', '@personId')} OR ${asks('record_json')} OR ${asks(decidedOf)}
      OR ${isGiven}) AS "isFit"`;

  const walkText = (walk: ScanKind, limit: string): string => {
    const each = walks[walk].map(
      (part) => `SELECT sequence, id, created_ms AS "createdAtMs", ${isFit} FROM requests
        WHERE ${part} AND sequence < @before ORDER BY sequence DESC LIMIT ${limit}`,
    );
    if (each.length === 1) return each[0] ?? '';
    const all = each.map((text) => `SELECT * FROM (${text}) AS part`).join(' UNION ALL ');
    return `SELECT * FROM (${all}) AS parts ORDER BY sequence DESC LIMIT ${limit}`;
  };
  const walkTexts = (limit: string): Readonly<Record<ScanKind, string>> => ({
    agent: walkText('agent', limit),
    status: walkText('status', limit),
    unanswered: walkText('unanswered', limit),
    all: walkText('all', limit),
  });
  // SQLite plans a query with a parameter as its limit again for each use.
  const pageTexts = walkTexts(String(scannedRequestsMax));
  const stretchTexts = walkTexts('@countMax');

  const decidedNow = `coalesce(${decidedOf}, record_json)`;
  const waits = `${statusNow} = 'pending' AND ${endNow} > @nowMs AND ${asks(decidedNow)}`;
  const recordedOwner = `(${sql.textAt('record_json', 'agent', 'control_owner')})`;
  const isTouched = `coalesce(EXISTS (SELECT 1 FROM request_events WHERE request_id = requests.id
      AND (what = 'approved' OR what = 'commented' AND ${sql.textAt('detail_json', 'kind')} = 'question'))
    OR ${ofOwner('@personEmail', '@personId')}
    OR ${recordedOwner} = @personId OR ${sql.equalsNoCase(recordedOwner, '@personEmail')}
    OR EXISTS (SELECT 1 FROM ${sql.elementsOf(decidedNow, 'decision', 'requires', 'approvals')} AS asked
      WHERE ${sql.textAt('asked.value', 'except')} IS NOT NULL), FALSE)`;

  const lookText = `SELECT sequence, id, agent_id AS "agentId", action_key AS "actionKey", outcome,
      record_json AS "recordJson", created_ms AS "createdAtMs", ${isFit}
    FROM requests WHERE ${sql.isIn('sequence', '@sequences', 'bigint')} ORDER BY sequence DESC`;
  const atText = `SELECT sequence, id FROM requests
    WHERE ${sql.isIn('sequence', '@sequences', 'bigint')} ORDER BY sequence DESC`;
  const waitingText = `SELECT id FROM requests WHERE ${waits} AND (${endNow}, id) > (@afterMs, @afterId)
    ORDER BY ${endNow}, id LIMIT @countMax`;
  const waitingCountText = `SELECT count(*) FILTER (WHERE NOT "isTouched") AS untouched,
      min(CAST(id AS text)) FILTER (WHERE NOT "isTouched") AS first, ${sql.arrayOf('id', '"isTouched"')} AS touched
    FROM (SELECT id, agent_id, action_key, ${sql.textAt('record_json', 'point', 'id')} AS point_id,
        ${isTouched} AS "isTouched"
      FROM requests WHERE ${waits}) AS waiting
    GROUP BY agent_id, action_key, point_id`;

  return {
    /** The requests with lower numbers that are looked through for a page, the latest first. */
    page: (filter: RequestFilter, before: number): Query<ScanRow> =>
      query(pageTexts[scanKindOf(filter)], { ...filterParameters(filter), before }),
    /** The same for a search, `countMax` at once. */
    stretch: (filter: RequestFilter, before: number, countMax: number): Query<ScanRow> =>
      query(stretchTexts[scanKindOf(filter)], { ...filterParameters(filter), before, countMax }),
    /** The requests with these numbers, for a search. */
    candidates: (filter: RequestFilter, sequences: readonly number[]): Query<ScanRow & SearchedRequest> =>
      query(lookText, { ...filterParameters(filter), sequences }),
    /** The requests at these places, the latest first. */
    at: (places: readonly RequestPosition[]): Query<PlacedId> =>
      query(atText, { sequences: places.map(({ sequence }) => sequence) }),
    /** The pending requests that ask the person, the nearest deadline first. */
    waiting: ({ identity: asked, nowMs, after, countMax }: WaitingPage): Query<RequestId> =>
      query(waitingText, {
        ...askedParameters(asked),
        nowMs,
        afterMs: after?.expiresAtMs ?? -1,
        afterId: after?.id ?? leastRequestId,
        countMax,
      }),
    /** Counts the untouched requests that wait by agent, action and point, and lists the ids of the touched ones. */
    waitingCount: ({ identity: asked, nowMs, person }: WaitingCount): Query<WaitingCountRow> =>
      query(waitingCountText, {
        ...askedParameters(asked),
        nowMs,
        personId: person.id,
        personEmail: person.email,
      }),
  };
}

export interface RequestId {
  readonly id: string;
}

export type PlacedId = RequestId & RequestPosition;

export interface ScanRow extends PlacedId {
  readonly createdAtMs: number;
  /** Null where a column that the filter compares is null. */
  readonly isFit: boolean | 0 | 1 | null;
}

interface WaitingCountRow {
  readonly untouched: number;
  /** The id of one of the untouched requests; null when there is none. */
  readonly first: string | null;
  /** The ids of the touched requests, as JSON. */
  readonly touched: string;
}

/**
 * Returns the requests that belong on the page, out of those that a walk looks through, and where the next
 * page begins.
 */
export function pageOf(
  walk: Iterable<ScanRow>,
  { countMax, fromMs }: RequestPage,
): { readonly items: readonly PlacedId[]; readonly next: RequestPosition | null } {
  const ids: PlacedId[] = [];
  let looked = 0;
  let last: RequestPosition | null = null;
  for (const one of walk) {
    if (ids.length === countMax) return { items: ids, next: last };
    if (one.createdAtMs < (fromMs ?? 0) - outOfOrderMs) return { items: ids, next: null };
    looked += 1;
    last = { sequence: one.sequence };
    if (one.isFit) ids.push(one);
  }
  return { items: ids, next: looked === scannedRequestsMax ? last : null };
}

/** The text of the filter is no parameter, since an index answers it. */
function filterParameters({ seenBy, fromMs, untilMs, ...filter }: RequestFilter): Parameters {
  return {
    agentId: filter.agentId,
    actionKey: filter.actionKey,
    status: filter.status,
    outcome: filter.outcome,
    policy: filter.policy,
    riskMin: filter.riskMin,
    riskMax: filter.riskMax,
    amountMin: filter.amountMin,
    amountMax: filter.amountMax,
    nowMs: filter.nowMs,
    fromMs: fromMs ?? 0,
    untilMs: untilMs ?? Number.MAX_SAFE_INTEGER,
    isOfAll: seenBy === null,
    email: seenBy?.owner?.email ?? null,
    personId: seenBy?.owner?.id ?? null,
    giverId: seenBy?.giver ?? null,
    ...askedParameters(seenBy?.asked ?? { groups: [], owner: null }),
  };
}

function askedParameters({ groups, owner }: ApproverIdentity): Parameters {
  return { groups, askedEmail: owner?.email ?? null, askedId: owner?.id ?? null };
}

/** Before the ids of all requests. */
export const leastRequestId = '00000000-0000-0000-0000-000000000000';

/** The ids of the requests that stand for the untouched ones, with their number, and those of the touched ones. */
export function waitingIds(counted: readonly WaitingCountRow[]) {
  return {
    untouched: counted.flatMap(({ untouched: count, first }) =>
      first === null ? [] : [{ count, id: first }],
    ),
    touched: counted.flatMap(({ touched }) => JSON.parse(touched) as readonly string[]),
  };
}

/** What `waitingIds` lists, with the requests themselves; a request that is not found is left out. */
export function pendingCounts(
  { untouched, touched }: ReturnType<typeof waitingIds>,
  histories: readonly RequestHistory[],
): PendingCounts {
  const byId = new Map(histories.map((one) => [one.row.id, one]));
  const historyOf = (id: string): readonly RequestHistory[] => {
    const one = byId.get(id);
    return one === undefined ? [] : [one];
  };
  return {
    untouched: untouched.flatMap(({ count, id }) => historyOf(id).map((first) => ({ count, first }))),
    touched: touched.flatMap(historyOf),
  };
}

const middle = '(low + high) / 2';
const isEarly = `coalesce((SELECT created_ms <= @latestMs FROM requests
  WHERE sequence >= ${middle} ORDER BY sequence LIMIT 1), FALSE)`;

/** A binary search: the numbers nearly follow the times. */
const numberAfterText = `WITH RECURSIVE search (low, high) AS (
    SELECT CAST(0 AS bigint), coalesce(max(sequence), 0) + 1 FROM requests
    UNION ALL
    SELECT CASE WHEN ${isEarly} THEN ${middle} + 1 ELSE low END, CASE WHEN ${isEarly} THEN high ELSE ${middle} END
    FROM search WHERE low < high)
  SELECT max(low) AS number FROM search`;

/**
 * Returns a record number above those of all requests made at `untilMs` or earlier, and not much above.
 */
export function numberAfterQuery(untilMs: number): Query<{ readonly number: number }> {
  return query(numberAfterText, { latestMs: untilMs + outOfOrderMs });
}

export function numberReads({ rows }: Pick<QueryRunner, 'rows'>) {
  const numberAfter = async (untilMs: number): Promise<number> =>
    (await rows(numberAfterQuery(untilMs)))[0]?.number ?? 0;
  return {
    numberAfter,
    /** A record number below those of all requests made at `atMs` or later, and not much below. */
    numberBefore: async (atMs: number): Promise<number> => (await numberAfter(atMs - 2 * outOfOrderMs)) - 1,
  };
}

/** Once a request counts in each group that its latest decision asks, and once under `owner` for a step-up. */
function pendingByGroupText(sql: Dialect): string {
  const pending = `SELECT id AS request_id, ${endNow} AS ends, coalesce((SELECT detail_json FROM request_events
      WHERE request_id = requests.id AND ${isDecision} ORDER BY sequence DESC LIMIT 1), record_json) AS decided
    FROM requests WHERE ${statusNow} = 'pending' AND ${endNow} > @nowMs`;
  const approvals = sql.elementsOf('decided', 'decision', 'requires', 'approvals');
  const asked = `SELECT request_id, ends, ${sql.textAt('asked.value', 'group')} AS name
      FROM (${pending}) AS pending, ${approvals} AS asked
    UNION SELECT request_id, ends, '${controlOwnerGroup}' AS name FROM (${pending}) AS pending
      WHERE ${sql.textAt('decided', 'decision', 'requires', 'reauth')} IS NOT NULL`;
  return `SELECT name AS "group", count(*) AS count, min(ends) AS "nearestMs"
    FROM (${asked}) AS all_asked GROUP BY name ORDER BY name`;
}

/** Most pending requests have no fallback; a search for the word costs less than reading the JSON text. */
function dueFallbacksText(sql: Dialect): string {
  const decided = `coalesce((SELECT detail_json FROM request_events
      WHERE request_id = requests.id AND ${isDecision} ORDER BY sequence DESC LIMIT 1), record_json)`;
  const pending = `SELECT id AS request_id, created_ms, ${endNow} AS ends, ${decided} AS decided
    FROM requests WHERE ${statusNow} = 'pending' AND ${endNow} > @nowMs`;
  const later = `${sql.elementsOf('decided', 'decision', 'requires', 'approvals')} AS asked,
      ${sql.elementsOf('asked.value', 'fallbacks')} AS later`;
  const isDue = `created_ms + ${sql.numberAt('later.value', 'afterSeconds')} * 1000 <= @nowMs`;
  return `SELECT request_id AS id FROM (${pending}) AS pending
    WHERE CASE WHEN decided LIKE '%"fallbacks":[%' THEN EXISTS (SELECT 1 FROM ${later} WHERE ${isDue}) ELSE FALSE END
    ORDER BY ends, request_id LIMIT @countMax`;
}

type OtherReads = Pick<
  RequestStore,
  'countOpen' | 'openOf' | 'pendingByGroup' | 'dueFallbacks' | 'pendingChanges' | 'refusals'
>;

/** Reads requests that wait, and the refusals of one agent. */
export function requestReads({ rows, sql }: Pick<QueryRunner, 'rows' | 'sql'>): OtherReads {
  const open = `FROM requests WHERE ${statusNow} = 'pending' AND agent_id = @agentId`;
  return {
    async countOpen(agentId, nowMs) {
      const text = `SELECT count(*) AS count ${open} AND ${endNow} > @nowMs`;
      return (await rows(query<{ readonly count: number }>(text, { agentId, nowMs })))[0]?.count ?? 0;
    },
    pendingByGroup: (nowMs) => rows(query<PendingGroup>(pendingByGroupText(sql), { nowMs })),
    async dueFallbacks(nowMs, countMax) {
      const found = await rows(query<RequestId>(dueFallbacksText(sql), { nowMs, countMax }));
      return found.map(({ id }) => id);
    },
    async pendingChanges(nowMs, countMax) {
      const seen = '(SELECT count(*) FROM request_events WHERE request_id = requests.id)';
      const text = `SELECT id, ${seen} AS seen FROM requests
        WHERE ${statusNow} = 'pending' AND ${endNow} > @nowMs ORDER BY ${endNow}, id LIMIT @countMax`;
      return await rows(query<RequestId & { readonly seen: number }>(text, { nowMs, countMax }));
    },
    async openOf(agentId, countMax) {
      const text = `SELECT id ${open} ORDER BY ${endNow} LIMIT @countMax`;
      return (await rows(query<RequestId>(text, { agentId, countMax }))).map(({ id }) => id);
    },
    async refusals(agentId, countMax) {
      const text = 'SELECT * FROM refusals WHERE agent_id = @agentId ORDER BY sequence DESC LIMIT @countMax';
      return (await rows(query<RefusalColumns>(text, { agentId, countMax }))).map(refusalRecord);
    },
  };
}
