// Answers of the server into its time, by which all processes date what they do. INVARIANT: what is told is off by no more than
// half of the round trip of the answer that it rests on.

import { performance } from 'node:perf_hooks';

/** What the server said in an answer, in milliseconds since 1970-01-01T00:00Z, and when it was asked and answered here. */
export interface TimeSample {
  readonly serverMs: number;
  readonly askedAt: number;
  readonly answeredAt: number;
}

/** After so long the two clocks may have gone apart by more than a slower answer tells. */
const sampleKeptMs = 10_000;

interface Known {
  /** Of the server's time over that of this process. */
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
      // Both cannot be true any more: the server's clock was set, or it is another server.
      Math.abs(aheadMs - known.aheadMs) > sample.errorMs + known.errorMs;
    if (isBetter) this.#known = sample;
  }

  /** Milliseconds since 1970-01-01T00:00Z; null before the first answer. */
  now(): number | null {
    return this.#known === null ? null : performance.now() + this.#known.aheadMs;
  }
}
