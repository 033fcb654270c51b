import { describe, expect, it } from 'vitest';
import type { Bounds } from '../../../src/language/program/index/index-key.ts';
import { createSegments, findInSegments } from '../../../src/language/program/index/segments.ts';
import { createRandom, type RandomSource } from '../../../src/language/value/random.ts';

function randomBounds(random: RandomSource, largest: number): Bounds {
  const low = random.below(largest) / random.pick([1, 10]);
  const high = low + random.pick([0, 1, 0.1, random.below(largest)]);
  return {
    kind: 'bounds',
    low: random.chance(0.2) ? Number.NEGATIVE_INFINITY : low,
    high: random.chance(0.2) ? low + largest : high,
    isLowIncluded: random.chance(0.5),
    isHighIncluded: random.chance(0.5),
  };
}

function holds({ low, high, isLowIncluded, isHighIncluded }: Bounds, number: number): boolean {
  return (isLowIncluded ? number >= low : number > low) && (isHighIncluded ? number <= high : number < high);
}

describe('segments', () => {
  it('find just the bounds that hold a number, each once', () => {
    for (let seed = 1; seed <= 60; seed += 1) {
      const random = createRandom(seed);
      const largest = random.pick([3, 50, 1e6]);
      const rules = Array.from({ length: 1 + random.below(120) }, (_, rule) => ({
        rule,
        bounds: randomBounds(random, largest),
      }));
      const segments = createSegments(rules);
      const found = new Int32Array(rules.length);
      const ends = rules.flatMap(({ bounds }) => [bounds.low, bounds.high]).filter(Number.isFinite);
      for (let i = 0; i < 60; i += 1) {
        const number = random.chance(0.5) ? random.pick(ends) : random.below(3 * largest) / 10 - 1;
        const count = findInSegments(segments, number, found, 0);
        const expected = rules.filter(({ bounds }) => holds(bounds, number)).map(({ rule }) => rule);
        expect([...found.subarray(0, count)].toSorted((a, b) => a - b)).toEqual(expected);
      }
    }
  });

  it('are few where bounds are wide and nested', () => {
    const rules = Array.from({ length: 2_000 }, (_, rule): { rule: number; bounds: Bounds } => ({
      rule,
      bounds: {
        kind: 'bounds',
        low: rule,
        high: Number.POSITIVE_INFINITY,
        isLowIncluded: true,
        isHighIncluded: false,
      },
    }));
    expect(createSegments(rules).nodes.rules.length).toBeLessThan(2_000 * 14);
  });
});
