// Latencies of many requests as a picture: how long the fastest half takes, the fastest 90 of 100, 99 of 100 and so on.

import { type ChartLine, drawChart } from './chart.ts';
import { duration } from './figure.ts';

export interface Latencies {
  readonly name: string;
  readonly isOwn: boolean;
  /** Nanoseconds, one a request, in any order. */
  readonly nanoseconds: ArrayLike<number>;
}

/** Of fewer requests each is drawn as a step. */
const stepsMax = 200;
const pointsMax = 300;
/** Each step to the right holds a tenth of the requests that the one before it held. */
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

/** One in so many requests takes longer than this share of them. */
function rarity(share: number): number {
  return 1 / (1 - share);
}

/** The latency that each share of the requests does not exceed: a step a request, or points where there are many. */
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
  // Even distances on the axis: the rare ones deserve as many points as the many common ones.
  return Array.from({ length: pointsMax }, (_, step) => {
    const x = last ** (step / (pointsMax - 1));
    return [x, sorted[Math.min(length - 1, Math.floor(length * (1 - 1 / x)))]!] as const;
  });
}
