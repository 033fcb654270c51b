// Delays grow, stay within their bounds for any random number, and end.

import { describe, expect, it } from 'vitest';
import { delayAfter } from '../../../src/service/webhooks/dispatch.ts';

describe('the next attempt', () => {
  it('comes later each time, and then never', () => {
    const delays = Array.from({ length: 12 }, (_, at) => delayAfter(at + 1, 0.5));
    const finite = delays.filter((delay) => delay !== null);
    expect(finite).toEqual(finite.toSorted((a, b) => a - b));
    expect(finite).toHaveLength(9);
    expect(delays.slice(9)).toEqual([null, null, null]);
    // Three days and some hours in total.
    expect(finite.reduce((sum, delay) => sum + delay, 0) / 3_600_000).toBeCloseTo(75.6, 0);
  });

  it('is left to chance by a tenth to either side', () => {
    expect([0, 0.5, 0.999].map((chance) => delayAfter(1, chance))).toEqual([4_500, 5_000, 5_499]);
  });
});
