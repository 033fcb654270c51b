// Sends the records of the chain to a destination, batch after batch in the order of their numbers, and moves the cursor
// when the receiver has a batch. A batch that the receiver refuses is halved until the refused record is found; the stream
// stops there. INVARIANT: the cursor never passes a record that the receiver does not have, unless the records are deleted
// or the operator skips one, and then the receiver gets an event about the gap. Nobody waits for the stream, memory is
// bounded by one batch and a few records, and the stream writes nothing but its cursor.

import { setImmediate as pause } from 'node:timers/promises';
import type { ChainRecord } from '../store/contract/chain.ts';
import type { ReadDocument } from '../store/contract/collection.ts';
import type { Store } from '../store/contract/store.ts';
import { type Cursor, cursorsIn, firstCursor } from './cursor.ts';
import type { Destination } from './destination.ts';
import { gapEvent, type SiemEvent } from './events/event.ts';
import type { CursorStart } from './siem-settings.ts';

export interface PusherDeps {
  readonly store: Pick<Store, 'chain' | 'documents'>;
  /** Milliseconds since 1970; the same for all processes that serve the store. */
  readonly clock: () => number;
  readonly destination: Destination;
  /** The name by which the cursor is found. */
  readonly name: string;
  readonly start: CursorStart;
  readonly skip: number | null;
  readonly recordsMax: number;
  readonly bytesMax: number;
  readonly timeoutMs: number;
  readonly eventOf: (record: ChainRecord) => SiemEvent;
  /** Names this process among those that serve the store. */
  readonly holder: string;
  /** Whether other processes may serve the store meanwhile; if not, whoever holds the cursor has ended. */
  readonly isShared: boolean;
  readonly log: { info(fields: object, message: string): void; warn(fields: object, message: string): void };
  /** A random number from 0 up to, but not including, 1. */
  readonly chance?: () => number;
}

export interface Pusher {
  /** Sends the next batch, if there is one and this process is the sender. Resolves to when to look again. */
  step(): Promise<NextLook>;
  start(): void;
  counts(): { readonly sent: number; readonly failed: number };
  /** Ends the delivery under way after a moment, and lets another process send. */
  close(): Promise<void>;
}

export interface NextLook {
  readonly afterMs: number;
}

const idleMs = 1_000;
const otherHolderMs = 5_000;
const retryMs = 1_000;
const retryMaxMs = 60_000;
const retryAfterMaxMs = 60 * 60_000;
/** How soon a record is tried again that the receiver has refused. */
const refusedRetryMs = 60_000;
/** Records that are read and turned into texts before other work gets its turn. */
const recordsAtOnce = 25;
const closeMs = 2_000;

export function createPusher(deps: PusherDeps): Pusher {
  return new Stream(deps);
}

interface Batch {
  readonly texts: readonly string[];
  /** The numbers of the events, one for each text. */
  readonly sequences: readonly number[];
  /** The number up to which the batch covers the chain. */
  readonly through: number;
  readonly gap: Cursor['gap'];
  readonly isLast: boolean;
}

/** Another process has changed the cursor. A class because a step ends with it. */
class CursorLost extends Error {}

/** A class because the cursor, the size of batches and the attempts change. */
class Stream implements Pusher {
  readonly #deps: PusherDeps;
  readonly #leaseMs: number;
  #cursor: ReadDocument<Cursor> | null = null;
  /** The cursor after a delivery that could not be stored yet. */
  #unstored: Cursor | null = null;
  #countMax: number;
  #attempts = 0;
  #counts = { sent: 0, failed: 0 };
  #timer: NodeJS.Timeout | null = null;
  #work: Promise<unknown> = Promise.resolve();
  #isClosed = false;

  constructor(deps: PusherDeps) {
    this.#deps = deps;
    this.#countMax = deps.recordsMax;
    this.#leaseMs = 2 * deps.timeoutMs + 30_000;
  }

  readonly step = (): Promise<NextLook> => {
    const next = this.#work.then(() => this.#step());
    this.#work = next.catch(() => undefined);
    return next;
  };

