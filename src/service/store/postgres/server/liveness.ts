// Whether the server answers, and keeps what it acknowledges: what a process knows of it from its own statements.

import { performance } from 'node:perf_hooks';
import { isServerFault, toStoreFailure } from './errors.ts';
import { ServerClock } from './server-clock.ts';

/** How long a failed write is held against the store unless another succeeds; then the next may try. */
const failureShownMs = 5_000;
/** A server that does not answer for so long is not there, as far as anybody asks: together with the next, within a second. */
const silenceShownMs = 650;

/** What each answer to a process that serves tells beside its own matter. */
export interface ServerWord {
  readonly serverMs: number;
}

/** A class because it holds when the server was asked, and what it said last. */
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

  /** As `asking`; the answer tells the server's time. */
  async hearing<T>(ask: () => Promise<T>, wordOf: (answer: T) => ServerWord | null): Promise<T> {
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

  /** `fault`: what the server said of itself; null where all is as it should be. */
  told(fault: string | null): void {
    this.#fault = fault;
  }

  /** Why nothing is stored, as far as the server has said it. */
  fault(): string | null {
    return this.#fault;
  }

  isWell(): boolean {
    const now = performance.now();
    const isAnswering = now - (this.#askedAtMs ?? Infinity) < silenceShownMs;
    return isAnswering && this.#fault === null && now - this.#failedAtMs > failureShownMs;
  }
}
