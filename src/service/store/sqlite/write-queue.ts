// Gathers writes into batches for the writer's thread (group commit). A batch leaves with everything that came
// in the same turn of the event loop; what arrives while the writer works is the next batch. Where threads run
// beside each other, that batch waits in the writer's thread as soon as it is worth a commit, so that neither
// thread waits for the other. INVARIANT: a promise resolves only after its batch was committed, together with
// all nonces noted before the write; when the writer is lost, all waiting and all later writes reject.

import { availableParallelism } from 'node:os';
import type { Worker } from 'node:worker_threads';
import type { NonceUse } from '../contract/records.ts';
import type { WriteTimes } from '../contract/store.ts';
import { StoreError } from '../contract/store-error.ts';
import { type BatchMemory, createBatchMemory, createBatchPacker } from './batch-message.ts';
import { type StoreFailure, toStoreError } from './file/errors.ts';
import { nonceBatchesOf } from './nonces.ts';
import { sharedNow } from './shared-clock.ts';
import type { FromWriter, ToWriter, WriteOutcome, WriterData } from './writer.ts';
import { acquireWriter, releaseWriter } from './writer-thread.ts';
import type { Write, WriteKind, WriteResults } from './writes.ts';

export interface WriteQueue {
  /**
   * Returns the result of the write once the write is durable. Rejects with a StoreError; then nothing of the
   * write is stored.
   */
  write<W extends Write>(write: W): Promise<WriteResults[W['kind']]>;
  /** Sends the use of a nonce with the next batch. If that fails, the writer keeps it for the one after. */
  noteNonce(use: NonceUse): void;
  isWritable(): boolean;
  /** Calls the listener when the writer is lost. */
  onEnd(listener: (why: StoreError) => void): void;
  /** How many writes are waiting or under way. */
  depth(): number;
  times(): WriteTimes;
  /** Finishes the waiting writes, then closes the database. */
  close(): Promise<void>;
}

interface QueuedWrite {
  readonly write: Write;
  readonly resolve: (result: WriteResults[WriteKind]) => void;
  readonly reject: (error: StoreError) => void;
  readonly askedAtMs: number;
}

interface SentBatch {
  readonly writes: readonly QueuedWrite[];
  readonly sentAtMs: number;
}

/** Limits how long one transaction holds the lock that other processes wait for. */
const batchWritesMax = 1000;
/**
 * How many batches are sent before the first of them is answered. On one processor, small batches would only
 * take turns with the requests that they wait for.
 */
const batchesMax = availableParallelism() > 1 ? 2 : 1;
/** How long the use of a nonce waits for a write to go with, which nearly always follows at once. */
const nonceWaitMs = 20;
/** A batch leaves behind another one once it has this many writes: a commit costs as much as twenty rows. */
const worthCommit = 8;

/** Waits until a writer has opened the database. Rejects with a StoreError when it cannot be opened. */
export async function openWriteQueue(data: WriterData, writesPendingMax: number): Promise<WriteQueue> {
  const worker = acquireWriter();
  const memories = Array.from({ length: batchesMax }, createBatchMemory);
  worker.postMessage({ kind: 'open', data, memories } satisfies ToWriter);
  await untilReady(worker);
  return createWriteQueue(worker, memories, writesPendingMax);
}

function untilReady(worker: Worker): Promise<void> {
  return new Promise((resolve, reject) => {
    const stopListening = () => {
      worker.off('message', onMessage);
      worker.off('error', onLoss);
      worker.off('exit', onLoss);
    };
    const onMessage = (message: FromWriter) => {
      stopListening();
      if (message.kind !== 'refused') return resolve();
      releaseWriter(worker);
      reject(toStoreError(message.failure));
    };
    const onLoss = (cause: unknown) => {
      stopListening();
      reject(writerDied(cause));
    };
    worker.on('message', onMessage);
    worker.on('error', onLoss);
    worker.on('exit', onLoss);
  });
}

/**
 * How long the store counts as not writable after a failed batch, unless another batch succeeds; after this
 * time the next write may try.
 */
const failureShownMs = 5_000;

