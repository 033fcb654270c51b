import { describe, expect, it } from 'vitest';
import { RuleSetCache } from '../../../src/language/emit/decide/rule-set-cache.ts';
import { createRandom } from '../../../src/language/value/random.ts';

describe('what is kept by rules', () => {
  it('is found for just the rules it was kept for, however many have come up', () => {
    const random = createRandom(1);
    const kept = new RuleSetCache<string>();
    let found = 0;
    for (let i = 0; i < 60_000; i += 1) {
      const count = random.below(random.pick([10, 10, 40]));
      const rules = Array.from({ length: count }, () => random.below(random.pick([4, 3_000])));
      const firing = Int32Array.from([...rules.toSorted((a, b) => a - b), random.below(9)]);
      const key = firing.subarray(0, count).join();
      const known = kept.find(firing, count);
      if (known !== undefined) {
        expect(known).toBe(key);
        found += 1;
      } else kept.keep(firing, count, key);
    }
    expect(found).toBeGreaterThan(5_000);
  });

  it('is found however many rules took part, within bounds', () => {
    const random = createRandom(2);
    const kept = new RuleSetCache<string>();
    const combinations = Array.from({ length: 100 }, () =>
      Int32Array.from({ length: 8 + random.below(3_000) }, () => random.below(9_000)),
    );
    let found = 0;
    for (let i = 0; i < 2_000; i += 1) {
      // Combinations at the beginning are drawn more often.
      const firing = combinations[random.below(1 + random.below(combinations.length))]!;
      const known = kept.find(firing, firing.length);
      if (known !== undefined) {
        expect(known).toBe(firing.join());
        found += 1;
      } else kept.keep(firing, firing.length, firing.join());
      expect(kept.find(firing, firing.length)).toBe(firing.join());
      expect(kept.find(firing, firing.length - 1)).toBeUndefined();
    }
    expect(found).toBeGreaterThan(500);
  });
});
