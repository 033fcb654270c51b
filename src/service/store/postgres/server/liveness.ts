// What a process knows of the server from its own statements: whether the server answers, and whether it
// keeps what it acknowledges.

import { performance } from 'node:perf_hooks';
import { isServerFault, toStoreFailure } from './errors.ts';

// Derives the server's time, by which all processes date what they do, from the server's answers. INVARIANT:
// the time is off by no more than half of the round trip of the answer that it rests on.

/**
 * The server's time in an answer, in milliseconds since 1970-01-01T00:00Z, and when this process asked and
 * got the answer.
 */
export interface TimeSample {
  readonly serverMs: number;
  readonly askedAt: number;
  readonly answeredAt: number;
}

/** After this time the two clocks may have drifted apart by more than the error of a slower answer. */
const sampleKeptMs = 10_000;

interface ClockOffset {
  /** The server's time minus the `performance.now()` of this process. */
  readonly aheadMs: number;
  readonly errorMs: number;
  readonly atMs: number;
}

/** A class because it holds the best of the latest answers. */
export class ServerClock {
  #known: ClockOffset | null = null;

  take({ serverMs, askedAt, answeredAt }: TimeSample): void {
    const aheadMs = serverMs - (askedAt + answeredAt) / 2;
    const sample = { aheadMs, errorMs: (answeredAt - askedAt) / 2, atMs: answeredAt };
    const offset = this.#known;
    const isBetter =
      offset === null ||
      sample.errorMs <= offset.errorMs ||
      answeredAt - offset.atMs > sampleKeptMs ||
      // Both samples cannot be right any more: the server's clock was set, or another server answered.
      Math.abs(aheadMs - offset.aheadMs) > sample.errorMs + offset.errorMs;
    if (isBetter) this.#known = sample;
  }

  /** The server's time now, in milliseconds since 1970-01-01T00:00Z; null before the first answer. */
  now(): number | null {
    return this.#known === null ? null : performance.now() + this.#known.aheadMs;
  }
}

/**
 * How long the store counts as not writable after a failed write, unless another write succeeds; after this
 * time the next write may try.
 */
const failureShownMs = 5_000;
/**
 * A server that owes an answer for this long counts as gone. A process that serves asks it several times a
 * second, so an outage shows within a second.
 */
const silenceShownMs = 650;

/** What the server adds to each answer that it gives to a process that serves. */
export interface ServerSignal {
  readonly serverMs: number;
}

/** A class because it holds when the server was asked, and what it last reported. */
export class Liveness {
  readonly clock = new ServerClock();
  /** Since when the server owes an answer; null while it owes none. */
  #askedAtMs: number | null = null;
  #failedAtMs = -Infinity;
  #fault: string | null = null;

  async asking<T>(ask: () => Promise<T>): Promise<T> {
    this.#askedAtMs = performance.now();
    try {
      return await ask();
    } finally {
      this.#askedAtMs = null;
    }
  }

  /** Does what `asking` does, and takes the server's time from the answer. */
  async hearing<T>(ask: () => Promise<T>, wordOf: (answer: T) => ServerSignal | null): Promise<T> {
    const askedAt = performance.now();
    const answer = await this.asking(ask);
    const word = wordOf(answer);
    if (word !== null) this.clock.take({ serverMs: word.serverMs, askedAt, answeredAt: performance.now() });
    return answer;
  }

  failed(cause: unknown): void {
    this.#failedAtMs = performance.now();
    if (isServerFault(cause)) this.#fault = toStoreFailure(cause).message;
  }

  stored(): void {
    this.#failedAtMs = -Infinity;
    this.#fault = null;
  }

  /** `fault` is what the server reported about itself; null when nothing is wrong. */
  report(fault: string | null): void {
    this.#fault = fault;
  }

  /** Why nothing is stored, if the server has told; else null. */
  fault(): string | null {
    return this.#fault;
  }

  isWell(): boolean {
    const now = performance.now();
    const isAnswering = now - (this.#askedAtMs ?? Infinity) < silenceShownMs;
    return isAnswering && this.#fault === null && now - this.#failedAtMs > failureShownMs;
  }
}
