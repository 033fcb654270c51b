// The hash tree over the records (RFC 9162, section 2.1), kept in tiles of 256 hashes: those of level 0 hold the
// hashes of records, and each hash of a higher level stands for a full tile of the level below. INVARIANT: a
// stored hash never changes, and the tree grows only from the size that the writer has seen; deleting records
// leaves their hashes.

import type { ChainRecord } from './chain.ts';

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
  /** The last tile of level 0; null when the tree is empty. */
  last(): Promise<Tile | null>;
  /** The tile of level 0 that has the record if the tree has it; null when the tree begins after the record. */
  near(sequence: number): Promise<Tile | null>;
  /** The tiles at the places, without those that do not exist. */
  tiles(places: readonly TilePlace[]): Promise<readonly Tile[]>;
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

export function tileOf({ level, position, hashes, runsJson }: TileRow): Tile {
  return {
    level,
    position,
    hashes: Buffer.from(hashes, 'base64'),
    // Only `tileRow` writes this column; a change behind the service's back shows when the tree is verified.
    runs: JSON.parse(runsJson) as readonly SequenceRun[],
  };
}
