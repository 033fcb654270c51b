// Labels and steps for the axes of a plot: times in the reader's own form, latencies on a scale of 1, 2, 5,
// and counts.

const hourMs = 3_600_000;
const dayMs = 24 * hourMs;

const timeOfDay = new Intl.DateTimeFormat(undefined, { hour: '2-digit', minute: '2-digit' });
const day = new Intl.DateTimeFormat(undefined, { day: 'numeric', month: 'short' });
const count = new Intl.NumberFormat(undefined, { notation: 'compact' });

/** The date at midnight, else the time of day. */
export function timeLabels(ticks: readonly number[]): string[] {
  return ticks.map((ms) => {
    const time = new Date(ms);
    const isMidnight = time.getHours() === 0 && time.getMinutes() === 0;
    return isMidnight ? day.format(time) : timeOfDay.format(time);
  });
}

/** Distances between ticks, in milliseconds, that match clocks and calendars. */
export const timeIncrements = [1, 2, 5, 10, 15, 30, 60, 120, 180, 360, 720, 1_440, 2_880, 7_200, 14_400].map(
  (minutes) => minutes * 60_000,
);

export function countLabels(ticks: readonly number[]): string[] {
  return ticks.map((tick) => count.format(tick));
}

/** Requests are counted in whole numbers, so ticks are whole too. */
export const wholeIncrements = Array.from({ length: 10 }, (_, power) =>
  [1, 2, 5].map((one) => one * 10 ** power),
).flat();

/** The ends of a scale of 1, 2, 5, 10 around the values. */
export function enclosingPowers(min: number, max: number): [number, number] {
  const steps = powers(min, max);
  return [steps[0] ?? 1, steps.at(-1) ?? 10];
}

/** Steps 1, 2, 5, 10 and so on, from below `min` to above `max`. */
export function powers(min: number, max: number): number[] {
  const ticks: number[] = [];
  const first = Math.floor(Math.log10(Math.max(min, 0.001)));
  const last = Math.ceil(Math.log10(Math.max(max, 0.001))) + 1;
  for (let power = first; power <= last; power += 1) {
    for (const digit of [1, 2, 5]) ticks.push(digit * 10 ** power);
  }
  const below = ticks.findLastIndex((step) => step <= min);
  const above = ticks.findIndex((step) => step >= max);
  return ticks.slice(Math.max(0, below), Math.max(above, below + 1) + 1);
}

const momentOf = new Intl.DateTimeFormat(undefined, {
  day: 'numeric',
  month: 'short',
  hour: '2-digit',
  minute: '2-digit',
});

/** A stretch of time; a day that begins and ends it is named once. */
export function stretchText(fromMs: number, toMs: number): string {
  const isOneDay = toMs - fromMs < dayMs && new Date(fromMs).getDate() === new Date(toMs).getDate();
  return `${momentOf.format(fromMs)} – ${(isOneDay ? timeOfDay : momentOf).format(toMs)}`;
}
