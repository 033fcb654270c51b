// Stretches of the chain out of rows, checkpoints, and the deletion of the records before one. INVARIANT: a stretch and the
// place where the chain begins are read in one look; records go only together with the storing of the checkpoint that stands
// for them, and only where the chain still has the record that it names.

import { canonicalJson } from '../contract/canonical-json.ts';
import {
  type ChainEntry,
  type ChainRecord,
  chainStart,
  type LaterState,
  type LaterStates,
  type Link,
  type RecordKind,
} from '../contract/chain.ts';
import type { ChangeRow } from '../contract/changes.ts';
import { laneTuples, readLanes } from '../contract/lanes.ts';
import type { ChainStore, ChainStretch, SignedCheckpoint } from '../contract/store.ts';
import type { CommitQueue } from './commit-queue.ts';
import { isUntied, tie } from './knots.ts';
import type { ReadPool, Rows } from './server/read-pool.ts';
import type { Work } from './transaction.ts';

const tables = ['requests', 'refusals', 'changes', 'request_events', 'knots'] as const;

const tableOf = { refusal: 'refusals', change: 'changes', event: 'request_events', knot: 'knots' } as const;

const checkpointColumns = 'sequence, hash, at_ms AS "atMs", purpose, signature, lanes_json AS "lanesJson"';

export function chainStore({ rows, snapshot }: ReadPool, queue: Pick<CommitQueue, 'write'>): ChainStore {
  let settled = 0;
  return {
    async stretch(afterSequence, countMax) {
      if (afterSequence + countMax >= settled) settled = await settledSequence(rows);
      const upTo = settled;
      return await snapshot((read) => readStretch(read, { afterSequence, countMax, settled: upTo }));
    },
    changes: ({ beforeSequence, countMax }) =>
      rows<ChangeRow>(
        `SELECT sequence, at_ms AS "atMs", who, what, subject, before_json AS "beforeJson", after_json AS "afterJson"
         FROM changes WHERE sequence < $1 ORDER BY sequence DESC LIMIT $2`,
        [beforeSequence ?? Number.MAX_SAFE_INTEGER, countMax],
      ),
    checkpoints: async () => {
      const found = `SELECT ${checkpointColumns} FROM checkpoints ORDER BY sequence, at_ms`;
      return (await rows<StoredCheckpoint>(found)).map(checkpointOf);
    },
    latestAtMs: () => latestAtMs(rows),
    addCheckpoint: (checkpoint) =>
      queue.write(
        async ({ insert }) =>
          void (await insert('checkpoints', columnsOf(checkpoint), 'ON CONFLICT DO NOTHING')),
      ),
    tie: async () => void ((await isUntied(rows, 0)) && (await queue.write(tie))),
    prune: (checkpoint) => queue.write(prune(checkpoint)),
  };
}

/** When the newest record was made; null where there is none. */
export async function latestAtMs(rows: Rows): Promise<number | null> {
  const [latest] = await rows<{ readonly atMs: number | null }>(
    `SELECT max(at_ms) AS "atMs" FROM (${latestOfEach}) AS latest`,
  );
  return latest?.atMs ?? null;
}

interface StoredCheckpoint extends Omit<SignedCheckpoint, 'lanes'> {
  readonly lanesJson: string | null;
}

function checkpointOf({ lanesJson, ...others }: StoredCheckpoint): SignedCheckpoint {
  if (lanesJson === null) return others;
  // Who has changed it has broken the signature.
  return { ...others, lanes: readLanes(JSON.parse(lanesJson)) ?? [] };
}

const latestOfEach = tables
  .filter((table) => table !== 'knots')
  .map((table) => {
    const column = table === 'requests' ? 'created_ms' : 'at_ms';
    return `(SELECT ${column} AS at_ms FROM ${table} ORDER BY sequence DESC LIMIT 1)`;
  })
  .join(' UNION ALL ');

const endOfEach = tables
  .map((table) => `SELECT min(sequence) AS first, max(sequence) AS last FROM ${table}`)
  .join(' UNION ALL ');

/**
 * A number up to which nothing is missing that is still being written: processes commit beside each other, in another order than they
 * take numbers. A writer that took one before this looked has ended once this has been alone for a moment.
 */
export async function settledSequence(rows: Rows): Promise<number> {
  const [found] = await rows<{ readonly last: number | null }>(
    `SELECT (SELECT max(last) FROM (${endOfEach}) AS ends) AS last, writ_alone()`,
  );
  return found?.last ?? 0;
}

function columnsOf({ sequence, hash, atMs, purpose, signature, lanes }: SignedCheckpoint) {
  const columns = { sequence, hash, at_ms: atMs, purpose, signature };
  return lanes === undefined ? columns : { ...columns, lanes_json: canonicalJson(laneTuples(lanes)) };
}

interface Stretch {
  readonly afterSequence: number;
  readonly countMax: number;
  readonly settled: number;
}

/** What a stretch is read from: where it lies, and which kinds of records lie there. */
interface Frame {
  readonly pruning: StoredCheckpoint | null;
  readonly after: number;
  readonly upTo: number;
  readonly first: number | null;
  readonly last: number | null;
  readonly kinds: readonly RecordKind[];
}

const kindsThere = (Object.entries({ request: 'requests', ...tableOf }) as [RecordKind, string][])
  .map(
    ([kind, table]) =>
      `CASE WHEN EXISTS (SELECT FROM ${table} WHERE sequence > span.after AND sequence <= span."upTo") THEN '${kind}' END`,
  )
  .join(', ');

