// Writes into batches for the writer's thread: group commit. When the writer is idle a batch leaves with all that came
// in the same turn of the event loop, and in a few more while these bring any; what arrives while it works is the next.
// INVARIANT: a promise resolves only after its batch was committed, and all nonces noted before the write with it; when
// the writer is lost, all waiting and all later writes reject.

import type { Worker } from 'node:worker_threads';
import type { NonceUse } from '../contract/records.ts';
import { StoreError } from '../contract/store-error.ts';
import { createBatchPacker } from './batch-message.ts';
import { type StoreFailure, toStoreError } from './file/errors.ts';
import type { FromWriter, ToWriter, WriteOutcome, WriterData } from './writer.ts';
import { giveWriterBack, takeWriter } from './writer-thread.ts';
import type { Write, WriteKind, WriteResults } from './writes.ts';

export interface WriteQueue {
  /** What the write answered, once it is durable. Rejects with a StoreError, and nothing of it is stored. */
  write<W extends Write>(write: W): Promise<WriteResults[W['kind']]>;
  /** Goes ahead of the next batch, and again ahead of the one after that where it fails. */
  noteNonce(use: NonceUse): void;
  isWritable(): boolean;
  /** Writes that are waiting or under way. */
  depth(): number;
  /** Finishes what is waiting, then closes the database. */
  close(): Promise<void>;
}

interface Waiting {
  readonly write: Write;
  readonly resolve: (result: WriteResults[WriteKind]) => void;
  readonly reject: (error: StoreError) => void;
}

interface UnderWay {
  readonly writes: readonly Waiting[];
  readonly nonces: readonly NonceUse[];
}

/** Bounds how long one transaction holds the lock that other processes wait for. */
const batchWritesMax = 1000;

/** Waits until a writer has opened the database. Rejects with the StoreError for which it could not. */
export async function openWriteQueue(data: WriterData, writesPendingMax: number): Promise<WriteQueue> {
  const worker = takeWriter();
  worker.postMessage({ kind: 'open', data } satisfies ToWriter);
  await untilReady(worker);
  return createWriteQueue(worker, writesPendingMax);
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
      giveWriterBack(worker);
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

/** Turns of the event loop for which a small batch waits while each of them brings more writes. */
const turnsMax = 4;
/** Writes with which a batch no longer waits. */
const enoughWrites = 32;

/** How long a failed batch is held against the store unless another succeeds; then the next write may try. */
const failureShownMs = 5_000;

// biome-ignore lint/complexity/noExcessiveLinesPerFunction: a closure over the writes that wait and the batch under way.
function createWriteQueue(worker: Worker, writesPendingMax: number): WriteQueue {
  // The writer has read a batch before it answers, and none is sent before that.
  const pack = createBatchPacker();
  let waiting: Waiting[] = [];
  let nonces: NonceUse[] = [];
  /** The batch that the writer is working on; null while it is idle. */
  let underWay: UnderWay | null = null;
  let isSendScheduled = false;
  /** How many writes the last batch had. */
  let lastSent = 0;
  /** Why no further write is taken; null while the queue is open. */
  let ended: StoreError | null = null;
  let closing: Promise<void> | null = null;
  let failedAtMs = -Infinity;
  const { promise: hasEnded, resolve: end } = Promise.withResolvers<void>();

  worker.on('message', take);
  worker.on('error', lose);
  worker.on('exit', lose);

  function take(message: FromWriter): void {
    if (message.kind === 'closed') {
      worker.off('message', take).off('error', lose).off('exit', lose);
      giveWriterBack(worker);
      end();
      return;
    }
    const batch = underWay;
    if (batch === null) throw new Error('the writer answers batches, each once');
    underWay = null;
    const isFailed = message.kind === 'failed';
    failedAtMs = isFailed ? performance.now() : -Infinity;
    if (isFailed) nonces = [...batch.nonces, ...nonces];
    settle(batch.writes, message);
    // Nonces alone do not try a disk again that has just failed: they go with the next write.
    if (waiting.length > 0 || (nonces.length > 0 && !isFailed)) scheduleSend();
    else if (closing !== null) post({ kind: 'close' });
  }

  function post(message: ToWriter): void {
    worker.postMessage(message);
  }

  function sendBatch(): void {
    isSendScheduled = false;
    if (underWay !== null || (waiting.length === 0 && nonces.length === 0)) return;
    underWay = { writes: waiting.slice(0, batchWritesMax), nonces };
    waiting = waiting.slice(batchWritesMax);
    lastSent = underWay.writes.length;
    nonces = [];
    const writes = underWay.writes.map((entry) => entry.write);
    post({ kind: 'batch', writes: pack(writes), nonces: underWay.nonces });
  }

  function scheduleSend(): void {
    if (isSendScheduled || underWay !== null) return;
    isSendScheduled = true;
    setImmediate(gather, 0, 1);
  }

  /** Commits are dear, turns are cheap: while each brings more, a small batch waits for a few. */
  function gather(before: number, turn: number): void {
    const now = waiting.length;
    // Who asks one thing after the other has nobody to wait for.
    const isAlone = now === 1 && lastSent <= 1;
    const isOver = isAlone || now === before || turn >= turnsMax || now >= enoughWrites;
    if (isOver) sendBatch();
    else setImmediate(gather, now, turn + 1);
  }

  function lose(cause: unknown): void {
    const error = writerDied(cause);
    ended ??= error;
    const lost = [...(underWay?.writes ?? []), ...waiting];
    underWay = null;
    waiting = [];
    for (const entry of lost) entry.reject(error);
    end();
  }

  const depth = () => waiting.length + (underWay?.writes.length ?? 0);

  function refusal(): StoreError | null {
    if (ended !== null) return ended;
    return depth() >= writesPendingMax
      ? new StoreError('overloaded', 'too many writes wait for the disk: send fewer requests')
      : null;
  }

  return {
    write<W extends Write>(write: W) {
      return new Promise<WriteResults[W['kind']]>((resolve, reject) => {
        const error = refusal();
        if (error !== null) return reject(error);
        // The writer answers each write with a result of its kind.
        waiting.push({ write, resolve: resolve as Waiting['resolve'], reject });
        scheduleSend();
      });
    },
    noteNonce(use) {
      if (ended !== null) return;
      nonces.push(use);
      scheduleSend();
    },
    isWritable: () => ended === null && performance.now() - failedAtMs > failureShownMs,
    depth,
    close() {
      if (closing !== null) return closing;
      const isIdle = underWay === null && waiting.length === 0 && nonces.length === 0;
      const isLost = ended !== null;
      ended ??= new StoreError('closed', 'the store is closed');
      closing = hasEnded;
      if (isIdle && !isLost) post({ kind: 'close' });
      else if (!isLost) scheduleSend();
      return closing;
    },
  };
}

function settle(batch: readonly Waiting[], message: FromWriter): void {
  switch (message.kind) {
    case 'done':
      // One outcome a write, in order.
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
      throw new Error('this is no answer to a batch');
  }
}

/** Results are texts, numbers and lists of these. */
function isFailure(outcome: WriteOutcome): outcome is StoreFailure {
  return typeof outcome === 'object' && !Array.isArray(outcome);
}

function writerDied(cause: unknown): StoreError {
  return new StoreError('writer-died', 'the thread that writes the database has ended: restart the service', {
    cause,
  });
}