  readonly start = (): void => {
    const look = async (): Promise<void> => {
      const { afterMs } = await this.step();
      if (!this.#isClosed) this.#timer = setTimeout(() => void look(), afterMs).unref();
    };
    void look();
  };

  readonly counts = () => this.#counts;

  readonly close = async (): Promise<void> => {
    this.#isClosed = true;
    clearTimeout(this.#timer ?? undefined);
    await within(closeMs, this.#work);
    // Ends a delivery that takes longer, so that the turn can be passed on.
    this.#deps.destination.close();
    await within(
      closeMs,
      this.#work.then(() => this.#release()),
    );
  };

  async #step(): Promise<NextLook> {
    if (this.#isClosed) return { afterMs: idleMs };
    try {
      const cursor = await this.#hold();
      if (cursor === null) return { afterMs: otherHolderMs };
      return await this.#push(cursor);
    } catch (error) {
      this.#cursor = null;
      if (error instanceof CursorLost || this.#isClosed) return { afterMs: otherHolderMs };
      this.#deps.log.warn(
        { err: error },
        'could not read records for the SIEM, or store its position; retrying',
      );
      return { afterMs: this.#backOff(null) };
    }
  }

  async #push(cursor: Cursor): Promise<NextLook> {
    const batch = await this.#nextBatch(cursor);
    const [first = cursor.sequence] = batch.sequences;
    if (batch.texts.length === 0) return await this.#idle(cursor, batch);
    const delivery = await this.#deps.destination.deliver(batch.texts);
    // What fails because the service stops is no failure of the receiver.
    if (this.#isClosed && delivery.kind !== 'delivered') return { afterMs: idleMs };
    switch (delivery.kind) {
      case 'delivered':
        await this.#delivered(cursor, batch);
        return { afterMs: batch.isLast ? idleMs : 0 };
      case 'refused': {
        this.#counts.failed += 1;
        if (batch.texts.length > 1) {
          this.#countMax = Math.floor(batch.texts.length / 2);
          return { afterMs: 0 };
        }
        await this.#stop(cursor, { sequence: first, reason: delivery.reason });
        return { afterMs: refusedRetryMs };
      }
      case 'failed':
        this.#counts.failed += 1;
        await this.#fail(cursor, delivery.reason);
        return { afterMs: this.#backOff(delivery.retryAfterMs) };
    }
  }

  /**
   * Nothing is to be sent. Without acknowledgements, one more connection shows that the receiver had not just stopped
   * when it took the last batch.
   */
  async #idle(cursor: Cursor, { through, isLast }: Batch): Promise<NextLook> {
    const { destination } = this.#deps;
    if (through > cursor.sequence) await this.#store({ ...cursor, sequence: through });
    else if (!destination.isAcknowledged && cursor.resendAfter < cursor.sequence) {
      const delivery = await destination.deliver([]);
      if (delivery.kind !== 'delivered') {
        await this.#fail(cursor, delivery.reason);
        return { afterMs: this.#backOff(null) };
      }
      await this.#store({ ...cursor, resendAfter: cursor.sequence });
    }
    return { afterMs: isLast ? idleMs : 0 };
  }

  async #delivered(cursor: Cursor, { texts, through, gap }: Batch): Promise<void> {
    const { log, clock, recordsMax, name } = this.#deps;
    const wasWrong = cursor.failure !== null || cursor.refused !== null;
    this.#counts.sent += texts.length;
    this.#attempts = 0;
    this.#countMax = Math.min(recordsMax, this.#countMax * 2);
    this.#unstored = {
      ...cursor,
      sequence: through,
      resendAfter: cursor.sequence,
      deliveredAtMs: now(clock),
      failure: null,
      refused: null,
      gap: gap ?? cursor.gap,
    };
    if (wasWrong) log.info({ destination: name }, 'the SIEM takes records again');
    if (gap !== null) log.warn({ destination: name, ...gap }, 'the SIEM does not get some records');
    await this.#store(this.#unstored);
    this.#unstored = null;
  }

  async #stop(
    cursor: Cursor,
    refused: { readonly sequence: number; readonly reason: string },
  ): Promise<void> {
    const { log, clock, name } = this.#deps;
    if (cursor.refused?.sequence === refused.sequence) return;
    log.warn({ destination: name, ...refused }, 'the SIEM refuses a record; the stream stops there');
    await this.#store({ ...cursor, failure: null, refused: { ...refused, sinceMs: now(clock) } });
  }

  async #fail(cursor: Cursor, reason: string): Promise<void> {
    const { log, clock, name, destination } = this.#deps;
    // What an unacknowledged connection took last may be lost with the receiver.
    const sequence = destination.isAcknowledged ? cursor.sequence : cursor.resendAfter;
    if (cursor.failure?.reason === reason && sequence === cursor.sequence) return;
    log.warn({ destination: name, reason }, 'could not send records to the SIEM; retrying');
    const sinceMs = cursor.failure?.sinceMs ?? now(clock);
    await this.#store({ ...cursor, sequence, resendAfter: sequence, failure: { reason, sinceMs } });
  }

  /** Twice as long each time, with a random part, or as long as the receiver asks. */
  #backOff(retryAfterMs: number | null): number {
    const delayMs = Math.min(retryMaxMs, retryMs * 2 ** Math.min(this.#attempts, 10));
    this.#attempts += 1;
    if (retryAfterMs !== null) return Math.min(Math.max(retryAfterMs, retryMs), retryAfterMaxMs);
    const chance = this.#deps.chance ?? Math.random;
    return Math.round(delayMs * (0.5 + chance() / 2));
  }

  /** The cursor, if this process is the sender or becomes it; null when another process is. */
  async #hold(): Promise<Cursor | null> {
    const { store, clock, name, start, holder, isShared, timeoutMs } = this.#deps;
    if (this.#unstored !== null && this.#cursor !== null) {
      await this.#store(this.#unstored);
      this.#unstored = null;
    }
    const nowMs = now(clock);
    const isLong = (this.#cursor?.value.heldUntilMs ?? 0) - nowMs > timeoutMs + closeMs;
    if (this.#cursor !== null && isLong) return this.#cursor.value;
    const found = (await cursorsIn(store).find(name)) ?? {
      value: await firstCursor(store.chain, { id: name, start, nowMs }),
      version: 0,
    };
    const isOthers = isShared && found.value.holder !== null && found.value.holder !== holder;
    if (isOthers && found.value.heldUntilMs > nowMs) return null;
    // A delivery of this process that is not stored yet counts, unless another process has sent more meanwhile.
    const isAhead = (this.#unstored?.sequence ?? 0) > found.value.sequence;
    const value = isAhead && this.#unstored !== null ? this.#unstored : found.value;
    this.#cursor = found;
    await this.#store({ ...value, holder, heldUntilMs: nowMs + this.#leaseMs });
    this.#unstored = null;
    return this.#cursor.value;
  }

  async #release(): Promise<void> {
    if (this.#cursor === null) return;
    await this.#store({ ...(this.#unstored ?? this.#cursor.value), holder: null, heldUntilMs: 0 }).catch(
      () => undefined,
    );
  }

  async #store(value: Cursor): Promise<void> {
    const { store } = this.#deps;
    if (this.#cursor === null) throw new CursorLost();
    const { version } = this.#cursor;
    const result = await store.documents.write([cursorsIn(store).put(value, version)], null);
    if (result !== 'changed') throw new CursorLost();
    this.#cursor = { value, version: version + 1 };
  }

  async #nextBatch(cursor: Cursor): Promise<Batch> {
    const { store, clock, bytesMax, skip } = this.#deps;
    const texts: string[] = [];
    const sequences: number[] = [];
    let gap: Cursor['gap'] = null;
    let [bytes, through] = [0, cursor.sequence];
    const batch = (isLast: boolean): Batch => ({ texts, sequences, through, gap, isLast });
    const add = (event: SiemEvent): boolean => {
      const text = this.#deps.destination.encode(event);
      const size = Buffer.byteLength(text) + 1;
      if (texts.length > 0 && (bytes + size > bytesMax || texts.length >= this.#countMax)) return false;
      texts.push(text);
      sequences.push(event.sequence);
      bytes += size;
      through = event.sequence;
      return true;
    };
    const addGap = (missing: Omit<Parameters<typeof gapEvent>[0], 'atMs'>): boolean => {
      const event = gapEvent({ ...missing, atMs: now(clock) });
      if (!add(event)) return false;
      gap = { firstSequence: event.firstSequence, sequence: event.sequence, atMs: event.atMs };
      return true;
    };
    for (;;) {
      const { pruning, records, lastSequence } = await store.chain.segment(through, recordsAtOnce);
      if (pruning !== null && pruning.sequence > through) {
        const deleted = {
          firstSequence: through + 1,
          sequence: pruning.sequence,
          because: 'deleted',
        } as const;
        if (!addGap(deleted)) return batch(false);
      }
      for (const record of records) {
        const { sequence } = record.entry;
        if (sequence <= through) continue;
        const isSkipped = sequence === skip && cursor.refused?.sequence === skip;
        const isAdded = isSkipped
          ? addGap({ firstSequence: sequence, sequence, because: 'skipped' })
          : add(this.#deps.eventOf(record));
        if (!isAdded) return batch(false);
      }
      // Numbers without a record stay so up to the last number: nothing is still being written there.
      if (records.length === 0) through = Math.max(through, Math.min(through + recordsAtOnce, lastSequence));
      if (through >= lastSequence) return batch(true);
      await pause();
    }
  }
}

/** Waits for the work, but no longer than that. */
async function within(ms: number, work: Promise<unknown>): Promise<void> {
  const late = new Promise<void>((done) => setTimeout(done, ms).unref());
  await Promise.race([work, late]);
}

function now(clock: () => number): number {
  return Math.trunc(clock());
}
