// How often somebody may be wrong: failures are counted by account and by address, and after a few the next attempt has
// to wait, each time twice as long. INVARIANT: an account is never locked for good, and what is kept is bounded.

export interface Attempts {
  /** Milliseconds until the next attempt is heard; 0 for now. */
  waitMs(subjects: readonly string[], nowMs: number): number;
  failed(subjects: readonly string[], nowMs: number): void;
  succeeded(subject: string): void;
}

interface Count {
  failures: number;
  until: number;
}

const freeFailures = 5;
const firstWaitMs = 2_000;
const longestWaitMs = 15 * 60_000;
/** Failures this long ago do not count any more. */
const forgottenMs = 60 * 60_000;
const subjectsMax = 100_000;

export function createAttempts(): Attempts {
  const counts = new Map<string, Count>();
  return {
    waitMs: (subjects, nowMs) =>
      Math.max(0, ...subjects.map((subject) => (counts.get(subject)?.until ?? 0) - nowMs)),
    failed: (subjects, nowMs) => {
      for (const subject of subjects) {
        const before = counts.get(subject);
        const isOld = before === undefined || nowMs - before.until > forgottenMs;
        const failures = (isOld ? 0 : before.failures) + 1;
        const over = failures - freeFailures;
        const wait = over < 0 ? 0 : Math.min(longestWaitMs, firstWaitMs * 2 ** over);
        // The latest stands last, so that the oldest are dropped first.
        counts.delete(subject);
        counts.set(subject, { failures, until: nowMs + wait });
      }
      for (const subject of counts.keys()) {
        if (counts.size <= subjectsMax) break;
        counts.delete(subject);
      }
    },
    succeeded: (subject) => void counts.delete(subject),
  };
}
