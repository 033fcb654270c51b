import { describe, expect, it } from 'vitest';
import { compareReadings } from './differential.ts';

describe('function = definition', () => {
  it('agrees on random policies and requests', { timeout: 120_000 }, () => {
    const { pairs, findings, outcomes } = compareReadings(8_000, 1);
    expect(findings).toEqual([]);
    expect(pairs).toBeGreaterThanOrEqual(8_000);
    expect(Object.keys(outcomes).toSorted()).toEqual(['ALLOW', 'DENY', 'ESCALATE', 'REAUTH_REQUIRED']);
  });
});
