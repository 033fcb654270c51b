// Appends record hashes to the tiles of the hash tree, and computes the hash of any range of leaves from tiles.
// INVARIANT: a hash depends only on the leaves; a proof reads a few tiles, however many records there are.

import type { ChainEntry, ChainRecord } from '../store/contract/chain.ts';
import { createEntryText } from '../store/contract/entry-text.ts';
import {
  countIn,
  hashBytes,
  type SequenceRun,
  sizeWith,
  type Tile,
  type TilePlace,
  type TreeStore,
  tileWidth,
} from '../store/contract/tree.ts';
import { emptyRoot, type Hash, type LeafRange, leafHash, nodeHash, splitOf } from './merkle-tree.ts';

/** What the next record is appended to. */
export interface TreeEdge {
  readonly size: number;
  /** The number of the last record in the tree; 0 when it is empty. */
  readonly sequence: number;
  /** The last tile of each level that has one and is not full, by level. */
  readonly tiles: readonly Tile[];
}

export const emptyEdge: TreeEdge = { size: 0, sequence: 0, tiles: [] };

export interface Leaf {
  readonly sequence: number;
  readonly hash: Hash;
}

/** The leaf of a record: the hash of its entry as canonical JSON, as an export has it. */
export function leafOf({ entry }: Pick<ChainRecord, 'entry'>): Leaf {
  return { sequence: entry.sequence, hash: hashOfEntry(entry) };
}

export function hashOfEntry(entry: ChainEntry): Hash {
  return leafHash(textOf(entry));
}

const textOf = createEntryText({ hasRecordJson: true });

/** Reads where the tree ends. */
export async function readEdge(tree: Pick<TreeStore, 'last' | 'tiles'>): Promise<TreeEdge> {
  const last = await tree.last();
  if (last === null) return emptyEdge;
  const size = sizeWith(last);
  const places: TilePlace[] = [];
  for (let [level, count] = [0, size]; count > 0; level += 1, count = Math.floor(count / tileWidth))
    if (count % tileWidth !== 0) places.push({ level, position: Math.floor(count / tileWidth) });
  const tiles = await tree.tiles(places);
  return { size, sequence: lastSequenceOf(last), tiles: tiles.toSorted((a, b) => a.level - b.level) };
}

function lastSequenceOf({ runs }: Tile): number {
  const [first, count] = runs.at(-1) ?? [0, 1];
  return first + count - 1;
}

export interface GrownTree {
  readonly edge: TreeEdge;
  /** The tiles that are new or longer. */
  readonly changed: readonly Tile[];
}

/** Appends leaves, whose numbers rise. */
export function appendLeaves(edge: TreeEdge, leaves: readonly Leaf[]): GrownTree {
  const open = new Map(edge.tiles.map((tile) => [tile.level, tile]));
  const changed = new Map<string, Tile>();
  const put = (
    level: number,
    hashes: readonly Hash[],
    runs: readonly SequenceRun[],
    position: number,
  ): void => {
    const tile = extended(
      open.get(level) ?? { level, position, hashes: new Uint8Array(), runs: [] },
      hashes,
      runs,
    );
    changed.set(`${level} ${tile.position}`, tile);
    if (countIn(tile) < tileWidth) return void open.set(level, tile);
    open.delete(level);
    put(level + 1, [hashOfTile(tile)], [], Math.floor(tile.position / tileWidth));
  };
  let size = edge.size;
  for (let at = 0; at < leaves.length; ) {
    const room = tileWidth - (size % tileWidth);
    const some = leaves.slice(at, at + room);
    put(
      0,
      some.map(({ hash }) => hash),
      runsOf(some),
      Math.floor(size / tileWidth),
    );
    size += some.length;
    at += some.length;
  }
  const tiles = [...open.values()].toSorted((a, b) => a.level - b.level);
  const sequence = leaves.at(-1)?.sequence ?? edge.sequence;
  return { edge: { size, sequence, tiles }, changed: [...changed.values()] };
}

function extended(tile: Tile, hashes: readonly Hash[], runs: readonly SequenceRun[]): Tile {
  return {
    ...tile,
    hashes: Buffer.concat([tile.hashes, ...hashes]),
    runs: joined([...tile.runs, ...runs]),
  };
}

