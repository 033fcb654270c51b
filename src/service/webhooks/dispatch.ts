// Turns events into messages and delivers them. Each webhook that subscribes to an event gets one message.
// Attempts are made when they are due, a few at a time, and a webhook that fails for days is disabled.
// INVARIANT: emitting an event only pushes onto a list: nobody waits for a webhook, a receiver that hangs
// delays no other, and the number of waiting messages is bounded.

import { setImmediate as pause } from 'node:timers/promises';
import type { Directory } from '../people/directory.ts';
import type { ReadDocument } from '../store/contract/collection.ts';
import type { DocumentPut } from '../store/contract/documents.ts';
import {
  attempted,
  claimed,
  type Delivery,
  deliveriesOf,
  isSubscribed,
  newDelivery,
  store,
  type WebhookPayload,
  waitingOf,
} from './outbox.ts';
import { type AttemptResult, send } from './send.ts';
import { webhookHeaders } from './signature.ts';
import {
  allWebhooks,
  secretsOf,
  urlOfWebhook,
  type Webhook,
  type WebhookDeps,
  webhookSummary,
  webhooksOf,
} from './webhook.ts';

// Tells when the next attempt is due: soon at first, then later and later, as Standard Webhooks recommends.
// After the last attempt the message is given up. A message is only a hint: the request resource stays the
// truth.

const secondMs = 1_000;
const minuteMs = 60 * secondMs;
const hourMs = 60 * minuteMs;

const delaysMs = [
  ...[5 * secondMs, 5 * minuteMs, 30 * minuteMs, 2 * hourMs, 5 * hourMs],
  ...[10 * hourMs, 14 * hourMs, 20 * hourMs, 24 * hourMs],
];

/** The share of a delay that is random, so that not all messages meet a recovering receiver at once. */
const jitter = 0.2;

/**
 * Milliseconds until the attempt after `attempts` failed ones; null when there is none. `chance`: a random
 * number from 0 up to, but not including, 1.
 */
export function delayAfter(attempts: number, chance: number): number | null {
  const delayMs = delaysMs[attempts - 1];
  return delayMs === undefined ? null : Math.round(delayMs * (1 - jitter / 2 + jitter * chance));
}

export interface DispatcherOptions extends WebhookDeps {
  /** Called when something could not be stored or was dropped; stored messages are tried again. */
  readonly onFailure: (error: unknown) => void;
  /** Looks for events that other processes have caused, and emits them; called with each tick. */
  readonly follow?: () => Promise<void>;
  /** A random number from 0 up to, but not including, 1. */
  readonly chance?: () => number;
  readonly everyMs?: number;
  readonly timeoutMs?: number;
  /** Traces the attempts; null or absent when nothing is traced. */
  readonly tracing?: DeliveryTracing | null;
}

export interface DeliveryTracing {
  /** Begins the span of an attempt. `traceparent` is the header for the receiver. */
  delivering(host: string): {
    readonly traceparent: string;
    /** Ends the span; null when no answer came. */
    ended(httpStatus: number | null): void;
  };
}

export interface Dispatcher {
  /** Never throws, and returns at once. */
  emit(payload: WebhookPayload): void;
  /** Makes the messages for an event, to be stored together with the event; stored messages are sent. */
  prepare(payload: WebhookPayload): Promise<PreparedEvent>;
  /**
   * Sends a test message to one webhook, whatever it subscribes to. Returns null when there is no such
   * webhook.
   */
  test(webhookId: string): Promise<Delivery | null>;
  /** Makes the attempts that are due now; called every second once started. */
  tick(): Promise<void>;
  start(): void;
  counts(): DispatcherCounts;
  /** Resolves when nothing is under way; for tests. */
  settled(): Promise<void>;
  /**
   * Starts no further attempt, and waits a moment for those under way; the rest is tried after the next
   * start.
   */
  close(): Promise<void>;
}

/** Attempts and messages since the start. */
export interface DispatcherCounts {
  readonly delivered: number;
  /** Attempts that failed, of which some are tried again. */
  readonly failed: number;
  readonly givenUp: number;
  /** Messages that wait now, for their first attempt or another. */
  readonly pending: number;
}

