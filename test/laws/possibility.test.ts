// Requests of random agents to random sets. WRIT_POSSIBILITY sets the number; `npm run possibility` uses
// 100,000.

import { expect, it } from 'vitest';
import { tries } from '../support/tries.ts';
import { possibilityHolds } from './possibility.ts';

const wanted = Number(process.env.WRIT_POSSIBILITY ?? tries(8_000));

it('what is hidden never passes, and function and definition agree', { timeout: 60_000 + wanted * 3 }, () => {
  const { requests, said, passed, breaches } = possibilityHolds(wanted, 1);
  expect(breaches).toEqual([]);
  expect(requests).toBeGreaterThanOrEqual(wanted);
  expect(passed.never).toBe(0);
  for (const count of [...Object.values(said), passed.after_approval, passed.possible])
    expect(count).toBeGreaterThan(8);
});
