// Reads the entries of meters for a start, and keeps the snapshots that make this quick. INVARIANT: a
// snapshot is made with no other write under way, and holds exactly the entries that were granted within its
// stretch; a trigger deletes it with the first change of one of them.

import {
  type SnapshotRange,
  snapshotEntries,
  snapshotSpans,
  type TimeSpan,
} from '../contract/meter-snapshot.ts';
import type { MeterHistory, StoredMeterEntry } from '../contract/metering.ts';
import type { CommitQueue } from './commit-queue.ts';
import type { ReadPool } from './server/read-pool.ts';

const entryColumns = `definition, request_id AS "requestId", meter_key AS key, granted_ms AS "grantedAtMs",
  is_certain AS "isCertain", value`;

/** Entries that are read at once. */
const entriesAtOnce = 2_000;

/** Reads the entries that count; `condition` may use `values` by their numbers. */
export function entriesWhere(
  { rows }: Pick<ReadPool, 'rows'>,
  condition: string,
  values: readonly unknown[],
): Promise<readonly StoredMeterEntry[]> {
  return rows(`SELECT ${entryColumns} FROM meter_entries WHERE NOT is_gone AND ${condition}`, values);
}

/** The entries as they are while they are read: what changes meanwhile is told to the listener of moves. */
export function meterHistory(pool: ReadPool): MeterHistory {
  async function* loose(definition: string, fromMs: number, untilMs: number) {
    for (let after: readonly [number, string] | null = [fromMs - 1, lastRequestId]; after !== null; ) {
      const entries: readonly StoredMeterEntry[] = await entriesWhere(
        pool,
        `definition = $1 AND (granted_ms, request_id) > ($2, $3) AND granted_ms < $4
         ORDER BY granted_ms, request_id LIMIT ${entriesAtOnce}`,
        [definition, ...after, untilMs],
      );
      yield entries;
      const last = entries.length === entriesAtOnce ? entries.at(-1) : undefined;
      after = last === undefined ? null : [last.grantedAtMs ?? 0, last.requestId];
    }
  }
  return {
    pending: (definition) => entriesWhere(pool, 'definition = $1 AND granted_ms IS NULL', [definition]),
    async *granted(definition, sinceMs): AsyncGenerator<readonly StoredMeterEntry[], void> {
      const all = { fromMs: Math.max(sinceMs, 0), untilMs: Number.MAX_SAFE_INTEGER };
      for (const { isHeld, fromMs, untilMs } of snapshotSpans(
        await held(pool, definition, all.fromMs),
        all,
      )) {
        const text = isHeld ? await textOf(pool, definition, untilMs) : null;
        if (text !== null) yield snapshotEntries(definition, text);
        else yield* loose(definition, fromMs, untilMs);
      }
    },
    close: async () => undefined,
  };
}

const lastRequestId = 'ffffffff-ffff-ffff-ffff-ffffffffffff';

function held({ rows }: ReadPool, definition: string, fromMs: number): Promise<readonly TimeSpan[]> {
  return rows<TimeSpan>(
    `SELECT from_ms AS "fromMs", until_ms AS "untilMs" FROM meter_snapshots
     WHERE definition = $1 AND until_ms > $2 ORDER BY until_ms`,
    [definition, fromMs],
  );
}

/** Null when an entry has changed since the stretches were read. */
async function textOf({ rows }: ReadPool, definition: string, untilMs: number): Promise<string | null> {
  const [row] = await rows<{ readonly text: string }>(
    'SELECT entries_json AS text FROM meter_snapshots WHERE definition = $1 AND until_ms = $2',
    [definition, untilMs],
  );
  return row?.text ?? null;
}

/** Keeps a snapshot of the next entries that none holds; returns from where to go on, or null. */
export async function keepSnapshot(
  pool: ReadPool,
  queue: Pick<CommitQueue, 'write'>,
  { definition, within }: { readonly definition: string; readonly within: SnapshotRange },
): Promise<number | null> {
  const next = await nextStretch(pool, definition, within);
  if (next === null) return null;
  await queue.write(async ({ alone, rows }) => {
    await alone();
    await rows(
      `INSERT INTO meter_snapshots
       SELECT $1, $2, $3, json_build_object('requests', coalesce(json_agg(request_id), '[]'),
         'keys', coalesce(json_agg(meter_key), '[]'), 'granted', coalesce(json_agg(granted_ms), '[]'),
         'certain', coalesce(json_agg(is_certain), '[]'), 'values', coalesce(json_agg(value), '[]'))
       FROM (SELECT * FROM meter_entries
         WHERE definition = $1 AND granted_ms >= $2 AND granted_ms < $3 AND NOT is_gone
         ORDER BY granted_ms, request_id) AS entry
       HAVING NOT EXISTS (
         SELECT FROM meter_snapshots WHERE definition = $1 AND until_ms > $2 AND from_ms < $3)`,
      [definition, next.fromMs, next.untilMs],
    );
  });
  return next.untilMs;
}

/** The stretch of the next snapshot; null when there is nothing left to keep. */
async function nextStretch(
  pool: ReadPool,
  definition: string,
  within: SnapshotRange,
): Promise<TimeSpan | null> {
  for (const { isHeld, fromMs, untilMs } of snapshotSpans(
    await held(pool, definition, within.fromMs),
    within,
  )) {
    if (isHeld) continue;
    const [bound] = await pool.rows<{ readonly next: number | null; readonly hasEntries: boolean }>(
      `SELECT (SELECT granted_ms FROM meter_entries WHERE definition = $1 AND granted_ms >= $2 AND granted_ms < $3
           ORDER BY granted_ms LIMIT 1 OFFSET $4) AS next,
         EXISTS (SELECT FROM meter_entries WHERE definition = $1 AND granted_ms >= $2 AND granted_ms < $3)
           AS "hasEntries"`,
      [definition, fromMs, untilMs, within.countMax],
    );
    const next = bound?.next ?? null;
    // Those of one millisecond stay together.
    if (next !== null) return { fromMs, untilMs: next > fromMs ? next : fromMs + 1 };
    // A gap between snapshots is filled however few entries it has, and the last one once there are enough.
    if (bound?.hasEntries === true && untilMs < within.untilMs) return { fromMs, untilMs };
  }
  return null;
}
