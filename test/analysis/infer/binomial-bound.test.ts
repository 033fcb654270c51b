// The bound of a share: known values, and its exact coverage, computed from the binomial distribution.

import { describe, expect, it } from 'vitest';
import { confidence, shareAtMost } from '../../../src/analysis/infer/binomial-bound.ts';

/** The probability that the bound is at least the share, over all numbers of hits. */
function coverage(share: number, draws: number): number {
  const bounds = boundsFor(draws);
  let probability = (1 - share) ** draws;
  let covered = 0;
  for (let hits = 0; hits <= draws; hits += 1) {
    if (bounds[hits]! >= share) covered += probability;
    probability *= ((draws - hits) / (hits + 1)) * (share / (1 - share));
  }
  return covered;
}

const known = new Map<number, readonly number[]>();

function boundsFor(draws: number): readonly number[] {
  const bounds = known.get(draws) ?? Array.from({ length: draws + 1 }, (_, hits) => shareAtMost(hits, draws));
  known.set(draws, bounds);
  return bounds;
}

describe('the bound of a share', () => {
  it('equals the published upper ends of Clopper and Pearson', () => {
    expect(shareAtMost(0, 10)).toBeCloseTo(1 - 0.05 ** (1 / 10), 12);
    expect(shareAtMost(1, 100)).toBeCloseTo(0.0465598, 6);
    expect(shareAtMost(5, 20)).toBeCloseTo(0.4555824, 6);
    expect(shareAtMost(3, 1_000_000)).toBeCloseTo(7.75365e-6, 10);
  });

  it('promises nothing without draws, and when every draw is a hit', () => {
    expect(shareAtMost(0, 0)).toBe(1);
    expect(shareAtMost(7, 7)).toBe(1);
  });

  it('covers every share with at least its confidence', () => {
    for (const draws of [1, 7, 40, 150])
      for (let share = 0.002; share < 0.9; share += 0.0331)
        expect(coverage(share, draws)).toBeGreaterThanOrEqual(confidence - 1e-9);
  });

  it('is tight: a share just below the bound of no hits is covered with little more', () => {
    const share = shareAtMost(0, 60);
    expect(coverage(share - 1e-9, 60)).toBeGreaterThan(0.99);
    expect(coverage(share + 1e-9, 60)).toBeLessThan(confidence + 0.03);
    expect(coverage(share + 1e-9, 60)).toBeGreaterThanOrEqual(confidence - 1e-6);
  });
});
