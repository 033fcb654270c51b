// Turns measurements into figures: a median with the smallest and the largest value, percentiles, and the
// exponent of growth. Also writes figures for people.

/** The result of several rounds. */
export interface Figure {
  readonly median: number;
  readonly min: number;
  readonly max: number;
}

/** The figure of at least one round. */
export function figureOf(rounds: readonly number[]): Figure {
  const sorted = rounds.toSorted((a, b) => a - b);
  return { median: sorted[Math.floor(sorted.length / 2)]!, min: sorted[0]!, max: sorted.at(-1)! };
}

/**
 * The ratio of `upper` to `lower`, round by round, because a disturbance that slows a whole round slows both
 * values.
 */
export function ratioOf(upper: readonly number[], lower: readonly number[]): Figure {
  return figureOf(upper.map((figure, round) => figure / lower[round]!));
}

/**
 * The smallest value that at least this share of all values does not exceed: the nearest rank. `sorted` is
 * not empty.
 */
export function percentile(sorted: ArrayLike<number>, share: number): number {
  const rank = Math.ceil(share * sorted.length);
  return sorted[Math.max(1, rank) - 1]!;
}

export interface Percentiles {
  readonly p50: number;
  readonly p90: number;
  readonly p99: number;
  readonly max: number;
}

/** Percentiles of at least one value, in any order. */
export function percentilesOf(values: ArrayLike<number>): Percentiles {
  const sorted = Float64Array.from(values).sort();
  const [p50, p90, p99, max] = [0.5, 0.9, 0.99, 1].map((share) => percentile(sorted, share));
  return { p50: p50!, p90: p90!, p99: p99!, max: max! };
}

/**
 * The exponent `e` with which cost = constant * size^e fits the points best, by least squares of the
 * logarithms: 1 is linear, 2 quadratic. Takes two points or more whose sizes differ, with all numbers above
 * zero.
 */
export function growthExponent(points: readonly (readonly [size: number, cost: number])[]): number {
  const logs = points.map(([size, cost]) => [Math.log(size), Math.log(cost)] as const);
  const mean = (at: 0 | 1): number => logs.reduce((sum, log) => sum + log[at], 0) / logs.length;
  const [meanSize, meanCost] = [mean(0), mean(1)];
  let [covariance, variance] = [0, 0];
  for (const [size, cost] of logs) {
    covariance += (size - meanSize) * (cost - meanCost);
    variance += (size - meanSize) ** 2;
  }
  return covariance / variance;
}

/** Two or three digits and a unit, for people: `85 ns`, `1.2 µs`, `3.4 ms`. */
export function duration(nanoseconds: number): string {
  if (nanoseconds < 1_000) return `${Math.round(nanoseconds)} ns`;
  if (nanoseconds < 1e6) return `${digits(nanoseconds / 1e3)} µs`;
  return nanoseconds < 1e9 ? `${digits(nanoseconds / 1e6)} ms` : `${digits(nanoseconds / 1e9)} s`;
}

/** A size with its unit, for people: `840 bytes`, `3.1 kB`, `12 MB`. */
export function size(bytes: number): string {
  if (Math.abs(bytes) < 1_000) return `${Math.round(bytes)} bytes`;
  return Math.abs(bytes) < 1e6 ? `${digits(bytes / 1e3)} kB` : `${digits(bytes / 1e6)} MB`;
}

/** A number with one decimal below ten, and none above. */
export function digits(value: number): string {
  return Math.abs(value) < 9.95 ? value.toFixed(1) : String(Math.round(value));
}

/** A count for people: `3,400`, `1.2 million`. */
export function count(value: number): string {
  return value < 1e6 ? Math.round(value).toLocaleString('en') : `${digits(value / 1e6)} million`;
}

/** A factor with two decimals below ten, and none above: `0.97x`, `14x`. */
export function times(factor: number): string {
  return `${factor < 9.995 ? factor.toFixed(2) : Math.round(factor).toLocaleString('en')}x`;
}
