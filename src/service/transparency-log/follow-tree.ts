// Keeps the hash tree up to date while the service runs: a thread hashes records, this process stores the tiles. A
// few records are hashed without the thread: then nothing else is to be done. INVARIANT: a turn of the event loop
// hashes few records; after any failure the tree is as it was, and the next step tries again.

import { Worker } from 'node:worker_threads';
import type { ChainRecord } from '../store/contract/chain.ts';
import type { Store } from '../store/contract/store.ts';
import { recordsAtOnce, storeGrowth } from './grow-tree.ts';
import { appendLeaves, type GrownTree, leafOf, readEdge, type TreeEdge } from './tiles.ts';
import type { TreeAnswer } from './tree-thread.ts';

export interface TreeStep {
  /** How long records were hashed, in milliseconds. */
  readonly workMs: number;
  /**
   * Whether many more records are probably to follow. The few that have come meanwhile can wait: each step is a write,
   * behind which requests wait.
   */
  readonly isBehind: boolean;
}

export interface TreeFollower {
  /** Appends the next records. Rejects when they cannot be read or stored. */
  step(): Promise<TreeStep>;
  close(): Promise<void>;
}

/** So few records take about a millisecond. Numbers may be missing, so fewer come even if many are to follow. */
const withoutThreadMax = 32;

export function createTreeFollower(store: Pick<Store, 'tree' | 'records'>): TreeFollower {
  let thread: Worker | null = null;
  let edge: TreeEdge | null = null;
  const started = (): Worker => {
    if (thread !== null) return thread;
    const made = new Worker(new URL('./tree-thread.ts', import.meta.url), { workerData: store.records });
    made.unref();
    // Whoever waits for an answer is told by `ask`.
    made.on('error', () => undefined);
    made.on('exit', () => {
      if (thread === made) thread = null;
    });
    thread = made;
    return made;
  };
  return {
    async step() {
      const from = edge ?? (await readEdge(store.tree));
      // If anything fails, the tree is read again.
      edge = null;
      const few = await store.tree.settledRecords(from.sequence, withoutThreadMax);
      const { growth, workMs } =
        few.length < withoutThreadMax / 2 ? grown(from, few) : await ask(started(), from);
      edge = growth === null ? from : await storeGrowth(store.tree, from, growth);
      return { workMs, isBehind: edge.sequence - from.sequence >= recordsAtOnce / 2 };
    },
    async close() {
      const ending = thread;
      thread = null;
      await ending?.terminate();
    },
  };
}

interface TimedGrowth {
  readonly growth: GrownTree | null;
  readonly workMs: number;
}

function grown(from: TreeEdge, records: readonly ChainRecord[]): TimedGrowth {
  if (records.length === 0) return { growth: null, workMs: 0 };
  const begun = performance.now();
  return { growth: appendLeaves(from, records.map(leafOf)), workMs: performance.now() - begun };
}

/** Rejects when the thread cannot read the records. */
function ask(thread: Worker, edge: TreeEdge): Promise<TimedGrowth> {
  return new Promise((resolve, reject) => {
    const settle = (finish: () => void): void => {
      thread.off('message', onMessage).off('error', onEnd).off('exit', onEnd);
      finish();
    };
    const onMessage = (answer: TreeAnswer): void =>
      settle(() => (answer.kind === 'grown' ? resolve(answer) : reject(new Error(answer.reason))));
    const onEnd = (cause: unknown): void =>
      settle(() => reject(new Error('the thread of the hash tree has ended', { cause })));
    thread.on('message', onMessage).on('error', onEnd).on('exit', onEnd);
    thread.postMessage(edge);
  });
}
