// Compares the hash tree of the transparency log with the records, level by level, and with the checkpoints that the
// log has signed. INVARIANT: memory is bounded by a tile and its records; where records were deleted, only
// the tree and the checkpoints are left to compare.

import { isDeepStrictEqual } from 'node:util';
import type { ChainRecord } from '../store/contract/chain.ts';
import type { Store } from '../store/contract/store.ts';
import { StoreError } from '../store/contract/store-error.ts';
import { countIn, type SequenceRun, type Tile, tileWidth } from '../store/contract/tree.ts';
import { logSigner, type ReadCheckpoint, readCheckpointNote } from '../transparency-log/checkpoint-note.ts';
import { logStateOf } from '../transparency-log/log-state.ts';
import { isSame } from '../transparency-log/merkle-tree.ts';
import { checkSignature } from '../transparency-log/signed-note.ts';
import {
  appendLeaves,
  emptyEdge,
  hashAt,
  hashOfEntry,
  MissingHashError,
  rootOf,
  type TreeEdge,
} from '../transparency-log/tiles.ts';

export interface TreeBreak {
  /** The number of a record; null when the difference has none. */
  readonly sequence: number | null;
  /** One sentence in lower case without a final full stop. */
  readonly message: string;
}

export type TreeVerification =
  | { readonly kind: 'whole'; readonly size: number; readonly checkpointCount: number }
  | { readonly kind: 'broken'; readonly break: TreeBreak };

export interface VerifyTreeOptions {
  /** Checkpoints of the log that were kept elsewhere. */
  readonly notes?: readonly ReadCheckpoint[];
  /** Called with the number of records whose hashes were compared. */
  readonly onHashes?: (count: number) => void;
}

type VerifiedStore = Pick<Store, 'chain' | 'tree' | 'documents' | 'masterKey'>;

/** Rejects with a StoreError. */
export async function verifyTree(
  store: VerifiedStore,
  { notes = [], onHashes }: VerifyTreeOptions = {},
): Promise<TreeVerification> {
  const last = await store.tree.last().catch(changedEnd);
  if (last === 'changed') return broken(null, 'the end of its hash tree was changed');
  let edge = emptyEdge;
  let sequence = 0;
  for (let position = 0; position <= (last?.position ?? -1); position += 1) {
    const [tile] = await store.tree.tiles([{ level: 0, position }]);
    const expected = position === last?.position ? countIn(last) : null;
    if (tile === undefined || (expected === null && countIn(tile) !== tileWidth))
      return broken(sequence + 1, 'its hash is missing in the transparency log');
    const tileBreak = await compareRecords(store, tile, sequence);
    if (tileBreak !== null) return { kind: 'broken', break: tileBreak };
    const grown = appendLeaves(edge, leavesIn(tile));
    if (!(await areStored(store, grown.changed)))
      return broken(
        sequence + 1,
        'the hash tree of the transparency log was changed: a hash does not follow from those below it',
      );
    edge = grown.edge;
    sequence = edge.sequence;
    onHashes?.(edge.size);
  }
  const expected = tileCountOf(edge.size);
  if ((await store.tree.tileCount()) !== expected)
    return broken(null, `it has other tiles of hashes than the ${expected} of ${edge.size} records`);
  return await compareCheckpoints(store, notes, edge);
}

function changedEnd(error: unknown): 'changed' {
  if (error instanceof StoreError && error.code === 'tampered') return 'changed';
  throw error;
}

function tileCountOf(size: number): number {
  let tiles = 0;
  for (let hashes = size; hashes > 0; hashes = Math.floor(hashes / tileWidth))
    tiles += Math.ceil(hashes / tileWidth);
  return tiles;
}

function broken(sequence: number | null, message: string): TreeVerification {
  return { kind: 'broken', break: { sequence, message } };
}

function numbersOf(runs: readonly SequenceRun[]): readonly number[] {
  return runs.flatMap(([first, count]) => Array.from({ length: count }, (_, at) => first + at));
}

function leavesIn({ hashes, runs }: Tile) {
  return numbersOf(runs).map((sequence, at) => ({ sequence, hash: hashAt(hashes, at) }));
}

