// Where minutes, hours and days begin and end for statistics, and how long each is kept.

export const minuteMs = 60_000;
export const hourMs = 60 * minuteMs;
/** Age at which minutes are merged into hours. */
const minutesKeptMs = 48 * hourMs;
/** How long counts are kept. */
export const keptMs = 90 * 24 * hourMs;

export function floorTo(atMs: number, stepMs: number): number {
  return Math.floor(atMs / stepMs) * stepMs;
}

/** Returns the time before which counts are kept by hours; it is itself the beginning of an hour. */
export function hoursBeforeMs(nowMs: number): number {
  return floorTo(nowMs - minutesKeptMs, hourMs);
}
