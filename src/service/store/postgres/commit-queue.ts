// The queue of writes over one connection to PostgreSQL. Requests that come while the connection is busy form
// the next batch, which is one statement; any other write is a transaction in turn. INVARIANT: a promise
// resolves only after the server has acknowledged the commit. When the connection breaks, the writes under
// way are uncertain, all waiting writes are refused, and nothing is sent before the slot is claimed again.

import { setTimeout as sleep } from 'node:timers/promises';
import type { Durability } from '../contract/durability.ts';
import type { MeterSeries } from '../contract/metering.ts';
import type { NonceUse } from '../contract/records.ts';
import { StoreError } from '../contract/store-error.ts';
import { type AppendReply, appendStatement, appendValues } from './append.ts';
import {
  checkServer,
  claimAgain,
  claimSlot,
  type Fence,
  noFence,
  releaseSlot,
  renewSlot,
  type SlotClaim,
} from './fence.ts';
import { MovedMeters } from './moved-meters.ts';
import {
  answerBatch,
  type BatchItem,
  gather,
  resolveUncertain,
  type SentRequest,
  takeBatch,
  type WaitingAnswer,
  WaitingList,
  type WaitingRequest,
  type WaitingWrite,
} from './request-batch.ts';
import { type Connection, connect } from './server/connection.ts';
import { fenced, isLostRace, serverFault, toStoreFailure, uncertain, unreachable } from './server/errors.ts';
import { giveUpAfter } from './server/give-up.ts';
import { Liveness } from './server/liveness.ts';
import { inTransaction, type Work } from './transaction.ts';

export interface CommitQueueOptions {
  readonly url: string;
  readonly actor: string;
  readonly writesPendingMax: number;
  readonly durability: Durability | null;
}

const batchMax = 500;
const keepEveryMs = 250;
/** When the server does not answer a renewal of the slot within this time, a new connection is opened. */
const silenceMaxMs = 1_000;
const connectAgainMs = 100;

export async function openCommitQueue(options: CommitQueueOptions): Promise<CommitQueue> {
  return new CommitQueue(options, await connect(options.url, options.durability));
}

/** A class because it holds the connection and the writes that wait for it. */
export class CommitQueue {
  readonly #options: CommitQueueOptions;
  readonly #listeners: (() => void)[] = [];
  readonly moved = new MovedMeters();
  readonly server = new Liveness();
  #connection: Connection;
  #fence: Fence = noFence();
  readonly #waiting = new WaitingList();
  #nonces: readonly NonceUse[] = [];
  #sentNonces: readonly NonceUse[] = [];
  #settling: readonly WaitingAnswer[] = [];
  /** Writes that are sent and not answered yet. */
  #underWay: readonly BatchItem[] = [];
  #pumping: Promise<void> | null = null;
  /** `#sent`: the requests under way. `#doubtful`: requests that may or may not be stored. */
  #sent: readonly SentRequest[] = [];
  #doubtful: readonly SentRequest[] = [];
  #run: string | null = null;
  /** Why no further write is taken; null while the queue is open. */
  #ended: StoreError | null = null;
  readonly #endListeners: ((why: StoreError) => void)[] = [];
  #closing: Promise<void> | null = null;
  #connecting: Promise<void> | null = null;
  #keeping: NodeJS.Timeout | null = null;

  constructor(options: CommitQueueOptions, connection: Connection) {
    this.#options = options;
    this.#connection = connection;
    this.#use(connection);
  }

  ask(request: WaitingRequest): void {
    this.#add(request);
  }

  write<T>(work: Work<T>, turn: WaitingWrite['turn'] = 'kept'): Promise<T> {
    return new Promise<T>((resolve, reject) => {
      this.#add({ work, turn, resolve: resolve as WaitingWrite['resolve'], reject });
    });
  }

