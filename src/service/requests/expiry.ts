// Records the end of waits whose deadline has passed, about a second later. Replies do not depend on this
// record: a request past its deadline reads as expired at once. INVARIANT: what has been recorded as expired
// stays expired, even if the clock is set back.

import type { RequestStore } from '../store/contract/store.ts';

export interface Expiry {
  /** Stops further sweeps and waits for the one under way. */
  close(): Promise<void>;
}

export interface ExpiryOptions {
  readonly requests: Pick<RequestStore, 'expireDue'>;
  /** Milliseconds since 1970-01-01T00:00Z. */
  readonly clock: () => number;
  readonly everyMs?: number | undefined;
  /** Called for each request whose wait has ended. */
  readonly onEnd?: (requestId: string) => void;
  /** Called when a sweep could not be recorded; the next sweep tries again. */
  readonly onFailure: (error: unknown) => void;
}

const defaultEveryMs = 1_000;
/** Bounds how long one sweep holds the lock that other writes wait for. */
const expiredAtOnce = 500;

export function startExpiry({ requests, clock, everyMs, onEnd, onFailure }: ExpiryOptions): Expiry {
  let timer: NodeJS.Timeout | null = null;
  let underWay: Promise<void> = Promise.resolve();
  let isClosed = false;

  async function sweep(): Promise<void> {
    try {
      while (!isClosed) {
        const ended = await requests.expireDue(Math.trunc(clock()), expiredAtOnce);
        for (const id of ended) onEnd?.(id);
        if (ended.length < expiredAtOnce) break;
      }
    } catch (error) {
      onFailure(error);
    }
    schedule();
  }

  function schedule(): void {
    if (isClosed) return;
    timer = setTimeout(() => {
      underWay = sweep();
    }, everyMs ?? defaultEveryMs);
    timer.unref();
  }

  schedule();
  return {
    async close() {
      isClosed = true;
      if (timer !== null) clearTimeout(timer);
      await underWay;
    },
  };
}
