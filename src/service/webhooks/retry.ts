// Tells when the next attempt is due: soon at first, then later and later, as Standard Webhooks recommends.
// After the last attempt the message is given up. A message is only a hint: the request resource stays the
// truth.

const secondMs = 1_000;
const minuteMs = 60 * secondMs;
const hourMs = 60 * minuteMs;

const delaysMs = [
  ...[5 * secondMs, 5 * minuteMs, 30 * minuteMs, 2 * hourMs, 5 * hourMs],
  ...[10 * hourMs, 14 * hourMs, 20 * hourMs, 24 * hourMs],
];

/** The share of a delay that is random, so that not all messages meet a recovering receiver at once. */
const jitter = 0.2;

/**
 * Milliseconds until the attempt after `attempts` failed ones; null when there is none. `chance`: a random
 * number from 0 up to, but not including, 1.
 */
export function delayAfter(attempts: number, chance: number): number | null {
  const delayMs = delaysMs[attempts - 1];
  return delayMs === undefined ? null : Math.round(delayMs * (1 - jitter / 2 + jitter * chance));
}