  /** Sends the use of a nonce with the next batch, and again with the one after that if it fails. */
  noteNonce(use: NonceUse): void {
    if (this.#ended !== null) return;
    this.#nonces = [...this.#nonces, use];
    this.#pump();
  }

  /** Resolves once the server acknowledges something sent later; at once if this process does not serve. */
  settle(): Promise<void> {
    if (this.#fence.slot === null) return Promise.resolve();
    return new Promise((resolve, reject) => {
      const error = this.#refusal();
      if (error !== null) return reject(error);
      this.#settling = [...this.#settling, { resolve, reject }];
      this.#pump();
    });
  }

  /** Resolves when the listeners have heard of all that other processes have entered into meters by now. */
  catchUp(): Promise<void> {
    this.moved.noteWanted();
    return this.settle();
  }

  /** Calls the listener when what is known of meters may be wrong, before anything is decided on it. */
  onUncertain(listener: () => void): void {
    this.#listeners.push(listener);
  }

  /** Calls the listener when this process can store nothing any more, as another one has its slot. */
  onEnd(listener: (why: StoreError) => void): void {
    this.#endListeners.push(listener);
  }

  get fence(): Fence {
    return this.#fence;
  }

  /** Serves from now on; stores nothing once another process has the slot. Rejects with a StoreError. */
  async claim(): Promise<void> {
    try {
      await this.server.hearing(
        () => checkServer(this.#connection),
        (word) => word,
      );
      this.#begin(await claimSlot(this.#connection, this.#fence));
    } catch (error) {
      throw toStoreFailure(error);
    }
    this.#keeping = setInterval(() => this.#keep(), keepEveryMs).unref();
  }

  isWritable(): boolean {
    return this.#ended === null && !this.#connection.isLost() && this.server.isWell();
  }

  depth(): number {
    return this.#waiting.length + this.#underWay.length;
  }

  close(): Promise<void> {
    this.#closing ??= this.#close();
    return this.#closing;
  }

  #begin({ fence, moment, run }: SlotClaim): void {
    [this.#fence, this.#run, this.#doubtful] = [fence, run, []];
    this.moved.begin(moment);
  }

  #add(waiting: BatchItem): void {
    const error = this.#refusal();
    if (error === null) this.#waiting.add(waiting);
    else waiting.reject(error);
    this.#pump();
  }

  #refusal(): StoreError | null {
    if (this.#ended !== null) return this.#ended;
    if (this.#connection.isLost()) return unreachable(null);
    return this.depth() >= this.#options.writesPendingMax
      ? new StoreError('overloaded', 'too many writes are queued for the database: send fewer requests')
      : null;
  }

  #pump(): void {
    this.#pumping ??= this.#sendAll().finally(() => this.#afterPumping());
  }

  /** Sends on if writes have come while the last answers were given. */
  #afterPumping(): void {
    this.#pumping = null;
    if (this.#waiting.length > 0 || this.#settling.length > 0) this.#pump();
  }

  async #sendAll(): Promise<void> {
    await gather(() => this.#waiting.length);
    while (!this.#connection.isLost() && this.#hasWork()) {
      const isOver = await this.#sendNext();
      if (isOver) break;
    }
    if (this.#connection.isLost()) this.#refuseWaiting(this.#ended ?? unreachable(null));
  }

  #hasWork(): boolean {
    return this.#waiting.length > 0 || this.#nonces.length > 0 || this.#settling.length > 0;
  }

  /** Returns whether to stop: nonces alone do not retry after a failure, they go with the next write. */
  async #sendNext(): Promise<boolean> {
    const settling = this.#settling;
    [this.#sentNonces, this.#settling] = [[], []];
    try {
      await this.#send();
      this.server.stored();
      for (const { resolve } of settling) resolve();
    } catch (error) {
      this.#nonces = [...this.#sentNonces, ...this.#nonces];
      if (isLostRace(error) && this.#sendAgain()) {
        this.#settling = [...settling, ...this.#settling];
        return false;
      }
      const failure = this.#fail(error);
      for (const { reject } of settling) reject(failure);
      return this.#waiting.length === 0;
    } finally {
      [this.#underWay, this.#sent] = [[], []];
    }
    return false;
  }

  /** Queues requests that lost a race again: none is stored, and now they see what the winner has stored. */
  #sendAgain(): boolean {
    const requests = this.#underWay.filter((one) => 'make' in one);
    if (this.#connection.isLost() || requests.length < this.#underWay.length) return false;
    for (const { revertMeters } of requests) revertMeters();
    this.#waiting.addFirst(requests);
    return true;
  }

  async #send(): Promise<void> {
    if (this.moved.isDue(performance.now())) await this.#catchUp();
    // Nonces are taken in one step with the writes, so no request is sent before its nonce.
    const nonces = this.#nonces;
    [this.#sentNonces, this.#nonces] = [nonces, []];
    const next = this.#waiting.next(batchMax);
    if (!('work' in next)) return await this.#sendRequests(next, nonces);
    this.#underWay = [next];
    const isBeside = next.turn === 'beside';
    const options = { fence: this.#fence, nonces, actor: this.#options.actor, isBeside };
    const result = await this.server.asking(() => inTransaction(this.#connection, options, next.work));
    this.#counted();
    next.resolve(result);
  }

  /** Meters that other processes enter just now are locked first, so that decisions on them hold. */
  async #sendRequests(requests: readonly WaitingRequest[], nonces: readonly NonceUse[]): Promise<void> {
    const series = requests.flatMap((one) => one.series);
    if (!this.moved.isShared(series)) return await this.#append(requests, nonces, (send) => send());
    await this.#append(requests, nonces, (send) =>
      withMetersLocked(this.#connection, series, {
        catchUp: () => this.moved.catchUp(this.#connection, this.#fence.slot),
        send,
      }),
    );
  }

  /** Decides requests and sends them as a batch. `around` calls `send` once the requests may be decided. */
  async #append(
    asked: readonly WaitingRequest[],
    nonces: readonly NonceUse[],
    wrap: (send: () => Promise<AppendReply | null>) => Promise<AppendReply | null>,
  ): Promise<void> {
    const left = [...asked];
    let batch: readonly SentRequest[] = [];
    const send = async (): Promise<AppendReply | null> => {
      batch = takeBatch(left, batchMax);
      this.#waiting.remove(asked.slice(0, asked.length - left.length));
      this.#sent = batch;
      this.#underWay = batch.map(({ waiting }) => waiting);
      const requests = batch.map(({ prepared }) => prepared);
      const values = appendValues(this.#fence, this.moved.seen, nonces, requests);
      return (await this.#connection.query<AppendReply>(appendStatement, values))[0] ?? null;
    };
    const appended = await this.server.hearing(
      () => wrap(send),
      (answer) => (answer === null ? null : { serverMs: answer.server_ms }),
    );
    this.#counted();
    if (appended === null) throw new Error('the server returned no result for the batch');
    this.moved.stored();
    const again = answerBatch(batch, appended);
    if (again.length === 0) return;
    this.moved.noteShared(again.flatMap(({ series: places }) => places));
    this.#waiting.addFirst(again);
  }

  async #catchUp(): Promise<void> {
    await this.server.asking(() => this.moved.catchUp(this.#connection, this.#fence.slot));
  }

  #counted(): void {
    const { batch } = this.#fence;
    if (batch !== null) this.#fence = { ...this.#fence, batch: batch + 1 };
  }

  #fail(cause: unknown): StoreError {
    this.server.failed(cause);
    const batch = this.#underWay;
    const failure = toStoreFailure(cause);
    // A server that ends the session may have committed before.
    const isDoubtful = this.#connection.isLost() || failure.code === 'unreachable';
    const error = isDoubtful ? uncertain(cause) : failure;
    if (isDoubtful) {
      if (this.#fence.slot !== null && this.#sent.length === batch.length)
        this.#doubtful = [...this.#doubtful, ...this.#sent];
      else this.#forget();
      this.#connection.destroy();
    } else for (const one of batch) if ('make' in one) one.revertMeters();
    if (error.code === 'fenced') this.#end(error);
    // The database may have refused just one of the requests, so each is tried alone now.
    const requests = batch.filter((one) => 'make' in one);
    if (error.code === 'internal' && requests.length > 1)
      this.#waiting.addFirst(requests.map((waiting) => ({ ...waiting, isAlone: true })));
    else for (const { reject } of batch) reject(error);
    return error;
  }

  #forget(): void {
    this.#doubtful = [];
    this.moved.forget();
    for (const listener of this.#listeners) listener();
  }

  #end(error: StoreError): void {
    this.#ended ??= error;
    if (this.#keeping !== null) clearInterval(this.#keeping);
    this.#connection.destroy();
    if (this.#ended === error) for (const listener of this.#endListeners.splice(0)) listener(error);
  }

  #refuseWaiting(error: StoreError): void {
    const refused = [...this.#waiting.clear(), ...this.#settling];
    this.#settling = [];
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
      // First the writes under way on the broken connection are rejected as uncertain.
      await this.#pumping;
      try {
        return await this.#take(await connect(this.#options.url, this.#options.durability));
      } catch {
        await sleep(connectAgainMs);
      }
    }
  }

  /** Goes on over a new connection, if the slot still belongs to this process. */
  async #take(connection: Connection): Promise<void> {
    try {
      const isServing = this.#fence.slot !== null;
      const claim = isServing ? await claimAgain(connection, this.#fence) : null;
      if (isServing && claim === null) {
        this.#end(fenced());
        return await connection.end();
      }
      if (claim !== null) {
        // If this connection breaks, too, the next claim begins from this one.
        this.#fence = claim.fence;
        if (claim.run === this.#run) await resolveUncertain(connection, this.#doubtful);
        else this.#forget();
        this.#begin(claim);
      }
    } catch (error) {
      connection.destroy();
      throw error;
    }
    this.server.stored();
    this.#connecting = null;
    this.#use(connection);
  }

  /** Tells the server that this process is alive, unless other statements are doing so already. */
  #keep(): void {
    if (this.#pumping !== null || this.#connection.isLost()) return;
    this.#pumping = this.#keepSlot().finally(() => this.#afterPumping());
  }

  async #keepSlot(): Promise<void> {
    const connection = this.#connection;
    const answered = giveUpAfter(silenceMaxMs, () => connection.destroy());
    try {
      const renewed = await this.server.hearing(
        () => renewSlot(connection, this.#fence),
        (answer) => answer,
      );
      if (renewed === null) this.#end(fenced());
      else this.server.report(renewed.fault === null ? null : serverFault(renewed.fault).message);
      await this.#catchUp();
    } catch {
      connection.destroy();
    } finally {
      answered();
    }
  }

  async #close(): Promise<void> {
    if (this.#keeping !== null) clearInterval(this.#keeping);
    const closed = new StoreError('closed', 'the store is closed');
    this.#ended ??= closed;
    if (this.#hasWork()) this.#pump();
    while (this.#pumping !== null) await this.#pumping;
    await this.#connecting;
    if (this.#connection.isLost()) return;
    if (this.#fence.slot !== null) await releaseSlot(this.#connection, this.#fence).catch(() => {});
    await this.#connection.end();
  }
}

// Runs a transaction that locks meters which several processes enter, so that what is decided under the locks
// can be stored. INVARIANT: all processes take locks in one order, so no two processes wait for each other.

export interface UnderLock<T> {
  /** Reads everything that was stored before the locks were taken. */
  readonly catchUp: () => Promise<void>;
  /** Sends the writes. Only what is sent by the time the call returns its promise is committed. */
  readonly send: () => Promise<T>;
}

/**
 * Takes two round trips. Rejects with what the server reported; then nothing is stored, unless the connection
 * is lost.
 */
async function withMetersLocked<T>(
  connection: Connection,
  series: readonly MeterSeries[],
  { catchUp: look, send }: UnderLock<T>,
): Promise<T> {
  const query = (text: string, values: readonly unknown[] = []) => connection.query({ text }, values);
  try {
    await Promise.all([
      query('BEGIN'),
      query('SELECT writ_lock_meters($1, $2)', [
        series.map(({ definition }) => definition),
        series.map(({ key }) => key),
      ]),
      look(),
    ]);
  } catch (error) {
    if (!connection.isLost()) await query('ROLLBACK').catch(() => connection.destroy());
    throw error;
  }
  // If what is sent fails, the server rolls back at COMMIT.
  const [done] = await Promise.all([send(), query('COMMIT')]);
  return done;
}
