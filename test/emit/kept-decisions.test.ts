import { describe, expect, it } from 'vitest';
import type { Settled } from '../../src/emit/decide.ts';
import { KeptDecisions } from '../../src/emit/kept-decisions.ts';
import { createRandom } from '../../src/prove/random.ts';

describe('kept decisions', () => {
  it('are found for just the rules they were kept for, however many have come up', () => {
    const random = createRandom(1);
    const kept = new KeptDecisions();
    let found = 0;
    for (let i = 0; i < 60_000; i += 1) {
      const count = random.below(10);
      const rules = Array.from({ length: count }, () => random.below(random.pick([4, 3_000])));
      const firing = Int32Array.from([...rules.toSorted((a, b) => a - b), random.below(9)]);
      const key = firing.subarray(0, count).join();
      const known = kept.find(firing, count) as unknown as string | undefined;
      if (known !== undefined) {
        expect(known).toBe(key);
        found += 1;
      } else kept.keep(firing, count, key as unknown as Settled);
    }
    expect(found).toBeGreaterThan(5_000);
  });
});
