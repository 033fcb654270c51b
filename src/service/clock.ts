// The machine's clock into the service's, by which grants begin and end. INVARIANT: it never goes back, and never runs
// slower than time: where the machine's clock is set back, it goes on as if nothing had happened.

import { performance } from 'node:perf_hooks';

/** Whole milliseconds since 1970-01-01T00:00Z: a store may know no others. */
export type Clock = () => number;

export interface ClockOptions {
  /** The machine's clock, which may be set. */
  readonly wall?: Clock;
  /** Milliseconds that pass, from any beginning; nobody can set it. */
  readonly elapsed?: () => number;
  /** It begins no earlier than this: the time of the newest record. */
  readonly floorMs?: number | null;
  /** Hears once that the machine's clock was set back, by how many milliseconds. */
  readonly onSetBack?: (aheadMs: number) => void;
}

/** Less than this is not told: a step of the time service, or rounding. */
const toldFromMs = 1_000;

export function createClock(options: ClockOptions = {}): Clock {
  const { wall = Date.now, elapsed = () => performance.now(), floorMs, onSetBack } = options;
  let knownMs = Math.max(wall(), floorMs ?? -Infinity);
  let knownAt = elapsed();
  let isTold = false;
  return () => {
    const at = elapsed();
    const carriedMs = knownMs + (at - knownAt);
    const wallMs = wall();
    if (wallMs < carriedMs) {
      if (!isTold && carriedMs - wallMs >= toldFromMs) {
        isTold = true;
        onSetBack?.(carriedMs - wallMs);
      }
      return Math.floor(carriedMs);
    }
    isTold = false;
    knownMs = wallMs;
    knownAt = at;
    return wallMs;
  };
}

/** A newest record that is ahead of the machine's clock by more than this is no rounding, but a clock that is wrong. */
export const behindMaxMs = 60_000;

/** Why the service must not start at this time; null where it may. */
export function clockFault(wallMs: number, newestRecordMs: number | null): string | null {
  if (newestRecordMs === null || newestRecordMs - wallMs <= behindMaxMs) return null;
  const time = (ms: number) => new Date(ms).toISOString();
  return [
    `this machine's clock says ${time(wallMs)}, but the newest record is of ${time(newestRecordMs)}:`,
    'set the clock right and start again. If the clock was ahead before and is right now, start with',
    '`--clock-behind accept`: grants of that time will then hold longer than they should',
  ].join(' ');
}
