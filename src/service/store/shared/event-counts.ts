// Remembers how many events each request has that may still be granted, as this process has seen and written
// them. Events are never taken away, so a request that comes back with fewer was put back to an earlier state
// while the process ran.

import { tamperedRequest } from '../contract/store-error.ts';

export interface EventCount {
  readonly count: number;
  /** From then on the request grants nothing, whichever of its events are looked at. */
  readonly untilMs: number;
}

export interface EventCounts {
  /** Notes what was read of a request. Throws StoreError when it had more events before. */
  see(requestId: string, seen: EventCount): void;
}

/** After this many requests those that are over are forgotten. */
const forgottenAfter = 10_000;

export function createEventCounts(): EventCounts {
  const counts = new Map<string, EventCount>();
  let forgetAt = forgottenAfter;
  const note = (requestId: string, { count, untilMs }: EventCount): void => {
    counts.set(requestId, { count, untilMs });
    if (counts.size < forgetAt) return;
    // By the latest end of all, as a store has no clock: no event is written long after what it ends.
    const nowMs = Date.now();
    for (const [id, one] of counts) if (one.untilMs < nowMs) counts.delete(id);
    forgetAt = counts.size + forgottenAfter;
  };
  return {
    see(requestId, seen) {
      const before = counts.get(requestId);
      if (before !== undefined && before.count > seen.count)
        throw tamperedRequest(requestId, `it has ${seen.count} events, and has had ${before.count}`);
      if (seen.count > 0) note(requestId, seen);
    },
  };
}
