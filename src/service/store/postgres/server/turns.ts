// Lets few work at once; the others wait for their turn, in the order in which they came. INVARIANT: whoever
// has taken a turn gives it back, whatever happens, so the queue goes on.

import { StoreError } from '../../contract/store-error.ts';

export interface TurnLimits {
  /** How many have a turn at once. */
  readonly atOnce: number;
  /** How many may wait. */
  readonly waitingMax: number;
  /** How long each may wait, in milliseconds. */
  readonly waitMaxMs: number;
}

interface QueuedTurn {
  readonly resolve: () => void;
  readonly timer: NodeJS.Timeout;
}

/** A class because it holds who waits. */
export class Turns {
  readonly #limits: TurnLimits;
  /** In the order in which they came. */
  readonly #waiting = new Set<QueuedTurn>();
  #taken = 0;
  #refused = 0;

  constructor(limits: TurnLimits) {
    this.#limits = limits;
  }

  get waiting(): number {
    return this.#waiting.size;
  }

  /** How many were refused so far. */
  get refused(): number {
    return this.#refused;
  }

  /** Resolves when it is the caller's turn. Rejects with a StoreError `overloaded` beyond the limits. */
  async take(): Promise<void> {
    const { atOnce, waitingMax, waitMaxMs } = this.#limits;
    if (this.#taken < atOnce) {
      this.#taken += 1;
      return;
    }
    if (this.#waiting.size >= waitingMax) throw this.#refuse();
    await new Promise<void>((resolve, reject) => {
      const timer = setTimeout(() => {
        this.#waiting.delete(waiting);
        reject(this.#refuse());
      }, waitMaxMs);
      const waiting: QueuedTurn = { resolve, timer };
      this.#waiting.add(waiting);
    });
  }

  /** Gives the turn to whoever has waited longest. */
  giveBack(): void {
    const [next] = this.#waiting;
    if (next === undefined) {
      this.#taken -= 1;
      return;
    }
    this.#waiting.delete(next);
    clearTimeout(next.timer);
    next.resolve();
  }

  #refuse(): StoreError {
    this.#refused += 1;
    return new StoreError('overloaded', 'too many reads wait for the database: send fewer requests');
  }
}
