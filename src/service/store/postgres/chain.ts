// Reads stretches of the chain from rows, stores checkpoints, and deletes the records before a checkpoint.
// INVARIANT: a stretch and the place where the chain begins are read at one moment; records are deleted only
// together with the storing of the checkpoint that stands for them, and only if the chain still has the
// record that the checkpoint names.

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
import { laneTuples, readLanes } from '../contract/lanes.ts';
import type { ChainSegment, ChainStore, SignedCheckpoint } from '../contract/store.ts';
import { chainReads } from '../queries/records.ts';
import type { CommitQueue } from './commit-queue.ts';
import { appendKnot, isKnotDue } from './knots.ts';
import type { ReadPool, Rows } from './server/read-pool.ts';
import type { Work } from './transaction.ts';

const tables = ['requests', 'refusals', 'changes', 'request_events', 'knots'] as const;

const tableOf = { refusal: 'refusals', change: 'changes', event: 'request_events', knot: 'knots' } as const;

const checkpointColumns = 'sequence, hash, at_ms AS "atMs", purpose, signature, lanes_json AS "lanesJson"';

export function chainStore({ rows, queries }: ReadPool, queue: Pick<CommitQueue, 'write'>): ChainStore {
  let settled = 0;
  return {
    async segment(afterSequence, countMax) {
      if (afterSequence + countMax >= settled) settled = await settledSequence(rows);
      return await readStretch(rows, { afterSequence, countMax, settled });
    },
    ...chainReads(queries),
    checkpoints: async () => {
      const select = `SELECT ${checkpointColumns} FROM checkpoints ORDER BY sequence, at_ms`;
      return (await rows<StoredCheckpoint>(select)).map(checkpointOf);
    },
    addCheckpoint: (checkpoint) =>
      queue.write(
        async ({ insert }) =>
          void (await insert('checkpoints', columnsOf(checkpoint), 'ON CONFLICT DO NOTHING')),
      ),
    tie: async () => void ((await isKnotDue(rows, 0)) && (await queue.write(appendKnot))),
    prune: (checkpoint) => queue.write(prune(checkpoint)),
  };
}

interface StoredCheckpoint extends Omit<SignedCheckpoint, 'lanes'> {
  readonly lanesJson: string | null;
}

function checkpointOf({ lanesJson, ...others }: StoredCheckpoint): SignedCheckpoint {
  if (lanesJson === null) return others;
  // Changed lanes break the signature of the checkpoint, so an unreadable text needs no error of its own.
  return { ...others, lanes: readLanes(JSON.parse(lanesJson)) ?? [] };
}

export const endOfEach = tables
  .map((table) => `SELECT min(sequence) AS first, max(sequence) AS last FROM ${table}`)
  .join(' UNION ALL ');

/**
 * Returns a record number up to which no record is still being written. Processes commit beside each other,
 * and in another order than they take numbers. Once this query has held the lock alone for a moment, every
 * writer that took a number before has ended.
 */
export async function settledSequence(rows: Rows): Promise<number> {
  const [row] = await rows<{ readonly last: number | null }>(
    `SELECT (SELECT max(last) FROM (${endOfEach}) AS ends) AS last, writ_alone()`,
  );
  return row?.last ?? 0;
}

function columnsOf({ sequence, hash, atMs, purpose, signature, lanes }: SignedCheckpoint) {
  const columns = { sequence, hash, at_ms: atMs, purpose, signature };
  return lanes === undefined ? columns : { ...columns, lanes_json: canonicalJson(laneTuples(lanes)) };
}

/** `settled` bounds the numbers that are read. */
interface ChainQuery {
  readonly afterSequence: number;
  readonly countMax: number;
  readonly settled: number;
}

/** The bounds of a stretch. */
interface Bounds {
  readonly pruning: StoredCheckpoint | null;
  readonly upTo: number;
  readonly first: number | null;
  readonly last: number | null;
}

/**
 * A row of the answer: a request fills its own columns, the bounds and all other records fill `other` alone.
 */
interface StretchRow extends StoredRequest {
  readonly other: { readonly kind: 'bounds'; readonly row: Bounds } | OtherRow | null;
}

interface OtherRow {
  readonly kind: Exclude<RecordKind, 'request'>;
  readonly row: Link & LaneColumns & { readonly slot?: number | null; readonly seal?: string };
}

interface StoredRequest {
  readonly sequence: number;
  readonly hash: string;
  readonly lane: number;
  readonly follows: number | null;
  readonly later: LaterStates | null;
}

const laterOf = (table: string, prefix = '') =>
  `json_build_object('status', ${table}.${prefix}status, 'decidedAtMs', ${table}.${prefix}decided_ms,
    'expiresAtMs', ${table}.${prefix}expires_ms)`;

