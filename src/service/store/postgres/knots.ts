// Stores knots: a knot is a record in lane 0 that names the last record of every other lane. One is stored
// each second in which a lane has moved. INVARIANT: a knot is written alone, so all records that its lanes
// hold by then have smaller numbers, and all later records have greater ones.

import { canonicalJson } from '../contract/canonical-json.ts';
import { type LaneEnd, laneTuples } from '../contract/lanes.ts';
import type { CommitQueue } from './commit-queue.ts';
import type { ReadPool, Rows } from './server/read-pool.ts';
import type { Work } from './transaction.ts';

const everyMs = 1_000;

const untied = `(SELECT max(lane_sequence) FROM replicas) > coalesce((SELECT max(sequence) FROM knots), 0)`;

/** Whether a lane has moved since the last knot, and that knot was stored at least `olderThanMs` ago. */
export async function isKnotDue(rows: Rows, olderThanMs: number): Promise<boolean> {
  const [row] = await rows<{ readonly isKnotDue: boolean }>(
    `SELECT ${untied} AND coalesce((SELECT at_ms FROM knots ORDER BY sequence DESC LIMIT 1), 0)
       <= extract(epoch FROM clock_timestamp()) * 1000 - $1::int8 AS "isKnotDue"`,
    [olderThanMs],
  );
  return row?.isKnotDue === true;
}

/** Stores a knot, unless another process was faster. */
export const appendKnot: Work<void> = async ({ rows, alone, append }) => {
  await alone();
  const lanes = await rows<LaneEnd>(
    `SELECT slot + 1 AS lane, lane_sequence AS sequence, lane_hash AS hash FROM replicas
     WHERE lane_sequence > 0 AND ${untied} ORDER BY slot`,
  );
  if (lanes.length === 0) return;
  const [now] = await rows<{ readonly atMs: number }>(
    'SELECT (extract(epoch FROM clock_timestamp()) * 1000)::int8 AS "atMs"',
  );
  append('knot', { at_ms: now?.atMs ?? 0, ends_json: canonicalJson(laneTuples(lanes)) });
};

export interface KnotTimer {
  start(): void;
  /**
   * Stops the timer and stores a last knot over what this process has stored, if the server can be reached.
   */
  close(): Promise<void>;
}

export function createKnotTimer({ rows }: ReadPool, queue: Pick<CommitQueue, 'write' | 'fence'>): KnotTimer {
  let timer: NodeJS.Timeout | null = null;
  let tying: Promise<void> | null = null;
  // A knot that could not be stored is left to the next turn, or to another process.
  const tieWhereDue = async (olderThanMs: number): Promise<void> => {
    if (queue.fence.slot === null) return;
    if (await isKnotDue(rows, olderThanMs).catch(() => false))
      await queue.write(appendKnot, 'left').catch(() => {});
  };
  const turn = (): void => {
    tying ??= tieWhereDue(everyMs / 2).finally(() => {
      tying = null;
    });
  };
  return {
    start() {
      timer ??= setInterval(turn, everyMs).unref();
    },
    async close() {
      if (timer === null) return;
      clearInterval(timer);
      await tying;
      await tieWhereDue(0);
    },
  };
}
