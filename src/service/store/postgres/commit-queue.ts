// Writes one after the other over one connection: requests that come while it is busy are the next batch, and one statement;
// any other write is a transaction. INVARIANT: a promise resolves only after the server has acknowledged the commit; when the
// connection breaks, what was under way is uncertain, all that waits is refused, and nothing is sent before the slot is
// claimed again.

import { setImmediate as nextTurn, setTimeout as sleep } from 'node:timers/promises';
import type { NonceUse } from '../contract/records.ts';
import type { AppendResult } from '../contract/store.ts';
import { StoreError } from '../contract/store-error.ts';
import {
  appendStatement,
  appendValues,
  judgedTogether,
  type NewRequest,
  type PreparedRequest,
  prepareRequest,
} from './append.ts';
import { type Connection, connect } from './connection.ts';
import { fenced, toStoreFailure, uncertain, unreachable } from './errors.ts';
import { checkServer, claimAgain, claimSlot, type Fence, keepSlot, noFence, releaseSlot } from './fence.ts';
import { inTransaction, type Work } from './transaction.ts';

/** A word for each request; `duplicate-id` is a mistake of ours. */
export type AppendWord = AppendResult | 'duplicate-id';

interface Waiting {
  /** Null for any other write. */
  readonly request: PreparedRequest | null;
  /** It has been in a batch that the database refused. */
  readonly isAlone: boolean;
  readonly work: Work<unknown>;
  readonly resolve: (result: unknown) => void;
  readonly reject: (error: unknown) => void;
}

export interface CommitQueueOptions {
  readonly url: string;
  readonly actor: string;
  readonly writesPendingMax: number;
}

const batchMax = 500;
/** Turns of the event loop for which a small batch waits while each of them brings more writes. */
const turnsMax = 4;
const enoughWrites = 32;
/** So long a failed write is held against the store unless another succeeds; then the next may try. */
const failureShownMs = 5_000;
/** A server that does not answer for so long is not there, as far as anybody asks. */
const silenceMaxMs = 1_000;
const keepEveryMs = 250;
const connectAgainMs = 100;

export async function openCommitQueue(options: CommitQueueOptions): Promise<CommitQueue> {
  return new CommitQueue(options, await connect(options.url));
}

/** A class because it holds the connection and the writes that wait for it. */
export class CommitQueue {
  readonly #options: CommitQueueOptions;
  readonly #listeners: (() => void)[] = [];
  #connection: Connection;
  #fence: Fence = noFence;
  #waiting: Waiting[] = [];
  #nonces: readonly NonceUse[] = [];
  /** How many writes the batch under way has. */
  #underWay = 0;
  #pumping: Promise<void> | null = null;
  /** Since when the server owes an answer; null while it owes none. */
  #askedAtMs: number | null = null;
  #failedAtMs = -Infinity;
  /** Why no further write is taken; null while the queue is open. */
  #ended: StoreError | null = null;
  #closing: Promise<void> | null = null;
  #connecting: Promise<void> | null = null;
  #keeping: NodeJS.Timeout | null = null;

  constructor(options: CommitQueueOptions, connection: Connection) {
    this.#options = options;
    this.#connection = connection;
    this.#use(connection);
  }

