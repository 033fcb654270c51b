// Turns the numbers of the overview into series of values over steps, for plots and tables. INVARIANT: a plot
// and the table behind it are made from the same series.

import type { Reply } from '../../../api/operations.ts';

export type Overview = Reply<'getOverview'>;

/** `color` is the name of a token; `style` tells series apart without colours. */
export interface Series {
  readonly key: string;
  readonly name: string;
  readonly color: string;
  readonly style: SeriesStyle;
  /** Null for a step with nothing to measure. */
  readonly values: readonly (number | null)[];
}

export type SeriesStyle =
  | 'plain'
  | 'stripes'
  | 'back-stripes'
  | 'dots'
  | 'bars'
  | 'solid'
  | 'dashed'
  | 'dotted';

export interface Steps {
  readonly kind: 'time' | 'score';
  /** Milliseconds since 1970, or scores. */
  readonly from: number;
  readonly to: number;
  /** The beginning of each step, and the end of the last. */
  readonly edges: readonly number[];
}

export const outcomes = [
  { key: 'allow', name: 'Allow', color: 'allow', style: 'plain', decision: 'ALLOW' },
  { key: 'deny', name: 'Deny', color: 'deny', style: 'stripes', decision: 'DENY' },
  { key: 'escalate', name: 'Escalate', color: 'escalate', style: 'dots', decision: 'ESCALATE' },
  { key: 'reauth', name: 'Step-up', color: 'reauth', style: 'bars', decision: 'REAUTH_REQUIRED' },
  { key: 'refused', name: 'Refused', color: 'unknown', style: 'back-stripes', decision: null },
] as const;
export type OutcomeKey = (typeof outcomes)[number]['key'];

export function timeSteps({ from, to, bucket_seconds: seconds, buckets }: Overview): Steps {
  const edges = buckets.map(({ at }) => Date.parse(at));
  const last = edges.at(-1);
  if (last !== undefined) edges.push(last + seconds * 1_000);
  return { kind: 'time', from: Date.parse(from), to: Math.max(Date.parse(to), edges.at(-1) ?? 0), edges };
}

export function outcomeSeries({ buckets }: Overview, keys: readonly OutcomeKey[]): readonly Series[] {
  return outcomes
    .filter(({ key }) => keys.includes(key))
    .map(({ key, name, color, style }) => ({
      key,
      name,
      color,
      style,
      values: buckets.map((bucket) => bucket[key]),
    }));
}

export function outcomeTotals({ buckets }: Overview): Readonly<Record<OutcomeKey, number>> {
  const totals = { allow: 0, deny: 0, escalate: 0, reauth: 0, refused: 0 };
  for (const bucket of buckets) for (const { key } of outcomes) totals[key] += bucket[key];
  return totals;
}

const quantiles = [
  { key: 'p50', name: 'Median', color: 'accent', style: 'solid', field: 'p50_us' },
  { key: 'p90', name: '90th percentile', color: 'reauth', style: 'dashed', field: 'p90_us' },
  { key: 'p99', name: '99th percentile', color: 'deny', style: 'dotted', field: 'p99_us' },
] as const;

/** Latencies in microseconds. */
export function latencySeries({ latency }: Overview): readonly Series[] {
  return quantiles.map(({ field, key, name, color, style }) => ({
    key,
    name,
    color,
    style,
    values: latency.map((step) => step[field]),
  }));
}

export function riskSteps({ risk }: Overview): Steps {
  const last = risk.at(-1)?.to ?? 100;
  const edges = [...risk.map(({ from }) => from), last === 100 ? last : last + 1];
  return { kind: 'score', from: edges[0] ?? 0, to: edges.at(-1) ?? 100, edges };
}

export function riskSeries({ risk }: Overview): readonly Series[] {
  const values = risk.map(({ count }) => count);
  return [{ key: 'count', name: 'Decisions', color: 'accent', style: 'plain', values }];
}

/** Running sums of the series, for stacked bars: the last list is the sum of all. */
export function stacked(series: readonly Series[]): readonly (readonly number[])[] {
  let below: readonly number[] = [];
  return series.map(({ values }) => {
    below = values.map((value, index) => (value ?? 0) + (below[index] ?? 0));
    return below;
  });
}

/** The bars of a stack that are drawn only up to `limit`. */
export interface CutBars {
  readonly limit: number;
  readonly steps: readonly number[];
}

const outlierShare = 0.1;
/** How much higher than the usual bars the highest bar is before any is cut. */
const outlierRatio = 5;

/**
 * Cuts the bars of a few steps that would make all others too low to see: the limit is twice the highest bar
 * without the tenth of the bars that is highest. Null when no bar is that high.
 */
export function cutBars(series: readonly Series[]): CutBars | null {
  const totals = stacked(series).at(-1) ?? [];
  const ordered = totals.filter((total) => total > 0).toSorted((a, b) => b - a);
  const usual = ordered[Math.max(1, Math.floor(ordered.length * outlierShare))];
  if (usual === undefined || (ordered[0] ?? 0) < outlierRatio * usual) return null;
  const limit = 2 * usual;
  return { limit, steps: totals.flatMap((total, index) => (total > limit ? [index] : [])) };
}

/** Positions of values without a neighbour, which no line would show. */
export function isolatedPositions(values: readonly (number | null | undefined)[]): number[] {
  const isThere = (at: number): boolean => typeof values[at] === 'number';
  return values.flatMap((_, at) => (isThere(at) && !isThere(at - 1) && !isThere(at + 1) ? [at] : []));
}

/** The position among `count` steps to which a key moves the cursor; null when the key does not move it. */
export function movedTo(key: string, at: number | null, count: number): number | null {
  const leap = Math.max(1, Math.round(count / 10));
  const moves: Readonly<Record<string, number>> = {
    ArrowRight: at === null ? 0 : at + 1,
    ArrowLeft: at === null ? count - 1 : at - 1,
    ArrowUp: at === null ? 0 : at + 1,
    ArrowDown: at === null ? count - 1 : at - 1,
    PageUp: (at ?? 0) + leap,
    PageDown: (at ?? count - 1) - leap,
    Home: 0,
    End: count - 1,
  };
  const next = moves[key];
  return next === undefined || count === 0 ? null : Math.min(count - 1, Math.max(0, next));
}

const whole = new Intl.NumberFormat();
const tenth = new Intl.NumberFormat(undefined, { minimumFractionDigits: 1, maximumFractionDigits: 1 });
const short = new Intl.NumberFormat(undefined, { maximumSignificantDigits: 3 });

export function countText(count: number | null): string {
  return count === null ? '–' : whole.format(count);
}

/** Microseconds in a suitable unit; `–` when there is nothing to measure. */
export function latencyText(us: number | null): string {
  if (us === null) return '–';
  if (us < 1_000) return `${short.format(us)} µs`;
  return us < 1_000_000 ? `${short.format(us / 1_000)} ms` : `${short.format(us / 1_000_000)} s`;
}

export function shareText(part: number, whole: number): string {
  if (part === 0 || part === whole) return part === 0 ? '0 %' : '100 %';
  const percent = (100 * part) / whole;
  if (percent < 0.1) return `< ${tenth.format(0.1)} %`;
  return `${tenth.format(Math.min(percent, 99.9))} %`;
}