export interface PreparedEvent {
  readonly writes: readonly DocumentPut[];
  /** To be called once the messages are stored. */
  taken(): void;
}

interface UnstoredChanges {
  readonly newsCount: number;
  readonly created: readonly Delivery[];
  /** The messages for which there is room. */
  readonly accepted: readonly Delivery[];
}

const everyMsDefault = 1_000;
const timeoutMsDefault = 15_000;
const attemptsAtOnce = 16;
const attemptsAtOncePerWebhook = 4;
const emittedMax = 10_000;
const pendingMax = 10_000;
const storedAtOnce = 100;
/** Milliseconds between two reads of messages that ended processes have left. */
const takeUpEveryMs = 60_000;
const failingMaxMs = 5 * 24 * 60 * 60 * 1000;
const closeMs = 2_000;
const gone = 410;

export function createDispatcher(options: DispatcherOptions): Dispatcher {
  return new OutgoingQueue(options);
}

/** A class because waiting messages and attempts under way change. */
class OutgoingQueue implements Dispatcher {
  readonly #options: DispatcherOptions;
  readonly #directory: Directory;
  readonly #emitted: WebhookPayload[] = [];
  readonly #pending = new Map<string, ReadDocument<Delivery>>();
  readonly #underWay = new Map<string, Promise<void>>();
  readonly #counts = { delivered: 0, failed: 0, givenUp: 0 };
  readonly #busy = new Map<string, number>();
  #work: Promise<void> = Promise.resolve();
  #takenUpAtMs = Number.NEGATIVE_INFINITY;
  #timer: NodeJS.Timeout | null = null;
  #storing: Promise<void> | null = null;
  /**
   * Messages made of the first emitted events. Kept the same until they are stored, so that each is stored
   * once.
   */
  #unstored: UnstoredChanges | null = null;
  #isClosed = false;

  constructor(options: DispatcherOptions) {
    this.#options = options;
    this.#directory = options.directory;
  }

  /**
   * Also works while closing, for requests that are still being answered: what is stored then is sent after
   * the next start.
   */
  emit(payload: WebhookPayload): void {
    if (this.#emitted.length >= emittedMax) {
      this.#options.onFailure(new Error(`more than ${emittedMax} messages are queued: one was dropped`));
      return;
    }
    this.#emitted.push(payload);
    void this.#storeTold();
  }