// biome-ignore lint/complexity/noExcessiveLinesPerFunction: a closure over the writes that wait and the batches under way.
function createWriteQueue(
  worker: Worker,
  memories: readonly BatchMemory[],
  writesPendingMax: number,
): WriteQueue {
  // The memories take turns: the writer reads a batch before it answers, and answers in order.
  const packers = memories.map(createBatchPacker);
  let sent = 0;
  let waiting: QueuedWrite[] = [];
  let nonces: NonceUse[] = [];
  /** The batches that the writer has not answered, in the order in which they were sent. */
  const underWay: SentBatch[] = [];
  let isSendScheduled = false;
  let isNonceSendScheduled = false;
  /** Why no further write is taken; null while the queue is open. */
  let ended: StoreError | null = null;
  const times = createTimes();
  let closing: Promise<void> | null = null;
  let failedAtMs = -Infinity;
  const listeners: ((why: StoreError) => void)[] = [];
  const { promise: hasEnded, resolve: end } = Promise.withResolvers<void>();

  worker.on('message', take);
  worker.on('error', lose);
  worker.on('exit', lose);

  function take(message: FromWriter): void {
    if (message.kind === 'closed') {
      worker.off('message', take).off('error', lose).off('exit', lose);
      releaseWriter(worker);
      end();
      return;
    }
    const batch = underWay.shift();
    if (batch === undefined) throw new Error('the writer returned a result for no open batch');
    const isFailed = message.kind === 'failed';
    failedAtMs = isFailed ? performance.now() : -Infinity;
    if (message.kind === 'done') times.note(batch, message);
    settle(batch.writes, message);
    const areNoncesDue = closing !== null && nonces.length > 0 && !isFailed;
    if (waiting.length > 0 || areNoncesDue) scheduleSend();
    else if (closing !== null && underWay.length === 0) post({ kind: 'close' });
  }

  function post(message: ToWriter): void {
    worker.postMessage(message);
  }

  function sendBatch(): void {
    isSendScheduled = false;
    if (waiting.length === 0 && nonces.length === 0) return;
    const batch = waiting.slice(0, batchWritesMax);
    waiting = waiting.slice(batchWritesMax);
    underWay.push({ writes: batch, sentAtMs: sharedNow() });
    const memory = sent++ % packers.length;
    const writes = packers[memory]!(batch.map((entry) => entry.write));
    post({ kind: 'batch', writes, memory, nonces: nonceBatchesOf(nonces) });
    nonces = [];
    if (waiting.length > 0) scheduleSend();
  }

  function scheduleNonces(): void {
    if (isNonceSendScheduled) return;
    isNonceSendScheduled = true;
    setTimeout(sendNonces, nonceWaitMs);
  }

  function sendNonces(): void {
    isNonceSendScheduled = false;
    // Alone they do not retry a disk that has just failed; they go with the next write.
    if (nonces.length === 0 || !isWritable()) return;
    if (underWay.length > 0) scheduleNonces();
    else scheduleSend();
  }

  function scheduleSend(): void {
    const isWorth = underWay.length === 0 || (underWay.length < batchesMax && waiting.length >= worthCommit);
    if (isSendScheduled || !isWorth) return;
    isSendScheduled = true;
    setImmediate(sendBatch);
  }

  function lose(cause: unknown): void {
    const error = writerDied(cause);
    ended ??= error;
    const lost = [...underWay.flatMap(({ writes }) => writes), ...waiting];
    underWay.length = 0;
    waiting = [];
    for (const entry of lost) entry.reject(error);
    end();
    if (ended === error) for (const listener of listeners.splice(0)) listener(error);
  }

  const isWritable = () => ended === null && performance.now() - failedAtMs > failureShownMs;
  const depth = () => underWay.reduce((sum, { writes }) => sum + writes.length, waiting.length);

  function refusal(): StoreError | null {
    if (ended !== null) return ended;
    return depth() >= writesPendingMax
      ? new StoreError('overloaded', 'too many writes are queued for the disk: send fewer requests')
      : null;
  }

  return {
    write<W extends Write>(write: W) {
      return new Promise<WriteResults[W['kind']]>((resolve, reject) => {
        const error = refusal();
        if (error !== null) return reject(error);
        // The writer answers each write with a result of its kind.
        waiting.push({
          write,
          resolve: resolve as QueuedWrite['resolve'],
          reject,
          askedAtMs: sharedNow(),
        });
        scheduleSend();
      });
    },
    noteNonce(use) {
      if (ended !== null) return;
      nonces.push(use);
      scheduleNonces();
    },
    isWritable,
    onEnd: (listener) => void listeners.push(listener),
    depth,
    times: times.total,
    close() {
      if (closing !== null) return closing;
      const isIdle = underWay.length === 0 && waiting.length === 0 && nonces.length === 0;
      const isLost = ended !== null;
      ended ??= new StoreError('closed', 'the store is closed');
      closing = hasEnded;
      if (isIdle && !isLost) post({ kind: 'close' });
      else if (!isLost) scheduleSend();
      return closing;
    },
  };
}

function createTimes() {
  const seconds = { queue: 0, message: 0, commit: 0, answer: 0 };
  let [writes, commits] = [0, 0];
  return {
    note(
      batch: SentBatch,
      { takenAtMs, committedAtMs }: Extract<FromWriter, { readonly kind: 'done' }>,
    ): void {
      const count = batch.writes.length;
      writes += count;
      commits += 1;
      for (const { askedAtMs } of batch.writes) seconds.queue += (batch.sentAtMs - askedAtMs) / 1000;
      seconds.message += (count * (takenAtMs - batch.sentAtMs)) / 1000;
      seconds.commit += (count * (committedAtMs - takenAtMs)) / 1000;
      seconds.answer += (count * (sharedNow() - committedAtMs)) / 1000;
    },
    total: (): WriteTimes => ({ writes, commits, seconds: { ...seconds } }),
  };
}

function settle(batch: readonly QueuedWrite[], message: FromWriter): void {
  switch (message.kind) {
    case 'done':
      // Each write has one outcome, in the same order.
      for (let at = 0; at < batch.length; at += 1) {
        const outcome = message.outcomes[at]!;
        if (isFailure(outcome)) batch[at]!.reject(toStoreError(outcome));
        else batch[at]!.resolve(outcome);
      }
      return;
    case 'failed': {
      const error = toStoreError(message.failure);
      for (const entry of batch) entry.reject(error);
      return;
    }
    case 'ready':
    case 'refused':
    case 'closed':
      throw new Error('the writer returned no batch result');
  }
}

/** Results are texts, numbers and lists of these, so any other object is a failure. */
function isFailure(outcome: WriteOutcome): outcome is StoreFailure {
  return typeof outcome === 'object' && !Array.isArray(outcome);
}

function writerDied(cause: unknown): StoreError {
  return new StoreError('writer-died', 'the thread that writes the database has ended: restart the service', {
    cause,
  });
}