  append(request: NewRequest): Promise<AppendWord> {
    return new Promise((resolve, reject) => {
      try {
        const prepared = prepareRequest(request);
        this.#add({
          request: prepared,
          isAlone: false,
          work: neverRun,
          resolve: resolve as Waiting['resolve'],
          reject,
        });
      } catch (error) {
        reject(toStoreFailure(error));
      }
    });
  }

  write<T>(work: Work<T>): Promise<T> {
    return new Promise<T>((resolve, reject) => {
      this.#add({ request: null, isAlone: true, work, resolve: resolve as Waiting['resolve'], reject });
    });
  }

  /** Goes with the next batch, and again with the one after that where it fails. */
  noteNonce(use: NonceUse): void {
    if (this.#ended !== null) return;
    this.#nonces = [...this.#nonces, use];
    this.#pump();
  }

  /** Called when it is not known whether a write was stored, before its promise rejects. */
  onUncertain(listener: () => void): void {
    this.#listeners.push(listener);
  }

  /** From now on this process serves, and stores nothing once another does. Rejects with a StoreError. */
  async claim(): Promise<void> {
    try {
      await checkServer(this.#connection);
      this.#fence = await claimSlot(this.#connection);
    } catch (error) {
      throw toStoreFailure(error);
    }
    this.#keeping = setInterval(() => this.#keep(), keepEveryMs).unref();
  }

  isWritable(): boolean {
    const silentSinceMs = this.#askedAtMs ?? Infinity;
    const now = performance.now();
    const isAnswering = now - silentSinceMs < silenceMaxMs && !this.#connection.isLost();
    return this.#ended === null && isAnswering && now - this.#failedAtMs > failureShownMs;
  }

  depth(): number {
    return this.#waiting.length + this.#underWay;
  }

  close(): Promise<void> {
    this.#closing ??= this.#close();
    return this.#closing;
  }

  #add(waiting: Waiting): void {
    const error = this.#refusal();
    if (error === null) this.#waiting.push(waiting);
    else waiting.reject(error);
    this.#pump();
  }

  #refusal(): StoreError | null {
    if (this.#ended !== null) return this.#ended;
    if (this.#connection.isLost()) return unreachable(null);
    return this.depth() >= this.#options.writesPendingMax
      ? new StoreError('overloaded', 'too many writes wait for the database: send fewer requests')
      : null;
  }

  #pump(): void {
    this.#pumping ??= this.#sendAll().finally(() => this.#afterPumping());
  }

  /** What has come while the last answers were given has not been seen yet. */
  #afterPumping(): void {
    this.#pumping = null;
    if (this.#waiting.length > 0) this.#pump();
  }

  async #sendAll(): Promise<void> {
    await this.#gather();
    while (!this.#connection.isLost() && (this.#waiting.length > 0 || this.#nonces.length > 0)) {
      const isOver = await this.#sendNext();
      if (isOver) break;
    }
    if (this.#connection.isLost()) this.#refuseWaiting(this.#ended ?? unreachable(null));
  }

  /** Commits are dear, turns are cheap: while each brings more, a small batch waits for a few. */
  async #gather(): Promise<void> {
    for (let turn = 0, before = -1; turn < turnsMax && before !== this.#waiting.length; turn += 1) {
      before = this.#waiting.length;
      if (before >= enoughWrites) return;
      await nextTurn();
    }
  }

  /** Yields whether to send no more: nonces alone do not try again what has just failed, they go with the next write. */
  async #sendNext(): Promise<boolean> {
    const nonces = this.#nonces;
    const batch = this.#takeBatch();
    this.#nonces = [];
    this.#underWay = batch.length;
    try {
      await this.#send(batch, nonces);
      this.#failedAtMs = -Infinity;
    } catch (error) {
      this.#nonces = [...nonces, ...this.#nonces];
      this.#fail(batch, error);
      return this.#waiting.length === 0;
    } finally {
      this.#underWay = 0;
    }
    return false;
  }

  /** The first write alone, or all requests from the first on that can be judged together. */
  #takeBatch(): readonly Waiting[] {
    const requests: PreparedRequest[] = [];
    for (const { request, isAlone } of this.#waiting) {
      if (request === null || isAlone || requests.length === batchMax) break;
      requests.push(request);
    }
    return this.#waiting.splice(0, requests.length === 0 ? 1 : judgedTogether(requests));
  }

  async #send(batch: readonly Waiting[], nonces: readonly NonceUse[]): Promise<void> {
    const [first] = batch;
    if (first === undefined || first.request !== null) return await this.#sendRequests(batch, nonces);
    const { actor } = this.#options;
    const fence = this.#fence;
    const result = await this.#asking(() =>
      inTransaction(this.#connection, { fence, nonces, actor }, first.work),
    );
    this.#counted();
    first.resolve(result);
  }

  async #sendRequests(batch: readonly Waiting[], nonces: readonly NonceUse[]): Promise<void> {
    const values = appendValues(
      this.#fence,
      nonces,
      batch.flatMap(({ request }) => request ?? []),
    );
    const rows = await this.#asking(() =>
      this.#connection.query<{ readonly results: readonly AppendWord[] | null }>(appendStatement, values),
    );
    this.#counted();
    for (const [at, { resolve }] of batch.entries()) resolve(rows[0]?.results?.[at]);
  }

  async #asking<T>(ask: () => Promise<T>): Promise<T> {
    this.#askedAtMs = performance.now();
    try {
      return await ask();
    } finally {
      this.#askedAtMs = null;
    }
  }

  #counted(): void {
    const { batch } = this.#fence;
    if (batch !== null) this.#fence = { ...this.#fence, batch: batch + 1 };
  }

  #fail(batch: readonly Waiting[], cause: unknown): void {
    this.#failedAtMs = performance.now();
    const failure = toStoreFailure(cause);
    // A server that ends the session may have committed before.
    const isDoubtful = this.#connection.isLost() || failure.code === 'unreachable';
    const error = isDoubtful ? uncertain(cause) : failure;
    if (isDoubtful) {
      for (const listener of this.#listeners) listener();
      this.#connection.destroy();
    }
    if (error.code === 'fenced') this.#end(error);
    // One that the database refuses does no harm to the others of its batch.
    if (error.code === 'internal' && batch.length > 1)
      this.#waiting.unshift(...batch.map((waiting) => ({ ...waiting, isAlone: true })));
    else for (const { reject } of batch) reject(error);
  }

  #end(error: StoreError): void {
    this.#ended ??= error;
    if (this.#keeping !== null) clearInterval(this.#keeping);
    this.#connection.destroy();
  }

  #refuseWaiting(error: StoreError): void {
    const refused = this.#waiting;
    this.#waiting = [];
    for (const { reject } of refused) reject(error);
  }

  #use(connection: Connection): void {
    this.#connection = connection;
    connection.onLoss(() => {
      this.#refuseWaiting(this.#ended ?? unreachable(null));
      if (this.#ended === null) this.#connecting ??= this.#connectAgain();
    });
  }

  async #connectAgain(): Promise<void> {
    while (this.#ended === null) {
      // What the broken connection was to store is told as uncertain first.
      await this.#pumping;
      try {
        return await this.#take(await connect(this.#options.url));
      } catch {
        await sleep(connectAgainMs);
      }
    }
  }

  /** Goes on over a new connection, where the slot is still that of this process. */
  async #take(connection: Connection): Promise<void> {
    try {
      const fence = this.#fence.slot === null ? noFence : await claimAgain(connection, this.#fence);
      if (fence === null) {
        this.#end(fenced());
        return await connection.end();
      }
      this.#fence = fence;
    } catch (error) {
      connection.destroy();
      throw error;
    }
    this.#failedAtMs = -Infinity;
    this.#connecting = null;
    this.#use(connection);
  }

  /** Only where nothing else tells that this process is alive. */
  #keep(): void {
    if (this.#pumping !== null || this.#connection.isLost()) return;
    this.#pumping = this.#keepSlot().finally(() => this.#afterPumping());
  }

  async #keepSlot(): Promise<void> {
    const connection = this.#connection;
    const giveUp = setTimeout(() => connection.destroy(), silenceMaxMs);
    try {
      const isKept = await this.#asking(() => keepSlot(connection, this.#fence));
      if (!isKept) this.#end(fenced());
    } catch {
      connection.destroy();
    } finally {
      clearTimeout(giveUp);
    }
  }

  async #close(): Promise<void> {
    if (this.#keeping !== null) clearInterval(this.#keeping);
    const closed = new StoreError('closed', 'the store is closed');
    this.#ended ??= closed;
    if (this.#waiting.length > 0 || this.#nonces.length > 0) this.#pump();
    while (this.#pumping !== null) await this.#pumping;
    await this.#connecting;
    const connection = this.#connection;
    if (connection.isLost()) return;
    if (this.#fence.slot !== null) await releaseSlot(connection, this.#fence).catch(() => {});
    await connection.end();
  }
}

const neverRun: Work<never> = () => Promise.reject(new Error('a request is stored by its batch'));
