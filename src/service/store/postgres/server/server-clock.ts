// Derives the server's time, by which all processes date what they do, from the server's answers. INVARIANT:
// the time is off by no more than half of the round trip of the answer that it rests on.

import { performance } from 'node:perf_hooks';

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

interface Known {
  /** The server's time minus the `performance.now()` of this process. */
  readonly aheadMs: number;
  readonly errorMs: number;
  readonly atMs: number;
}

/** A class because it holds the best of the latest answers. */
export class ServerClock {
  #known: Known | null = null;

  take({ serverMs, askedAt, answeredAt }: TimeSample): void {
    const aheadMs = serverMs - (askedAt + answeredAt) / 2;
    const sample = { aheadMs, errorMs: (answeredAt - askedAt) / 2, atMs: answeredAt };
    const known = this.#known;
    const isBetter =
      known === null ||
      sample.errorMs <= known.errorMs ||
      answeredAt - known.atMs > sampleKeptMs ||
      // Both samples cannot be right any more: the server's clock was set, or another server answered.
      Math.abs(aheadMs - known.aheadMs) > sample.errorMs + known.errorMs;
    if (isBetter) this.#known = sample;
  }

  /** The server's time now, in milliseconds since 1970-01-01T00:00Z; null before the first answer. */
  now(): number | null {
    return this.#known === null ? null : performance.now() + this.#known.aheadMs;
  }
}