/**
 * Each column costs the driver time, so the states that are null for nearly all requests share one column,
 * `later`.
 */
const requestColumns =
  `sequence id agent_id action_key outcome status created_ms decided_ms expires_ms idempotency_key
  idempotency_digest idempotency_until_ms record_json hash lane follows`.split(/\s+/);

const within = 'sequence > bounds.after AND sequence <= bounds."upTo"';

const otherRow = (kind: string, row: string) =>
  `json_build_object('kind', '${kind}', 'row', row_to_json(${row})) AS other`;

/** One statement, so that everything is read at one moment and in one round trip. */
const stretchText = `WITH bounds AS MATERIALIZED (
    SELECT row_to_json(pruned) AS pruning, place.after, least(place.after + $2::int8, $3::int8) AS "upTo", ends.first, ends.last
    FROM (SELECT min(first) AS first, max(last) AS last FROM (${endOfEach}) AS each) AS ends
    LEFT JOIN (
      SELECT ${checkpointColumns} FROM checkpoints WHERE purpose = 'pruned' ORDER BY sequence DESC LIMIT 1) AS pruned ON true
    CROSS JOIN LATERAL (SELECT greatest($1::int8, coalesce(pruned.sequence, 0)) AS after) AS place)
  SELECT ${requestColumns.map((column) => `request.${column}`).join(', ')},
    CASE WHEN num_nonnulls(now_status, now_decided_ms, now_expires_ms, event.sequence) > 0
      THEN json_build_object('stored', ${laterOf('request', 'now_')}, 'byEvents', ${laterOf('event')}) END AS later,
    NULL::json AS other
  FROM bounds
  CROSS JOIN LATERAL (SELECT * FROM requests WHERE ${within}) AS request
  LEFT JOIN LATERAL (
    SELECT * FROM request_events WHERE request_id = request.id ORDER BY sequence DESC LIMIT 1) AS event ON true
  UNION ALL SELECT empty.*, NULL, other FROM (
    SELECT ${otherRow('bounds', 'bounds')} FROM bounds
    ${Object.entries(tableOf)
      .map(
        ([kind, table]) => `UNION ALL SELECT ${otherRow(kind, table)} FROM bounds JOIN ${table} ON ${within}`,
      )
      .join('\n    ')}) AS others
  LEFT JOIN (SELECT ${requestColumns.join(', ')} FROM requests LIMIT 0) AS empty ON true`;

export async function readStretch(
  rows: Rows,
  { afterSequence, countMax, settled }: ChainQuery,
): Promise<ChainSegment> {
  let bounds: Bounds | null = null;
  const records: ChainRecord[] = [];
  const rowsRead = await rows<StretchRow>(stretchText, [afterSequence, countMax, settled], 'stretch');
  for (const { other, ...request } of rowsRead)
    if (other === null) records.push(requestOf(request));
    else if (other.kind === 'bounds') bounds = other.row;
    else records.push(recordOf(other));
  if (bounds === null) throw new Error('the server returned no ends of the chain');
  const { upTo, first, last } = bounds;
  const pruning = bounds.pruning === null ? null : checkpointOf(bounds.pruning);
  const begin: Link = pruning ?? chainStart;
  return {
    pruning,
    records: records.sort((a, b) => a.entry.sequence - b.entry.sequence),
    firstSequence: first,
    // Records that came after `settled` was read are left to the next stretch that asks for more.
    lastSequence: Math.max(begin.sequence, upTo < settled ? (last ?? 0) : settled),
  };
}

const asRecorded: LaterState = { status: null, decidedAtMs: null, expiresAtMs: null };
const unchanged: LaterStates = { stored: asRecorded, byEvents: asRecorded };

/**
 * The present state of a request is no part of its record: it is read beside the record, with the state that
 * its events give.
 */
function requestOf({ hash, later, ...columns }: StoredRequest): ChainRecord {
  return { entry: entryOf('request', columns), hash, later: later ?? unchanged };
}

interface LaneColumns {
  readonly lane?: number;
  readonly follows: number | null;
  readonly sequence: number;
}

/** An absent `lane` or `follows` is left out of the entry, as it is left out of the hash of the record. */
function entryOf(kind: RecordKind, { lane = 0, follows, ...columns }: LaneColumns): ChainEntry {
  const entry = { ...columns, kind };
  return lane === 0 && follows === null
    ? entry
    : { ...entry, ...(lane === 0 ? {} : { lane }), ...(follows === null ? {} : { follows }) };
}

function recordOf({ kind, row }: OtherRow): ChainRecord {
  const { hash, slot: _, seal: __, ...columns } = row;
  return { entry: entryOf(kind, columns), hash, later: null };
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
