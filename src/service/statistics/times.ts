// Where minutes, hours and days begin and end for statistics, and how long each is kept.

export const minuteMs = 60_000;
export const hourMs = 60 * minuteMs;
/** Minutes become hours when they are older. */
const minutesKeptMs = 48 * hourMs;
/** How long counts are kept. */
export const keptMs = 90 * 24 * hourMs;

export function floorTo(atMs: number, stepMs: number): number {
  return Math.floor(atMs / stepMs) * stepMs;
}

/** All before it is kept by hours; itself the beginning of one. */
export function hoursBeforeMs(nowMs: number): number {
  return floorTo(nowMs - minutesKeptMs, hourMs);
}
