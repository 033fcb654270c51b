// Suggestions for the requests of the shipped packs that are not allowed. WRIT_SUGGESTIONS sets the number of requests;
// `npm run suggestions` takes all of them.

import { expect, it } from 'vitest';
import { suggestForCases } from './suggestions.ts';

const wanted = Number(process.env.WRIT_SUGGESTIONS ?? 24);
const folders = ['examples/packs', 'policies'];

it('has a suggestion for nearly every request that guarantees leave open, and each does what it says', {
  timeout: 300_000 + wanted * 30_000,
}, async () => {
  const { open, found, forbidden, suggestions, missing, breaches } = await suggestForCases(folders, wanted);
  console.info(
    `${open} open, ${found} with a suggestion, ${forbidden} forbidden, ${suggestions} suggestions`,
    missing,
  );
  expect(breaches).toEqual([]);
  expect(found, missing.join('\n')).toBeGreaterThanOrEqual(0.9 * open);
  expect(open).toBeGreaterThan(wanted / 5);
  expect(forbidden).toBeGreaterThan(wanted / 5);
  expect(suggestions).toBeGreaterThanOrEqual(found);
});
