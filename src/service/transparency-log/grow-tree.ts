// Brings the hash tree up to the settled records of the store. INVARIANT: only the first of several processes that
// append the same records succeeds; the others read the tree again.

import type { TreeStore } from '../store/contract/tree.ts';
import { appendLeaves, type GrownTree, leafOf, readEdge, type TreeEdge } from './tiles.ts';

/** Eight tiles. */
export const recordsAtOnce = 2_048;

/** Returns the tree with the next records; null when it has all of them. */
export async function nextGrowth(
  edge: TreeEdge,
  settledRecords: TreeStore['settledRecords'],
): Promise<GrownTree | null> {
  const records = await settledRecords(edge.sequence, recordsAtOnce);
  return records.length === 0 ? null : appendLeaves(edge, records.map(leafOf));
}

/** Stores the growth; returns where the tree then ends, whoever stored it. */
export async function storeGrowth(
  tree: TreeStore,
  from: TreeEdge,
  { edge, changed }: GrownTree,
): Promise<TreeEdge> {
  const result = await tree.grow({ from: from.size, tiles: changed });
  return result === 'grown' ? edge : await readEdge(tree);
}

/** Appends all records that are settled now, and returns where the tree then ends. Rejects with a StoreError. */
export async function growTree(tree: TreeStore): Promise<TreeEdge> {
  let edge = await readEdge(tree);
  for (;;) {
    const growth = await nextGrowth(edge, tree.settledRecords);
    if (growth === null) return edge;
    edge = await storeGrowth(tree, edge, growth);
  }
}
