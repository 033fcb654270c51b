// Turns waiting requests into one batch, and its results into the answer to each. A request that rests on
// meters is decided only when its turn comes, on everything that was stored before. INVARIANT: what was
// entered for a request that is not stored is taken back before anything else is decided.

import { setImmediate as nextTurn } from 'node:timers/promises';
import type { MeterSeries } from '../contract/metering.ts';
import type { AppendResult } from '../contract/store.ts';
import { type AppendReply, type AppendStatus, createTogether, type PreparedRequest } from './append.ts';
import type { Connection } from './server/connection.ts';
import type { Work } from './transaction.ts';

/** The result of a request. */
export type RequestOutcome = AppendResult | 'policies-changed' | 'nothing';

export interface WaitingRequest {
  /** The meters that the request reads or enters. */
  readonly series: readonly MeterSeries[];
  /** Decides the request on the present totals of meters; returns null when there is nothing to store. */
  readonly make: () => PreparedRequest | null;
  readonly revertMeters: () => void;
  readonly resolve: (word: RequestOutcome) => void;
  readonly reject: (error: unknown) => void;
  /** Whether the request goes alone, since the database refused a batch with it. */
  readonly isAlone?: boolean;
}

/** A write of any kind but a request. */
export interface WaitingWrite {
  readonly work: Work<unknown>;
  /**
   * `kept`: later writes are carried out later. `left`: requests that come later may be stored earlier.
   * `beside`: as `left`, and the write delays nobody, since it reads nothing and no decision rests on what it
   * stores.
   */
  readonly turn: 'kept' | 'left' | 'beside';
  readonly resolve: (result: unknown) => void;
  readonly reject: (error: unknown) => void;
}

export type BatchItem = WaitingRequest | WaitingWrite;

/** A caller that waits until the server has acknowledged something that was sent after its call. */
export interface WaitingAnswer {
  readonly resolve: () => void;
  readonly reject: (error: unknown) => void;
}

/** A request that has been decided and sent. */
export interface SentRequest {
  readonly waiting: WaitingRequest;
  readonly prepared: PreparedRequest;
}

/**
 * The waiting writes, in the order in which they came. INVARIANT: nothing overtakes a write whose turn is
 * `kept`, and such a write overtakes nothing; between these, requests and other writes take turns. A class
 * because it holds the waiting writes.
 */
export class WaitingList {
  #all: BatchItem[] = [];
  #isWriteNext = false;

  get length(): number {
    return this.#all.length;
  }

  add(waiting: BatchItem): void {
    this.#all.push(waiting);
  }

  /** Puts requests that have waited before at the front. */
  addFirst(requests: readonly WaitingRequest[]): void {
    this.#all.unshift(...requests);
  }

  /**
   * Returns either the next write, which leaves the list, or the next requests, which stay in the list until
   * they are removed; no requests when nothing waits.
   */
  next(countMax: number): WaitingWrite | readonly WaitingRequest[] {
    const end = this.#all.findIndex((one) => 'work' in one && one.turn === 'kept');
    const open = end === -1 ? this.#all : this.#all.slice(0, Math.max(end, 1));
    const requests = open.filter((one) => 'make' in one);
    const write = open.find((one) => 'work' in one);
    if (write === undefined || (requests.length > 0 && !this.#isWriteNext)) {
      this.#isWriteNext = true;
      return requests.slice(0, countMax);
    }
    this.#isWriteNext = false;
    this.#all.splice(this.#all.indexOf(write), 1);
    return write;
  }

  remove(requests: readonly WaitingRequest[]): void {
    const gone = new Set<BatchItem>(requests);
    this.#all = this.#all.filter((one) => !gone.has(one));
  }

  clear(): readonly BatchItem[] {
    const all = this.#all;
    this.#all = [];
    return all;
  }
}

/** For how many turns of the event loop a small batch waits, as long as each turn brings more writes. */
const turnsMax = 4;
const enoughWrites = 32;

/**
 * Waits for more writes. A commit is expensive and a turn of the event loop is cheap, so a small batch waits
 * for a few turns while each brings more.
 */
export async function gather(countNow: () => number): Promise<void> {
  for (let turn = 0, before = -1; turn < turnsMax && before !== countNow(); turn += 1) {
    before = countNow();
    if (before >= enoughWrites) return;
    await nextTurn();
  }
}

/**
 * Decides the first waiting requests, as many as can be judged together. They leave the list, and so do
 * requests with nothing to store.
 */
export function takeBatch(waiting: WaitingRequest[], countMax: number): readonly SentRequest[] {
  const batch: SentRequest[] = [];
  const isTogether = createTogether();
  while (waiting.length > 0 && batch.length < countMax) {
    const next = waiting[0]!;
    if (next.isAlone === true && batch.length > 0) break;
    const prepared = decided(next);
    if (prepared !== null && !isTogether(prepared)) {
      next.revertMeters();
      break;
    }
    waiting.shift();
    if (prepared !== null) batch.push({ waiting: next, prepared });
    if (next.isAlone === true) break;
  }
  return batch;
}

/** Returns the prepared request; null when the request was answered at once. */
function decided({ make, revertMeters, resolve, reject }: WaitingRequest): PreparedRequest | null {
  try {
    const request = make();
    if (request !== null) return request;
    resolve('nothing');
  } catch (error) {
    revertMeters();
    reject(error);
  }
  return null;
}

/**
 * Answers the requests of a batch. Returns those that have to be decided again, in their order and
 * unanswered.
 */
export function answerBatch(
  batch: readonly SentRequest[],
  { results }: Pick<AppendReply, 'results'>,
): readonly WaitingRequest[] {
  const words: readonly AppendStatus[] = results ?? [];
  if (words.length !== batch.length)
    throw new Error('the batch returned a different number of results than it has requests');
  for (const [at, { waiting }] of batch.entries()) if (words[at] !== 'stored') waiting.revertMeters();
  const again: WaitingRequest[] = [];
  for (const [at, { waiting }] of batch.entries()) {
    const word = words[at]!;
    if (word === 'meters-moved') again.push(waiting);
    else waiting.resolve(word);
  }
  return again;
}

/**
 * Takes back the doubtful requests that are not stored. To be called once none of them can be stored any
 * more.
 */
export async function resolveUncertain(
  connection: Connection,
  doubtful: readonly SentRequest[],
): Promise<void> {
  if (doubtful.length === 0) return;
  const stored = await connection.query<{ readonly id: string }>(
    { text: 'SELECT id FROM requests WHERE id = ANY ($1)' },
    [doubtful.map(({ prepared }) => prepared.row.id)],
  );
  const isStored = new Set(stored.map(({ id }) => id));
  for (const { waiting, prepared } of doubtful) if (!isStored.has(prepared.row.id)) waiting.revertMeters();
}