/** Compares a tile with the records from `after` to its last one; those before the beginning of the chain are gone. */
async function compareRecords(
  { chain }: VerifiedStore,
  tile: Tile,
  after: number,
): Promise<TreeBreak | null> {
  const numbers = numbersOf(tile.runs);
  const last = numbers.at(-1) ?? 0;
  const isRising = numbers.every((number, at) => number > (numbers[at - 1] ?? after));
  if (numbers.length !== countIn(tile) || !isRising)
    return { sequence: after + 1, message: 'the transparency log has the wrong number of hashes here' };
  const { records, begin } = await recordsBetween(chain, after, last);
  // Before the first record of the log there may be records of an earlier version, which were deleted.
  const there = numbers.filter((number) => number > begin);
  const missing = there.find((number, at) => records[at]?.entry.sequence !== number);
  if (missing !== undefined || records.length > there.length) {
    const extra = records.find(({ entry }) => !there.includes(entry.sequence));
    return extra === undefined
      ? { sequence: missing ?? last, message: 'the record is missing: the transparency log has its hash' }
      : { sequence: extra.entry.sequence, message: 'the transparency log does not have this record' };
  }
  const from = numbers.length - there.length;
  const changed = records.find(
    ({ entry }, at) => !isSame(hashOfEntry(entry), hashAt(tile.hashes, from + at)),
  );
  if (changed === undefined) return null;
  return {
    sequence: changed.entry.sequence,
    message: 'the transparency log has another hash for this record',
  };
}

/** More numbers than a tile has, for lanes leave gaps. */
const recordsAtOnce = 512;

async function recordsBetween(
  chain: VerifiedStore['chain'],
  after: number,
  upTo: number,
): Promise<{ readonly records: readonly ChainRecord[]; readonly begin: number }> {
  const records: ChainRecord[] = [];
  let begin = 0;
  for (let from = after; from < upTo; from += recordsAtOnce) {
    const segment = await chain.segment(from, Math.min(recordsAtOnce, upTo - from));
    begin = segment.pruning?.sequence ?? 0;
    // After a pruning, a segment begins later than it was asked for.
    records.push(
      ...segment.records.filter(
        ({ entry }) => entry.sequence > from && entry.sequence <= Math.min(upTo, from + recordsAtOnce),
      ),
    );
  }
  return { records, begin };
}

/** Whether the tree has the hashes of these tiles above level 0. */
async function areStored({ tree }: VerifiedStore, tiles: readonly Tile[]): Promise<boolean> {
  const above = tiles.filter(({ level }) => level > 0);
  const stored = await tree.tiles(above);
  return above.every(({ level, position, hashes }) => {
    const tile = stored.find((one) => one.level === level && one.position === position);
    return (
      tile !== undefined &&
      isDeepStrictEqual(Buffer.from(tile.hashes.subarray(0, hashes.length)), Buffer.from(hashes))
    );
  });
}

async function compareCheckpoints(
  store: VerifiedStore,
  notes: readonly ReadCheckpoint[],
  { size }: TreeEdge,
): Promise<TreeVerification> {
  const state = (await logStateOf(store.documents).find('log'))?.value;
  const texts =
    state === undefined ? [] : [state.newest, ...(state.published === null ? [] : [state.published])];
  const own = [...new Set(texts)].map(readCheckpointNote);
  for (const checkpoint of [...own, ...notes]) {
    const message =
      checkpoint === null
        ? 'a checkpoint of the transparency log cannot be read'
        : await problemOf(store, checkpoint, size);
    if (message !== null) return broken(null, message);
  }
  return { kind: 'whole', size, checkpointCount: own.length + notes.length };
}

async function problemOf(
  { tree, masterKey }: VerifiedStore,
  { origin, size, root, note }: ReadCheckpoint,
  treeSize: number,
): Promise<string | null> {
  const named = `the checkpoint of the transparency log \`${origin}\` with ${size} records`;
  if (checkSignature(note, logSigner(masterKey, origin).key) !== 'signed')
    return `${named} has no valid signature of this service`;
  if (size > treeSize)
    return `the last records are missing: ${named} has more than the ${treeSize} that there are`;
  try {
    return isSame(await rootOf(tree, size), root)
      ? null
      : `the log was rewritten: ${named} has another root hash`;
  } catch (error) {
    if (error instanceof MissingHashError)
      return `the hash tree of the transparency log lacks hashes: ${named} cannot be compared`;
    throw error;
  }
}