function runsOf(leaves: readonly Leaf[]): readonly SequenceRun[] {
  return joined(leaves.map(({ sequence }) => [sequence, 1]));
}

function joined(runs: readonly SequenceRun[]): readonly SequenceRun[] {
  const all: SequenceRun[] = [];
  for (const [first, count] of runs) {
    const before = all.at(-1);
    if (before !== undefined && before[0] + before[1] === first)
      all[all.length - 1] = [before[0], before[1] + count];
    else all.push([first, count]);
  }
  return all;
}

/** The hash that stands for a full tile in the level above. */
function hashOfTile({ hashes }: Pick<Tile, 'hashes'>): Hash {
  return hashOfHashes(hashes, { begin: 0, end: tileWidth });
}

/** The hash of a subtree within a tile; its number of hashes is a power of two. */
function hashOfHashes(hashes: Uint8Array, { begin, end }: LeafRange): Hash {
  let row: readonly Hash[] = Array.from({ length: end - begin }, (_, at) => hashAt(hashes, begin + at));
  while (row.length > 1)
    row = Array.from({ length: row.length / 2 }, (_, at) => nodeHash(row[2 * at]!, row[2 * at + 1]!));
  return row[0]!;
}

export function hashAt(hashes: Uint8Array, index: number): Hash {
  return hashes.subarray(index * hashBytes, (index + 1) * hashBytes);
}

/** A subtree with 2^height leaves, whose first leaf is `index` × 2^height. */
interface PerfectTree {
  readonly height: number;
  readonly index: number;
}

const tileHeight = Math.log2(tileWidth);

/** Cuts a range of leaves, as proofs have them, into perfect subtrees from left to right. */
function perfectTrees({ begin, end }: LeafRange): readonly PerfectTree[] {
  const size = end - begin;
  if (size === 0) return [];
  const isPerfect = size === 1 || splitOf(size) * 2 === size;
  const height = Math.log2(size);
  if (isPerfect) return [{ height, index: begin / size }];
  const middle = begin + splitOf(size);
  return [...perfectTrees({ begin, end: middle }), ...perfectTrees({ begin: middle, end })];
}

/** Where the hash of a perfect subtree is found: hashes of one tile, a power of two of them. */
function hashesOf({ height, index }: PerfectTree): TilePlace & LeafRange {
  const level = Math.floor(height / tileHeight);
  const count = 2 ** (height - level * tileHeight);
  const first = index * count;
  const position = Math.floor(first / tileWidth);
  const begin = first - position * tileWidth;
  return { level, position, begin, end: begin + count };
}

/** The tree lacks hashes that its size promises. */
export class MissingHashError extends Error {}

/** Returns the hash of each range; a range is as proofs have them, or the whole tree. Throws MissingHashError. */
export async function hashesOfRanges(
  tree: Pick<TreeStore, 'tiles'>,
  ranges: readonly LeafRange[],
): Promise<readonly Hash[]> {
  const trees = ranges.map((range) => perfectTrees(range).map(hashesOf));
  const places = new Map(
    trees.flat().map(({ level, position }) => [`${level} ${position}`, { level, position }]),
  );
  const tiles = new Map(
    (await tree.tiles([...places.values()])).map((tile) => [`${tile.level} ${tile.position}`, tile]),
  );
  return trees.map((parts) => {
    const hashes = parts.map(({ level, position, begin, end }) => {
      const tile = tiles.get(`${level} ${position}`);
      if (tile === undefined || countIn(tile) < end)
        throw new MissingHashError('the hash tree lacks a stored hash');
      return hashOfHashes(tile.hashes, { begin, end });
    });
    return hashes.length === 0 ? emptyRoot : hashes.reduceRight((right, left) => nodeHash(left, right));
  });
}

export async function rootOf(tree: Pick<TreeStore, 'tiles'>, size: number): Promise<Hash> {
  const [root] = await hashesOfRanges(tree, [{ begin: 0, end: size }]);
  return root!;
}

/** The place of a record in the tree; null when it is not there. */
export async function indexOf(tree: Pick<TreeStore, 'near'>, sequence: number): Promise<number | null> {
  const tile = await tree.near(sequence);
  if (tile === null) return null;
  let index = tile.position * tileWidth;
  for (const [first, count] of tile.runs) {
    if (sequence < first) return null;
    if (sequence < first + count) return index + sequence - first;
    index += count;
  }
  return null;
}
