// Requests that wait into one batch, and the answer to each. What rests on meters is decided only when its turn has come, on
// all that was stored before. INVARIANT: what was entered for a request that is not stored is taken back before anything else
// is decided.

import { setImmediate as nextTurn } from 'node:timers/promises';
import type { MeterPlace } from '../contract/metering.ts';
import type { AppendResult } from '../contract/store.ts';
import { type Appended, type AppendWord, createTogether, type PreparedRequest } from './append.ts';
import type { Connection } from './server/connection.ts';
import type { Work } from './transaction.ts';

/** What comes of a request. */
export type RequestWord = AppendResult | 'policies-changed' | 'nothing';

export interface WaitingRequest {
  /** The meters that it reads or enters. */
  readonly places: readonly MeterPlace[];
  /** Decides it, by what meters say now; null where it comes to nothing. */
  readonly make: () => PreparedRequest | null;
  readonly takeBack: () => void;
  readonly resolve: (word: RequestWord) => void;
  readonly reject: (error: unknown) => void;
  /** It has been in a batch that the database refused. */
  readonly isAlone?: boolean;
}

/** A write of any other kind. */
export interface WaitingWrite {
  readonly work: Work<unknown>;
  /**
   * `kept`: what comes later is carried out later. `left`: requests that come later may be stored before it. `beside`: they may,
   * and it holds nobody up, for it looks at nothing and no decision rests on what it stores.
   */
  readonly turn: 'kept' | 'left' | 'beside';
  readonly resolve: (result: unknown) => void;
  readonly reject: (error: unknown) => void;
}

export type Waiting = WaitingRequest | WaitingWrite;

/** Who waits until the server has acknowledged something that was sent later. */
export interface WaitingAnswer {
  readonly resolve: () => void;
  readonly reject: (error: unknown) => void;
}

/** One that has been decided and is sent. */
export interface SentRequest {
  readonly waiting: WaitingRequest;
  readonly prepared: PreparedRequest;
}

/**
 * What waits, in the order in which it came. INVARIANT: nothing goes before a write that keeps its turn and came earlier, and
 * such a write not before what came earlier than it; requests and the writes between these take turns. A class because it
 * holds them.
 */
export class WaitingList {
  #all: Waiting[] = [];
  #isWriteNext = false;

  get length(): number {
    return this.#all.length;
  }

  add(waiting: Waiting): void {
    this.#all.push(waiting);
  }

  /** They have waited before. */
  addFirst(requests: readonly WaitingRequest[]): void {
    this.#all.unshift(...requests);
  }

  /** A write, which is taken from the list, or requests, which are not yet: none where nothing waits. */
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
    const gone = new Set<Waiting>(requests);
    this.#all = this.#all.filter((one) => !gone.has(one));
  }

  clear(): readonly Waiting[] {
    const all = this.#all;
    this.#all = [];
    return all;
  }
}

/** Turns of the event loop for which a small batch waits while each of them brings more writes. */
const turnsMax = 4;
const enoughWrites = 32;

/** Commits are dear, turns are cheap: while each brings more, a small batch waits for a few. */
export async function gather(countNow: () => number): Promise<void> {
  for (let turn = 0, before = -1; turn < turnsMax && before !== countNow(); turn += 1) {
    before = countNow();
    if (before >= enoughWrites) return;
    await nextTurn();
  }
}

/** Decides as many of the first as can be judged together; these, and those that come to nothing, leave the list. */
export function takeBatch(waiting: WaitingRequest[], countMax: number): readonly SentRequest[] {
  const batch: SentRequest[] = [];
  const isTogether = createTogether();
  while (waiting.length > 0 && batch.length < countMax) {
    const next = waiting[0]!;
    if (next.isAlone === true && batch.length > 0) break;
    const prepared = decided(next);
    if (prepared !== null && !isTogether(prepared)) {
      next.takeBack();
      break;
    }
    waiting.shift();
    if (prepared !== null) batch.push({ waiting: next, prepared });
    if (next.isAlone === true) break;
  }
  return batch;
}

/** The prepared request; null where it has been answered. */
function decided({ make, takeBack, resolve, reject }: WaitingRequest): PreparedRequest | null {
  try {
    const made = make();
    if (made !== null) return made;
    resolve('nothing');
  } catch (error) {
    takeBack();
    reject(error);
  }
  return null;
}

/** Answers all but those that are to be decided again, which it yields in their order. */
export function answerBatch(
  batch: readonly SentRequest[],
  { results }: Pick<Appended, 'results'>,
): readonly WaitingRequest[] {
  const words: readonly AppendWord[] = results ?? [];
  if (words.length !== batch.length) throw new Error('each request has a word');
  for (const [at, { waiting }] of batch.entries()) if (words[at] !== 'stored') waiting.takeBack();
  const again: WaitingRequest[] = [];
  for (const [at, { waiting }] of batch.entries()) {
    const word = words[at]!;
    if (word === 'meters-moved') again.push(waiting);
    else waiting.resolve(word);
  }
  return again;
}

/** Of what broke off: what is not stored is taken back, once none of it can be stored any more. */
export async function settleDoubt(connection: Connection, doubtful: readonly SentRequest[]): Promise<void> {
  if (doubtful.length === 0) return;
  const stored = await connection.query<{ readonly id: string }>(
    { text: 'SELECT id FROM requests WHERE id = ANY ($1)' },
    [doubtful.map(({ prepared }) => prepared.row.id)],
  );
  const isStored = new Set(stored.map(({ id }) => id));
  for (const { waiting, prepared } of doubtful) if (!isStored.has(prepared.row.id)) waiting.takeBack();
}
