// Turns the machine's clock into the clock of the service, by which grants begin and end. INVARIANT: the
// service's clock never goes back, and never runs slower than time: when the machine's clock is set back, it
// goes on unchanged.

import { performance } from 'node:perf_hooks';

/** Whole milliseconds since 1970-01-01T00:00Z, as a store may hold no fractions. */
export type Clock = () => number;

export interface ClockOptions {
  /** The machine's clock, which may be set. */
  readonly wall?: Clock;
  /** Milliseconds that pass, from any beginning; nobody can set this clock. */
  readonly elapsed?: () => number;
  /** The earliest time at which the clock may begin: that of the newest record. */
  readonly floorMs?: number | null;
  /**
   * Called once when the machine's clock was set back, with how many milliseconds the service's clock is
   * ahead.
   */
  readonly onSetBack?: (aheadMs: number) => void;
}

/** A smaller difference is not reported: it is a step of the time service, or rounding. */
const warnFromMs = 1_000;

export function createClock(options: ClockOptions = {}): Clock {
  const { wall = Date.now, elapsed = () => performance.now(), floorMs, onSetBack } = options;
  let knownMs = Math.max(wall(), floorMs ?? -Infinity);
  let knownAt = elapsed();
  let isWarned = false;
  return () => {
    const at = elapsed();
    const carriedMs = knownMs + (at - knownAt);
    const wallMs = wall();
    if (wallMs < carriedMs) {
      if (!isWarned && carriedMs - wallMs >= warnFromMs) {
        isWarned = true;
        onSetBack?.(carriedMs - wallMs);
      }
      return Math.floor(carriedMs);
    }
    isWarned = false;
    knownMs = wallMs;
    knownAt = at;
    return wallMs;
  };
}

/** A newest record further ahead of the machine's clock than this shows a wrong clock, not rounding. */
export const behindMaxMs = 60_000;

/** Why the service must not start at this time; null when it may. */
export function clockFault(wallMs: number, newestRecordMs: number | null): string | null {
  if (newestRecordMs === null || newestRecordMs - wallMs <= behindMaxMs) return null;
  const time = (ms: number) => new Date(ms).toISOString();
  return [
    `this machine's clock shows ${time(wallMs)}, but the newest record is from ${time(newestRecordMs)}:`,
    'correct the clock and start again. If the clock was ahead earlier and is correct now, start with',
    '`--clock-behind accept`: grants from that time then expire too late',
  ].join(' ');
}
