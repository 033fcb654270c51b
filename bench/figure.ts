// What several rounds come to: the median, with the smallest and the largest beside it.

export interface Figure {
  readonly median: number;
  readonly min: number;
  readonly max: number;
}

/** Of one round or more. */
export function figureOf(rounds: readonly number[]): Figure {
  const sorted = rounds.toSorted((a, b) => a - b);
  return { median: sorted[Math.floor(sorted.length / 2)]!, min: sorted[0]!, max: sorted.at(-1)! };
}

/** Two or three digits and a unit, for people: `85 ns`, `1.2 µs`, `3.4 ms`. */
export function duration(nanoseconds: number): string {
  if (nanoseconds < 1_000) return `${Math.round(nanoseconds)} ns`;
  if (nanoseconds < 1e6) return `${digits(nanoseconds / 1e3)} µs`;
  return nanoseconds < 1e9 ? `${digits(nanoseconds / 1e6)} ms` : `${digits(nanoseconds / 1e9)} s`;
}

/** One digit behind the point below ten, none above. */
export function digits(value: number): string {
  return value < 10 ? value.toFixed(1) : String(Math.round(value));
}

/** Thread time of repeated runs until `ms` have gone by, in nanoseconds a run of `run`, which does `each` things. */
export function time(run: () => void, each: number, ms = 200): number {
  const started = performance.now();
  const before = process.threadCpuUsage();
  let runs = 0;
  do {
    run();
    runs += 1;
  } while (performance.now() - started < ms);
  const { user, system } = process.threadCpuUsage(before);
  return ((user + system) * 1_000) / runs / each;
}

/** Figures of several things in rotation, the first round for warming up. */
export function rotate<K extends string>(
  things: Readonly<Record<K, () => number>>,
  rounds: number,
): Readonly<Record<K, Figure>> {
  const keys = Object.keys(things) as K[];
  const figures = Object.fromEntries(keys.map((key) => [key, [] as number[]])) as Record<K, number[]>;
  for (let round = -1; round < rounds; round += 1) {
    for (const key of keys) {
      const figure = things[key]();
      if (round >= 0) figures[key].push(figure);
    }
  }
  return Object.fromEntries(keys.map((key) => [key, figureOf(figures[key])])) as Record<K, Figure>;
}
