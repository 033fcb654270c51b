// Requests that wait into one batch, and the answer to each. What rests on meters is decided only when its turn has come, on
// all that was stored before. INVARIANT: what was entered for a request that is not stored is taken back before anything else
// is decided.

import { setImmediate as nextTurn } from 'node:timers/promises';
import type { MeterPlace } from '../contract/metering.ts';
import type { AppendResult } from '../contract/store.ts';
import { type Appended, type AppendWord, createTogether, type PreparedRequest } from './append.ts';
import type { Connection } from './server/connection.ts';
import type { Work } from './transaction.ts';

/** What comes of a request: the store's own mistakes apart, a word of its contract. */
export type RequestWord = AppendResult | 'duplicate-id' | 'policies-changed' | 'nothing';

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
  const words = batch.map((_, at): AppendWord => results?.[at] ?? 'duplicate-id');
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
