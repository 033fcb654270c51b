// Limits how often somebody may try. INVARIANT: an attempt is counted before it is judged, against all of its
// subjects or none, so attempts that arrive together get no further than attempts one by one; memory is
// bounded.

import { memo } from '../../language/value/memo.ts';

/**
 * `backoff`: after `free` attempts the next one has to wait, each time twice as long; an hour of quiet resets
 * the count. `budget`: `size` attempts at once, and one more every `everyMs`.
 */
export type Limit =
  | {
      readonly kind: 'backoff';
      readonly free: number;
      readonly firstWaitMs: number;
      readonly longestWaitMs: number;
    }
  | { readonly kind: 'budget'; readonly size: number; readonly everyMs: number };

/** What attempts are counted against. Subjects of one `space` share a table of bounded size. */
export interface AttemptSubject {
  readonly space: string;
  readonly key: string;
  readonly limit: Limit;
}

export interface Reservation {
  readonly kind: 'reserved';
  /** Uncounts an attempt that was not judged, or that is no evidence against whoever made it. */
  giveBack(): void;
  /** The attempt was right: every backoff forgets earlier failures, and budgets get the attempt back. */
  succeeded(): void;
}

export type RetryDelay = { readonly kind: 'wait'; readonly waitMs: number };

export interface Attempts {
  reserve(subjects: readonly AttemptSubject[], nowMs: number): Reservation | RetryDelay;
}

interface Count {
  attempts: number;
  atMs: number;
}

const forgottenMs = 60 * 60_000;
const keysMax = 100_000;

export function createAttempts(): Attempts {
  const spaces = new Map<string, Map<string, Count>>();

  const tableOf = (space: string): Map<string, Count> => memo(spaces, space, () => new Map());

  function count({ space, key, limit }: AttemptSubject, nowMs: number): void {
    const table = tableOf(space);
    const attempts = countedAt(table.get(key), limit, nowMs) + 1;
    // The latest entry goes last, so that the oldest are dropped first.
    table.delete(key);
    table.set(key, { attempts, atMs: nowMs });
    for (const oldest of table.keys()) {
      if (table.size <= keysMax) break;
      table.delete(oldest);
    }
  }

  function takeBack({ space, key }: AttemptSubject): void {
    const present = tableOf(space).get(key);
    if (present !== undefined) present.attempts = Math.max(0, present.attempts - 1);
  }

  return {
    reserve: (subjects, nowMs) => {
      const waits = subjects.map((one) => waitOf(tableOf(one.space).get(one.key), one.limit, nowMs));
      const waitMs = Math.max(0, ...waits);
      if (waitMs > 0) return { kind: 'wait', waitMs };
      for (const subject of subjects) count(subject, nowMs);
      return {
        kind: 'reserved',
        giveBack: () => subjects.forEach(takeBack),
        succeeded: () => {
          for (const subject of subjects) {
            if (subject.limit.kind === 'backoff') tableOf(subject.space).delete(subject.key);
            else takeBack(subject);
          }
        },
      };
    },
  };
}

/** How many attempts still count. */
function countedAt(count: Count | undefined, limit: Limit, nowMs: number): number {
  if (count === undefined) return 0;
  const passedMs = Math.max(0, nowMs - count.atMs);
  if (limit.kind === 'budget') return Math.max(0, count.attempts - passedMs / limit.everyMs);
  return passedMs > forgottenMs + backoffMs(count.attempts, limit) ? 0 : count.attempts;
}

function waitOf(count: Count | undefined, limit: Limit, nowMs: number): number {
  const counted = countedAt(count, limit, nowMs);
  if (limit.kind === 'budget') return Math.ceil(Math.max(0, counted + 1 - limit.size) * limit.everyMs);
  return count === undefined ? 0 : count.atMs + backoffMs(counted, limit) - nowMs;
}

function backoffMs(
  attempts: number,
  { free, firstWaitMs, longestWaitMs }: Extract<Limit, { readonly kind: 'backoff' }>,
): number {
  const over = attempts - free;
  return over < 0 ? 0 : Math.min(longestWaitMs, firstWaitMs * 2 ** over);
}
