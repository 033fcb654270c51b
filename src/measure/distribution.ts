// Draws the latencies of many requests: the time within which the fastest half is decided, the fastest 90 of
// 100, 99 of 100, and so on.

import { type ChartLine, drawChart } from './chart.ts';
import { duration } from './figure.ts';

export interface Latencies {
  readonly name: string;
  readonly isOwn: boolean;
  /** Nanoseconds of each request, in any order. */
  readonly nanoseconds: ArrayLike<number>;
}

/** Up to this many requests, each one is drawn as a step. */
const stepsMax = 200;
const pointsMax = 300;
/** Ticks of the axis: each step to the right holds a tenth of the requests of the step before. */
const shares = [0, 0.5, 0.9, 0.99, 0.999, 0.9999, 0.99999];

export function drawDistribution(title: string, all: readonly Latencies[]): string {
  return drawChart({
    title,
    x: {
      label: 'share of requests',
      kind: 'logarithmic',
      format: (value) => `${Number((100 * (1 - 1 / value)).toFixed(4))} %`,
      ticks: shares.map(rarity),
    },
    y: { label: 'no longer than', kind: 'logarithmic', format: duration },
    lines: all.map(
      ({ name, isOwn, nanoseconds }): ChartLine => ({ name, isOwn, points: curve(nanoseconds) }),
    ),
  });
}

/** The number of requests among which one takes longer than this share of all requests. */
function rarity(share: number): number {
  return 1 / (1 - share);
}

/**
 * The latency that each share of the requests does not exceed: a step for each request, or points when
 * requests are many.
 */
function curve(nanoseconds: ArrayLike<number>): ChartLine['points'] {
  const sorted = Float64Array.from(nanoseconds).sort();
  const { length } = sorted;
  const last = rarity((length - 0.5) / length);
  if (length <= stepsMax) {
    return [...sorted].flatMap((value, at) => {
      const end = Math.min(last, rarity(Math.min(at + 1, length - 0.5) / length));
      return [[rarity(at / length), value] as const, [end, value] as const];
    });
  }
  // Points at even distances on the axis, so that rare slow requests get as many points as common ones.
  return Array.from({ length: pointsMax }, (_, step) => {
    const x = last ** (step / (pointsMax - 1));
    return [x, sorted[Math.min(length - 1, Math.floor(length * (1 - 1 / x)))]!] as const;
  });
}
