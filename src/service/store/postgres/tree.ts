// The hash tree in PostgreSQL. Records of several processes become visible in another order than that of their
// numbers, so the tree takes them up to a knot; where no process has written in a lane of its own since the last
// knot, up to a number below which no record is still being written.

import type { ChainRecord } from '../contract/chain.ts';
import { laneOf } from '../contract/lanes.ts';
import {
  lastTileOf,
  sizeWith,
  type TileRow,
  type TreeGrowth,
  type TreeStore,
  tileRow,
} from '../contract/tree.ts';
import { lastTileText, treeReads } from '../queries/tree.ts';
import { endOfEach, readStretch, settledSequence } from './chain.ts';
import type { CommitQueue } from './commit-queue.ts';
import { createReadPool, type ReadPool, type Rows } from './server/read-pool.ts';
import type { Work } from './transaction.ts';

export function treeStore(
  { rows, queries }: Pick<ReadPool, 'rows' | 'queries'>,
  queue: Pick<CommitQueue, 'write'>,
): TreeStore {
  return {
    ...treeReads(queries),
    grow: (growth) => queue.write(grow(growth), 'left'),
    settledRecords: (afterSequence, countMax) => settledRecords(rows, afterSequence, countMax),
  };
}

/** Reads records in a thread that writes nothing. */
export function openSettledRecords(url: string): TreeStore['settledRecords'] {
  const { rows } = createReadPool(url);
  return (afterSequence, countMax) => settledRecords(rows, afterSequence, countMax);
}

interface Ends {
  readonly last: number;
  readonly knot: number;
  readonly lane: number;
}

async function settledRecords(
  rows: Rows,
  afterSequence: number,
  countMax: number,
): ReturnType<TreeStore['settledRecords']> {
  const [ends] = await rows<Ends>(
    `SELECT coalesce((SELECT max(last) FROM (${endOfEach}) AS ends), 0) AS last,
       coalesce((SELECT max(sequence) FROM knots), 0) AS knot,
       coalesce((SELECT max(lane_sequence) FROM replicas), 0) AS lane`,
  );
  const { last, knot, lane } = ends ?? { last: 0, knot: 0, lane: 0 };
  const isKnotAhead = knot > afterSequence;
  if (last <= afterSequence || (!isKnotAhead && lane > knot)) return [];
  // Below a knot no record is still being written; without one, this waits for those under way.
  const settled = isKnotAhead ? knot : await settledSequence(rows);
  // Numbers may be missing: nothing was ever recorded under them.
  for (let after = afterSequence; after < settled; after += countMax) {
    const { records } = await readStretch(rows, { afterSequence: after, countMax, settled });
    if (records.length > 0) return isKnotAhead ? records : tiedRecords(records);
  }
  return [];
}

/** All records when they are in lane 0, else those up to the last knot. */
function tiedRecords(records: readonly ChainRecord[]): readonly ChainRecord[] {
  const lastKnot = records.findLastIndex(({ entry }) => entry.kind === 'knot');
  const isTied = records.slice(lastKnot + 1).every(({ entry }) => laneOf(entry) === 0);
  return isTied ? records : records.slice(0, lastKnot + 1);
}

function grow({ from, tiles }: TreeGrowth): Work<'grown' | 'conflict'> {
  return async ({ rows, insert }) => {
    const [row] = await rows<TileRow>(lastTileText);
    const size = sizeWith(lastTileOf(row));
    if (size !== from) return 'conflict';
    for (const tile of tiles) {
      const { level, position, hashes, runsJson, firstSequence } = tileRow(tile);
      await insert(
        'tree_tiles',
        { level, position, hashes, runs_json: runsJson, first_sequence: firstSequence },
        'ON CONFLICT (level, position) DO UPDATE SET hashes = excluded.hashes, runs_json = excluded.runs_json',
      );
    }
    return 'grown';
  };
}
