// When the next attempt is due: soon at first, then ever later, as Standard Webhooks recommends; after the last one the
// message is given up. The request resource stays the truth, a message is a hint.

const secondMs = 1_000;
const minuteMs = 60 * secondMs;
const hourMs = 60 * minuteMs;

const delaysMs = [
  ...[5 * secondMs, 5 * minuteMs, 30 * minuteMs, 2 * hourMs, 5 * hourMs],
  ...[10 * hourMs, 14 * hourMs, 20 * hourMs, 24 * hourMs],
];

/** The part of a delay that is left to chance, so that receivers that come back are not met by all at once. */
const jitter = 0.2;

/** Milliseconds until the attempt after `attempts` failed ones; null where there is none. `chance` is from 0 up to 1. */
export function delayAfter(attempts: number, chance: number): number | null {
  const delayMs = delaysMs[attempts - 1];
  return delayMs === undefined ? null : Math.round(delayMs * (1 - jitter / 2 + jitter * chance));
}
