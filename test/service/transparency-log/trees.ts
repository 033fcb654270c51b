// A hash tree by the definition in RFC 6962, section 2.1, as a slow twin of the tiles, and a tree store in memory.

import { createHash } from 'node:crypto';
import { sizeWith, type Tile, type TreeStore } from '../../../src/service/store/contract/tree.ts';
import { appendLeaves, emptyEdge, type TreeEdge } from '../../../src/service/transparency-log/tiles.ts';

export type MemoryTree = Pick<TreeStore, 'last' | 'near' | 'tiles'> & {
  readonly edge: () => TreeEdge;
  append(leaves: readonly Uint8Array[]): void;
};

const sha256 = (...parts: readonly Uint8Array[]): Buffer =>
  parts.reduce((hash, part) => hash.update(part), createHash('sha256')).digest();

/** MTH of RFC 6962, from the data of leaves. */
export function definedRoot(data: readonly Uint8Array[]): Buffer {
  if (data.length === 0) return sha256();
  if (data.length === 1) return sha256(Buffer.of(0), data[0]!);
  const split = 2 ** (Math.ceil(Math.log2(data.length)) - 1);
  return sha256(Buffer.of(1), definedRoot(data.slice(0, split)), definedRoot(data.slice(split)));
}

/** Records are numbered from `first` on, with a gap after every `gapEvery`. */
export function createMemoryTree({ first = 1, gapEvery = Number.POSITIVE_INFINITY } = {}): MemoryTree {
  const tiles = new Map<string, Tile>();
  let edge = emptyEdge;
  const atLevel0 = () => [...tiles.values()].filter(({ level }) => level === 0);
  return {
    edge: () => edge,
    append(leaves) {
      const numbered = leaves.map((hash, at) => {
        const index = edge.size + at;
        return { sequence: first + index + Math.floor(index / gapEvery), hash };
      });
      const grown = appendLeaves(edge, numbered);
      for (const tile of grown.changed) tiles.set(`${tile.level} ${tile.position}`, tile);
      edge = grown.edge;
    },
    last: async () =>
      atLevel0()
        .toSorted((a, b) => a.position - b.position)
        .at(-1) ?? null,
    near: async (sequence) =>
      atLevel0()
        .toSorted((a, b) => a.position - b.position)
        .findLast(({ runs }) => (runs[0]?.[0] ?? 0) <= sequence) ?? null,
    tiles: async (places) => places.flatMap(({ level, position }) => tiles.get(`${level} ${position}`) ?? []),
  };
}

/** The number of stored hashes, to compare with what the size promises. */
export async function storedLeaves(tree: MemoryTree): Promise<number> {
  const last = await tree.last();
  return sizeWith(last);
}
