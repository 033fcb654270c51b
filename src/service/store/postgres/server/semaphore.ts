// A counting semaphore with a bounded queue: a few callers work at once, the others wait in the order in which
// they came. INVARIANT: every caller that acquires it releases it, whatever happens, so the queue goes on.

import { StoreError } from '../../contract/store-error.ts';

export interface SemaphoreLimits {
  /** How many may hold it at once. */
  readonly atOnce: number;
  /** How many may wait. */
  readonly waitingMax: number;
  /** How long each may wait, in milliseconds. */
  readonly waitMaxMs: number;
}

interface QueuedAcquire {
  readonly resolve: () => void;
  readonly timer: NodeJS.Timeout;
}

/** A class because it has the queue as its state. */
export class Semaphore {
  readonly #limits: SemaphoreLimits;
  /** In the order in which they came. */
  readonly #waiting = new Set<QueuedAcquire>();
  #acquired = 0;
  #refused = 0;

  constructor(limits: SemaphoreLimits) {
    this.#limits = limits;
  }

  get waiting(): number {
    return this.#waiting.size;
  }

  /** How many were refused so far. */
  get refused(): number {
    return this.#refused;
  }

  /** Resolves when the caller may work. Rejects with a StoreError `overloaded` beyond the limits. */
  async acquire(): Promise<void> {
    const { atOnce, waitingMax, waitMaxMs } = this.#limits;
    if (this.#acquired < atOnce) {
      this.#acquired += 1;
      return;
    }
    if (this.#waiting.size >= waitingMax) throw this.#refuse();
    await new Promise<void>((resolve, reject) => {
      const timer = setTimeout(() => {
        this.#waiting.delete(waiting);
        reject(this.#refuse());
      }, waitMaxMs);
      const waiting: QueuedAcquire = { resolve, timer };
      this.#waiting.add(waiting);
    });
  }

  /** Lets the caller that has waited longest work. */
  release(): void {
    const [next] = this.#waiting;
    if (next === undefined) {
      this.#acquired -= 1;
      return;
    }
    this.#waiting.delete(next);
    clearTimeout(next.timer);
    next.resolve();
  }

  #refuse(): StoreError {
    this.#refused += 1;
    return new StoreError('overloaded', 'too many reads are queued for the database: send fewer requests');
  }
}
