// How urgent a deadline is, by the time left.

export type Urgency = 'over' | 'now' | 'soon' | 'calm';

const nowMs = 10 * 60_000;
const soonMs = 60 * 60_000;

export function urgencyOf(leftMs: number): Urgency {
  if (leftMs <= 0) return 'over';
  if (leftMs < nowMs) return 'now';
  return leftMs < soonMs ? 'soon' : 'calm';
}
