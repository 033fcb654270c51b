// The hash tree over the records (RFC 9162, section 2.1), kept in tiles of 256 hashes: those of level 0 hold the
// hashes of records, and each hash of a higher level stands for a full tile of the level below. INVARIANT: a
// stored hash never changes, and the tree grows only from the size that the writer has seen; deleting records
// leaves their hashes.

import type { ChainRecord } from './chain.ts';
import { tamperedRecord } from './store-error.ts';

/** How many hashes a full tile has. */
export const tileWidth = 256;
export const hashBytes = 32;

export interface TilePlace {
  readonly level: number;
  /** The number of the tile within its level, from 0. */
  readonly position: number;
}

/** Consecutive record numbers. */
export type SequenceRun = readonly [first: number, count: number];

export interface Tile extends TilePlace {
  /** 1 to 256 hashes in a row. */
  readonly hashes: Uint8Array;
  /** The numbers of the records that the hashes of level 0 stand for, in order; empty in higher levels. */
  readonly runs: readonly SequenceRun[];
}

export interface TreeGrowth {
  /** The number of records in the tree before. */
  readonly from: number;
  /** The tiles that are new or longer. */
  readonly tiles: readonly Tile[];
}

export interface TreeStore {
  /** The last tile of level 0; null when the tree is empty. Rejects when it was changed. */
  last(): Promise<Tile | null>;
  /** The tile of level 0 that has the record if the tree has it; null when the tree begins after the record. */
  near(sequence: number): Promise<Tile | null>;
  /** The tiles at the places, without those that do not exist or are not as they were written. */
  tiles(places: readonly TilePlace[]): Promise<readonly Tile[]>;
  /** How many tiles are stored, of all levels. */
  tileCount(): Promise<number>;
  /** `conflict`: the tree has another size by now; nothing was changed. */
  grow(growth: TreeGrowth): Promise<'grown' | 'conflict'>;
  /**
   * Records after the number, at most `countMax` numbers further: no record before the last of them is still
   * being written, and in a chain of several lanes a knot follows all that are in a lane of their own.
   */
  settledRecords(afterSequence: number, countMax: number): Promise<readonly ChainRecord[]>;
}

/** How many hashes the tile has. */
export function countIn({ hashes }: Pick<Tile, 'hashes'>): number {
  return hashes.length / hashBytes;
}

/** The columns of a stored tile: hashes in base64, runs as JSON. */
export interface TileRow extends TilePlace {
  readonly hashes: string;
  readonly runsJson: string;
  /** The number of the first record; null in higher levels. */
  readonly firstSequence: number | null;
}

export function tileRow({ level, position, hashes, runs }: Tile): TileRow {
  return {
    level,
    position,
    hashes: Buffer.from(hashes).toString('base64'),
    runsJson: JSON.stringify(runs),
    firstSequence: runs[0]?.[0] ?? null,
  };
}

/** Reads a stored tile; null when the row is not one that `tileRow` makes. */
export function tileOf(row: TileRow): Tile | null {
  const { level, position, hashes, runsJson } = row;
  const tile = { level, position, hashes: Buffer.from(hashes, 'base64'), runs: runsOf(runsJson) };
  const count = countIn(tile);
  const isTile = Number.isInteger(count) && count >= 1 && count <= tileWidth;
  const again = tileRow(tile);
  const isSame = again.hashes === hashes && again.runsJson === runsJson;
  return isTile && isSame && again.firstSequence === row.firstSequence ? tile : null;
}

function runsOf(json: string): readonly SequenceRun[] {
  try {
    const runs: unknown = JSON.parse(json);
    return Array.isArray(runs) && runs.every(isRun) ? runs : [];
  } catch {
    return [];
  }
}

function isRun(run: unknown): run is SequenceRun {
  return (
    Array.isArray(run) && run.length === 2 && run.every((part) => Number.isSafeInteger(part) && part > 0)
  );
}

/** Reads the tile with which the tree ends. Throws StoreError when it is not as it was written. */
export function lastTileOf(row: TileRow | undefined): Tile | null {
  if (row === undefined) return null;
  const tile = tileOf(row);
  if (tile === null) throw tamperedRecord('the end of the hash tree is not as the service wrote it');
  return tile;
}

/** How many records the tree has that ends with this tile of level 0. */
export function sizeWith(last: Tile | null): number {
  return last === null ? 0 : last.position * tileWidth + countIn(last);
}
