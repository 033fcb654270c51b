// A few mutants of each pack and conformance set, compared with their originals.

import { describe, expect, it } from 'vitest';
import { holdDiffLaw, type MutantTally, mutatedFolders } from './diffs.ts';

describe('comparisons of mutants', () => {
  it('miss nothing that random requests show, and show requests that are decided so', async () => {
    const tallies: MutantTally[] = [];
    // Nothing can be proved about what a shell line would run, and finding that out takes seconds for each
    // mutant.
    const folders = mutatedFolders().filter((folder) => !folder.endsWith('policies/coding'));
    for (const folder of folders) tallies.push(await holdDiffLaw(folder, 40, 15));
    expect(tallies.flatMap(({ broken }) => broken)).toEqual([]);
    const sum = (of: 'mutants' | 'undecided'): number => tallies.reduce((all, one) => all + one[of], 0);
    expect(sum('mutants')).toBeGreaterThan(3);
    expect(sum('undecided')).toBeLessThan(sum('mutants') / 2);
  });
});
