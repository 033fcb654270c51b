import { expect, it } from 'vitest';
import { tries } from '../support/tries.ts';
import { compareEntries } from './meters.ts';

it('the generated functions enter into meters what the definition says', { timeout: 240_000 }, () => {
  const { compared, seen, differences } = compareEntries(tries(60), 5_000);
  expect(differences).toEqual([]);
  expect(compared).toBeGreaterThan(tries(1_000));
  const kinds = ['sum', 'count', 'distinct'].flatMap((aggregate) => [
    `certain ${aggregate}`,
    `uncertain ${aggregate}`,
    `left out ${aggregate}`,
  ]);
  const expected = [
    ...kinds,
    'certain unknown sum',
    'certain unknown distinct',
    'unknown key',
    'known key',
    'anew',
    'result counted',
    'result unknown',
  ];
  expect(expected.filter((kind) => !seen.has(kind))).toEqual([]);
});
