// The thread that hashes records for the tree, so that no decision waits for it. It only reads; its answers are
// stored by the process that asked.

import { parentPort, workerData } from 'node:worker_threads';
import type { RecordsLocation } from '../store/contract/log.ts';
import type { TreeStore } from '../store/contract/tree.ts';
import { nextGrowth } from './grow-tree.ts';
import type { GrownTree, TreeEdge } from './tiles.ts';

/** The tree after the next records, null when it has all of them; or why they could not be read. */
export type TreeAnswer =
  | { readonly kind: 'grown'; readonly growth: GrownTree | null; readonly workMs: number }
  | { readonly kind: 'failed'; readonly reason: string };

async function openRecords(location: RecordsLocation): Promise<TreeStore['settledRecords']> {
  if ('path' in location) {
    const { openFileChain } = await import('../store/sqlite/chain/file-chain.ts');
    const chain = openFileChain(location.path);
    return async (after, countMax) => chain.segment(after, countMax).records;
  }
  const { openSettledRecords } = await import('../store/postgres/tree.ts');
  return openSettledRecords(location.url);
}

if (parentPort === null) throw new Error('the tree thread was started outside a worker thread');
const port = parentPort;
const opening = openRecords(workerData as RecordsLocation);
// A failure is the answer to the first question.
opening.catch(() => undefined);

async function answer(edge: TreeEdge): Promise<TreeAnswer> {
  try {
    const settledRecords = await opening;
    const begun = performance.now();
    const growth = await nextGrowth(edge, settledRecords);
    return { kind: 'grown', growth, workMs: performance.now() - begun };
  } catch (error) {
    return { kind: 'failed', reason: String(error) };
  }
}

port.on('message', (edge: TreeEdge) => void answer(edge).then((result) => port.postMessage(result)));
