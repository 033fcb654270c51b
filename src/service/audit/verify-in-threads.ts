// Checks a long chain of a store in a file in several threads, a range each. INVARIANT: what the threads
// find intact counts only as far as each range begins with the hash with which the one before ends; from the
// first that does not, `verifyChain` walks on and says what is wrong.

import { availableParallelism } from 'node:os';
import { Worker } from 'node:worker_threads';
import { chainStart, type Link } from '../store/contract/chain.ts';
import type { Store } from '../store/contract/store.ts';
import { type Verification, type VerifyOptions, verifyChain } from './verify.ts';
import type { ChainRange, CheckedRange, VerifyThreadData } from './verify-thread.ts';

/** A thread takes longer to begin than to check this many records. */
const recordsOfThread = 5_000;
const threadsMax = 8;

export interface VerifyThreadsOptions extends VerifyOptions {
  /** How many threads check; as many as the machine has cores when absent. */
  readonly threads?: number;
  readonly recordsOfThread?: number;
}

/** The same as `verifyChain`, sooner. Rejects with a StoreError. */
export async function verifyInThreads(
  store: Store,
  options: VerifyThreadsOptions = {},
): Promise<Verification> {
  const { threads = Math.min(availableParallelism(), threadsMax), recordsOfThread: size = recordsOfThread } =
    options;
  const { records: location } = store;
  if (!('path' in location) || threads < 2 || options.after !== undefined)
    return await verifyChain(store, options);
  const { pruning, lastSequence } = await store.chain.segment(0, 0);
  const begin: Link = pruning ?? chainStart;
  const ranges = cut(begin.sequence, lastSequence, size);
  if (ranges.length < 2) return await verifyChain(store, options);
  const checkpoints = [...(await store.chain.checkpoints()), ...(options.checkpoints ?? [])];
  const data: VerifyThreadData = { path: location.path, masterKey: store.masterKey, checkpoints };
  const checked = await checkAll(ranges, { data, threads, onChecked: options.onChecked, lastSequence });
  const end = endOf(begin, checked);
  const rest = await verifyChain(store, end === begin ? options : { ...options, after: end });
  return rest.kind === 'whole' ? { ...rest, firstSequence: begin.sequence + 1 } : rest;
}

function cut(begin: number, last: number, size: number): readonly ChainRange[] {
  const ranges: ChainRange[] = [];
  for (let at = begin; at < last; at += size) ranges.push({ begin: at, end: Math.min(at + size, last) });
  return ranges;
}

/** Returns up to where the ranges are whole and follow each other. */
function endOf(begin: Link, checked: readonly CheckedRange[]): Link {
  let end = begin;
  for (const one of checked) {
    if (one === null || one.from.sequence !== end.sequence || one.from.hash !== end.hash) break;
    end = one.to;
  }
  return end;
}

interface ThreadedVerification {
  readonly data: VerifyThreadData;
  readonly threads: number;
  readonly lastSequence: number;
  readonly onChecked: VerifyOptions['onChecked'];
}

/** What the threads say of each range, in order; none is begun after one that is not whole. */
async function checkAll(
  ranges: readonly ChainRange[],
  { data, threads, lastSequence, onChecked }: ThreadedVerification,
): Promise<readonly CheckedRange[]> {
  const checked: CheckedRange[] = ranges.map(() => null);
  let next = 0;
  let isBroken = false;
  const work = async (): Promise<void> => {
    const thread = new Worker(new URL('./verify-thread.ts', import.meta.url), { workerData: data });
    try {
      while (next < ranges.length && !isBroken) {
        const at = next++;
        const result = await answerOf(thread, ranges[at]!);
        checked[at] = result;
        isBroken ||= result === null;
        onChecked?.(ranges[at]!.end, lastSequence);
      }
    } finally {
      await thread.terminate();
    }
  };
  await Promise.all(Array.from({ length: Math.min(threads, ranges.length) }, work));
  return checked;
}

/** A thread that ends has not found its range intact; the walk that follows says why. */
function answerOf(thread: Worker, range: ChainRange): Promise<CheckedRange> {
  return new Promise((resolve) => {
    thread.removeAllListeners();
    thread.on('message', resolve);
    thread.on('error', () => resolve(null));
    thread.on('exit', () => resolve(null));
    thread.postMessage(range);
  });
}
