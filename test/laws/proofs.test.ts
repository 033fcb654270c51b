// The formula of an action admits what the definition says of random requests, and decides as it does; and it would be
// noticed if a maker of cells forgot something.

import { beforeAll, describe, expect, it } from 'vitest';
import { faultNames } from '../../src/reasoning/cells/faults.ts';
import { holdLaw, lawSets, type Named } from './proofs.ts';

let sets: readonly Named[] = [];

beforeAll(async () => {
  sets = await lawSets(25);
});

describe('the law of proofs', () => {
  it('holds for random requests of packs, conformance sets and random sets', { timeout: 120_000 }, () => {
    const tallies = sets.map((named) => holdLaw(named, 60));
    expect(tallies.flatMap(({ disagreements }) => disagreements)).toEqual([]);
    expect(tallies.reduce((sum, { requests }) => sum + requests, 0)).toBeGreaterThan(2_000);
  });

  it.each(faultNames)('fails where %s', { timeout: 120_000 }, (fault) => {
    const faults = new Set([fault]);
    expect(sets.some((named) => holdLaw(named, 120, faults).disagreements.length > 0)).toBe(true);
  });
});