/** In one round trip: a table without records there is not asked for them. */
const frameText = `SELECT row_to_json(pruned) AS pruning, span.after, span."upTo", ends.first, ends.last,
    array_remove(ARRAY[${kindsThere}], NULL) AS kinds
  FROM (SELECT min(first) AS first, max(last) AS last FROM (${endOfEach}) AS each) AS ends
  LEFT JOIN (
    SELECT ${checkpointColumns} FROM checkpoints WHERE purpose = 'pruned' ORDER BY sequence DESC LIMIT 1) AS pruned ON true
  CROSS JOIN LATERAL (SELECT greatest($1::int8, coalesce(pruned.sequence, 0)) AS after) AS place
  CROSS JOIN LATERAL (SELECT place.after, least(place.after + $2::int8, $3::int8) AS "upTo") AS span`;

async function readStretch(rows: Rows, { afterSequence, countMax, settled }: Stretch): Promise<ChainStretch> {
  const [frame] = await rows<Frame>(frameText, [afterSequence, countMax, settled]);
  if (frame === undefined) throw new Error('a chain has ends');
  const { after, upTo, first, last, kinds } = frame;
  const records: ChainRecord[] = [];
  for (const kind of kinds)
    records.push(
      ...(kind === 'request'
        ? await readRequests(rows, after, upTo)
        : await readOthers(rows, kind, after, upTo)),
    );
  const pruning = frame.pruning === null ? null : checkpointOf(frame.pruning);
  const begin: Link = pruning ?? chainStart;
  return {
    pruning,
    records: records.sort((a, b) => a.entry.sequence - b.entry.sequence),
    firstSequence: first,
    // What has come since this store looked is for the stretch that asks for more.
    lastSequence: Math.max(begin.sequence, upTo < settled ? (last ?? 0) : settled),
  };
}

interface StoredRequest {
  readonly sequence: number;
  readonly hash: string;
  readonly lane: number;
  readonly follows: number | null;
  readonly later: LaterStates | null;
}

const asRecorded: LaterState = { status: null, decidedAtMs: null, expiresAtMs: null };
const unchanged: LaterStates = { stored: asRecorded, byEvents: asRecorded };

const laterOf = (table: string, prefix = '') =>
  `json_build_object('status', ${table}.${prefix}status, 'decidedAtMs', ${table}.${prefix}decided_ms,
    'expiresAtMs', ${table}.${prefix}expires_ms)`;

/** Each column takes the driver its time: what is null for nearly all requests is one. */
const requestsText = `SELECT requests.sequence, requests.id, agent_id, action_key, outcome, requests.status, created_ms,
    requests.decided_ms, requests.expires_ms, idempotency_key, idempotency_digest, idempotency_until_ms, record_json,
    requests.hash, lane, requests.follows,
    CASE WHEN num_nonnulls(now_status, now_decided_ms, now_expires_ms, event.sequence) > 0
      THEN json_build_object('stored', ${laterOf('requests', 'now_')}, 'byEvents', ${laterOf('event')}) END AS later
  FROM requests LEFT JOIN LATERAL (
    SELECT * FROM request_events WHERE request_id = requests.id ORDER BY sequence DESC LIMIT 1) AS event ON true
  WHERE requests.sequence > $1 AND requests.sequence <= $2`;

/** The present state of a request is no part of its record: it comes beside the record, with the state that its events give. */
async function readRequests(rows: Rows, after: number, upTo: number): Promise<readonly ChainRecord[]> {
  const found = await rows<StoredRequest>(requestsText, [after, upTo]);
  return found.map(({ hash, later, ...columns }) => ({
    entry: entryOf('request', columns),
    hash,
    later: later ?? unchanged,
  }));
}

interface LaneColumns {
  readonly lane?: number;
  readonly follows: number | null;
  readonly sequence: number;
}

/** What is not said of a record has no place in its hash. */
function entryOf(kind: RecordKind, { lane = 0, follows, ...columns }: LaneColumns): ChainEntry {
  return {
    ...columns,
    ...(lane === 0 ? {} : { lane }),
    ...(follows === null ? {} : { follows }),
    kind,
  };
}

async function readOthers(
  rows: Rows,
  kind: Exclude<RecordKind, 'request'>,
  after: number,
  upTo: number,
): Promise<readonly ChainRecord[]> {
  const found = await rows<Link & LaneColumns & { readonly slot?: number | null }>(
    `SELECT * FROM ${tableOf[kind]} WHERE sequence > $1 AND sequence <= $2`,
    [after, upTo],
  );
  return found.map(({ hash, slot: _, ...columns }) => ({
    entry: entryOf(kind, columns),
    hash,
    later: null,
  }));
}

function prune(checkpoint: SignedCheckpoint): Work<'pruned' | 'not-there'> {
  const { sequence, hash, atMs } = checkpoint;
  return async ({ rows, alone, recordChange, insert }) => {
    await alone();
    const named = tables.map((table) => `SELECT 1 FROM ${table} WHERE sequence = $1 AND hash = $2`);
    if ((await rows(named.join(' UNION ALL '), [sequence, hash])).length === 0) return 'not-there';
    const [last] = await rows<{ readonly sequence: number | null }>(
      "SELECT max(sequence) AS sequence FROM checkpoints WHERE purpose = 'pruned'",
    );
    const before = { firstSequence: (last?.sequence ?? 0) + 1 };
    const after = { firstSequence: sequence + 1 };
    recordChange({ atMs, what: 'records-pruned', subject: '', before, after });
    for (const table of tables) await rows(`DELETE FROM ${table} WHERE sequence <= $1`, [sequence]);
    await rows('DELETE FROM checkpoints WHERE sequence < $1', [sequence]);
    await insert('checkpoints', columnsOf(checkpoint), 'ON CONFLICT DO NOTHING');
    return 'pruned';
  };
}
