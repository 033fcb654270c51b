// Formats spans of time for people.

const units = [
  [86_400_000, 'd'],
  [3_600_000, 'h'],
  [60_000, 'min'],
  [1_000, 's'],
] as const;

/** From this many of a unit on, the next smaller unit is left out. */
const coarseMin = 10;

/**
 * A span in milliseconds, rounded to its largest unit, or to two units when the first is below 10: "2 h 5
 * min", "3 d", "90 d".
 */
export function spanText(ms: number): string {
  const [roundedMs, index] = rounded(ms);
  const [size, word] = units[index] ?? units[3];
  const count = Math.floor(roundedMs / size);
  const next = units[index + 1];
  const rest =
    next === undefined || count >= coarseMin ? 0 : Math.round((roundedMs - count * size) / next[0]);
  return next === undefined || rest === 0 ? `${count} ${word}` : `${count} ${word} ${rest} ${next[1]}`;
}

/** Milliseconds from now, as "3 min ago" or "in 2 h"; from one minute on, without seconds. */
export function agoText(ms: number): string {
  if (Math.abs(ms) < 5_000) return 'just now';
  const size = Math.abs(ms);
  const text = spanText(size < 60_000 ? size : Math.round(size / 60_000) * 60_000);
  return ms < 0 ? `${text} ago` : `in ${text}`;
}

/** Rounds a span to the precision that is shown, which may reach a whole unit above. */
function rounded(ms: number): readonly [ms: number, unit: number] {
  const index = unitOf(ms);
  const [size] = units[index] ?? units[3];
  const [shown] = units[ms >= coarseMin * size ? index : index + 1] ?? units[3];
  const roundedMs = Math.round(ms / shown) * shown;
  return [roundedMs, unitOf(roundedMs)];
}

function unitOf(ms: number): number {
  const index = units.findIndex(([size]) => ms >= size);
  return index === -1 ? units.length - 1 : index;
}