  async prepare(payload: WebhookPayload): Promise<PreparedEvent> {
    const deliveries = (await allWebhooks(this.#directory))
      .filter(({ value }) => isSubscribed(value, payload))
      .map(({ value }) => newDelivery(value, payload));
    return {
      writes: deliveries.map((delivery) => deliveriesOf(this.#directory).put(delivery, 0)),
      taken: () => {
        for (const delivery of deliveries) this.#pending.set(delivery.id, { value: delivery, version: 1 });
        if (this.#timer !== null) this.#launch();
      },
    };
  }

  async test(webhookId: string): Promise<Delivery | null> {
    const storedWebhook = await webhooksOf(this.#directory).find(webhookId);
    if (storedWebhook === null) return null;
    const text = 'A test message from Writ.';
    const payload = { type: 'webhook.test', id: webhookId, text, links: {}, atMs: this.#now() } as const;
    const delivery = newDelivery(storedWebhook.value, payload);
    const stored = await store(this.#directory, { value: delivery, version: 0 });
    if (stored === null) return null;
    this.#pending.set(delivery.id, stored);
    if (this.#timer !== null) this.#launch();
    return delivery;
  }

  tick(): Promise<void> {
    this.#work = this.#work.then(async () => {
      if (this.#isClosed) return;
      try {
        await this.#options.follow?.();
        await this.#storeTold();
        if (this.#now() - this.#takenUpAtMs >= takeUpEveryMs) await this.#takeUpStored();
        this.#launch();
      } catch (error) {
        this.#options.onFailure(error);
      }
    });
    return this.#work;
  }

  start(): void {
    const next = (): void => {
      if (this.#isClosed) return;
      this.#timer = setTimeout(() => void this.tick().then(next), this.#options.everyMs ?? everyMsDefault);
      this.#timer.unref();
    };
    next();
  }

  readonly counts = (): DispatcherCounts => ({
    ...this.#counts,
    pending: this.#pending.size + this.#underWay.size,
  });

  async settled(): Promise<void> {
    await this.#work;
    await this.#storing;
    while (this.#underWay.size > 0) await Promise.all(this.#underWay.values());
  }

  async close(): Promise<void> {
    this.#isClosed = true;
    clearTimeout(this.#timer ?? undefined);
    const late = new Promise<void>((done) => setTimeout(done, closeMs).unref());
    await Promise.race([this.settled(), late]);
  }

  #now(): number {
    return Math.trunc(this.#directory.clock());
  }

  /**
   * Stores the messages for all emitted events together; a call during the write waits for the same write.
   */
  #storeTold(): Promise<void> {
    this.#storing ??= this.#storeAll().finally(() => {
      this.#storing = null;
    });
    return this.#storing;
  }

  async #storeAll(): Promise<void> {
    try {
      while (this.#emitted.length > 0) {
        this.#unstored ??= await this.#nextMessages();
        const { newsCount, created, accepted } = this.#unstored;
        const puts = accepted.map((delivery) => deliveriesOf(this.#directory).put(delivery, 0));
        // Each message has a new id, so a conflict means that an earlier write with an unknown result has
        // stored the messages.
        if (puts.length > 0) await this.#directory.documents.write(puts, null);
        this.#unstored = null;
        this.#emitted.splice(0, newsCount);
        for (const delivery of accepted) this.#pending.set(delivery.id, { value: delivery, version: 1 });
        if (accepted.length < created.length) {
          this.#options.onFailure(
            new Error(`more than ${pendingMax} messages wait: ${created.length - accepted.length} dropped`),
          );
        }
      }
    } catch (error) {
      // The emitted events are kept and are stored with the next tick.
      this.#options.onFailure(error);
    }
    if (this.#timer !== null) this.#launch();
  }

  async #nextMessages(): Promise<UnstoredChanges> {
    const webhooks = await allWebhooks(this.#directory);
    const batch = this.#emitted.slice(0, storedAtOnce);
    const made = batch.flatMap((payload) =>
      webhooks
        .filter(({ value }) => isSubscribed(value, payload))
        .map(({ value }) => newDelivery(value, payload)),
    );
    const kept = made.slice(0, Math.max(0, pendingMax - this.#pending.size));
    return { newsCount: batch.length, created: made, accepted: kept };
  }

  /** Takes up messages that wait in the store, also those of other processes. */
  async #takeUpStored(): Promise<void> {
    const nowMs = this.#now();
    for (const { value: webhook } of await allWebhooks(this.#directory)) {
      let after: Delivery | null = null;
      do {
        const page: readonly ReadDocument<Delivery>[] = await deliveriesOf(this.#directory).list({
          parent: waitingOf(webhook.id),
          after,
          countMax: storedAtOnce,
        });
        for (const read of page) this.#takeUp(read);
        await pause();
        after = page.length < storedAtOnce ? null : (page.at(-1)?.value ?? null);
      } while (after !== null && this.#pending.size < pendingMax);
    }
    this.#takenUpAtMs = nowMs;
  }

  #takeUp(read: ReadDocument<Delivery>): void {
    if (!this.#underWay.has(read.value.id)) this.#pending.set(read.value.id, read);
  }

  #launch(): void {
    if (this.#isClosed) return;
    const nowMs = this.#now();
    for (const [id, read] of this.#pending) {
      if (this.#underWay.size >= attemptsAtOnce) return;
      const { webhookId, nextAtMs } = read.value;
      const busy = this.#busy.get(webhookId) ?? 0;
      if ((nextAtMs ?? 0) > nowMs || busy >= attemptsAtOncePerWebhook || this.#underWay.has(id)) continue;
      this.#busy.set(webhookId, busy + 1);
      const attempt = this.#attempt(read)
        .catch((error: unknown) => {
          if (!this.#isClosed) this.#options.onFailure(error);
        })
        .finally(() => {
          this.#underWay.delete(id);
          this.#busy.set(webhookId, (this.#busy.get(webhookId) ?? 1) - 1);
          this.#launch();
        });
      this.#underWay.set(id, attempt);
    }
  }

  async #attempt(read: ReadDocument<Delivery>): Promise<void> {
    const { id, webhookId } = read.value;
    // From now on only the stored message counts: if this attempt is lost, the next read finds it in the
    // store.
    this.#pending.delete(id);
    const webhook = await webhooksOf(this.#directory).find(webhookId);
    if (webhook === null) {
      const removal = deliveriesOf(this.#directory).remove(read.value, read.version);
      await this.#directory.documents.write([removal], null);
      return;
    }
    const isTest = read.value.type === 'webhook.test';
    if (webhook.value.status === 'disabled' && !isTest) {
      const result = { kind: 'failed', status: null, reason: 'the webhook is disabled' } as const;
      await store(this.#directory, {
        value: attempted(read.value, result, { nowMs: this.#now(), delayMs: null }),
        version: read.version,
      });
      return;
    }
    const claim = await store(this.#directory, {
      value: claimed(read.value, this.#now()),
      version: read.version,
    });
    if (claim === null) return;
    await this.#conclude(claim, webhook, await this.#send(claim.value, webhook.value));
  }

  async #send({ id, body }: Delivery, webhook: Webhook): Promise<AttemptResult> {
    const { masterKey, arePrivateAddressesAllowed, timeoutMs = timeoutMsDefault } = this.#options;
    const nowMs = this.#now();
    const message = { id, atSeconds: Math.floor(nowMs / 1_000), body };
    const headers =
      webhook.format === 'chat' ? {} : webhookHeaders(message, secretsOf(masterKey, webhook, nowMs));
    const url = urlOfWebhook(masterKey, webhook);
    const span = this.#options.tracing?.delivering(new URL(url).hostname);
    const result = await send({
      url,
      headers: span === undefined ? headers : { ...headers, traceparent: span.traceparent },
      body,
      timeoutMs,
      arePrivateAddressesAllowed,
    });
    span?.ended(result.status);
    return result;
  }

  async #conclude(
    claim: ReadDocument<Delivery>,
    webhook: ReadDocument<Webhook>,
    result: AttemptResult,
  ): Promise<void> {
    const nowMs = this.#now();
    const isTest = claim.value.type === 'webhook.test';
    const chance = this.#options.chance ?? Math.random;
    const delayMs = isTest ? null : delayAfter(claim.value.attempts, chance());
    const next = attempted(claim.value, result, { nowMs, delayMs });
    this.#counts[result.kind] += 1;
    if (next.status === 'failed') this.#counts.givenUp += 1;
    const stored = await store(this.#directory, { value: next, version: claim.version });
    if (stored !== null && next.status === 'pending') this.#pending.set(next.id, stored);
    if (!isTest) await this.#judge(webhook, result, nowMs);
  }

  /**
   * Notes since when a webhook fails. Disables a webhook that has failed for days, or whose receiver answers
   * that it is gone.
   */
  async #judge(
    { value: webhook, version }: ReadDocument<Webhook>,
    result: AttemptResult,
    nowMs: number,
  ): Promise<void> {
    const { failingSinceMs } = webhook;
    const put = (changed: Webhook) => webhooksOf(this.#directory).put(changed, version);
    if (result.kind === 'delivered') {
      if (failingSinceMs === null) return;
      await this.#directory.documents.write([put({ ...webhook, failingSinceMs: null })], null);
      return;
    }
    const isGone = result.status === gone;
    const isLong = failingSinceMs !== null && nowMs - failingSinceMs >= failingMaxMs;
    if (isGone || isLong) {
      const because = isGone ? 'the receiver answered 410: gone' : 'every attempt has failed for five days';
      const disabled: Webhook = { ...webhook, status: 'disabled', disabledBecause: because };
      // On a conflict another call has just changed the webhook, so nothing more is done.
      await this.#directory.change([put(disabled)], {
        who: 'system',
        what: 'webhook-disabled',
        subject: webhook.id,
        before: webhookSummary(webhook),
        after: webhookSummary(disabled),
      });
    } else if (failingSinceMs === null) {
      await this.#directory.documents.write([put({ ...webhook, failingSinceMs: nowMs })], null);
    }
  }
}
