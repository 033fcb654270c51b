// Random declarations below one owner's folder.

import { expect, it } from 'vitest';
import { ownersHold } from './owners.ts';

it('nothing below one folder allows an action of another owner', { timeout: 120_000 }, () => {
  const { accepted, refused, requests, averted, breaches } = ownersHold(600, 1);
  expect(breaches).toEqual([]);
  expect(accepted).toBeGreaterThan(60);
  expect(refused).toBeGreaterThan(60);
  expect(requests).toBeGreaterThan(3_000);
  // Without owners, the same texts do allow more.
  expect(averted).toBeGreaterThan(5);
});
