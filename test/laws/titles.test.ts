import { expect, it } from 'vitest';
import { titlesAgree } from './titles.ts';

it('titles show what rules see, by function and definition alike', { timeout: 60_000 }, () => {
  const { titles, withSpelling, breaches } = titlesAgree(6_000, 1);
  expect(breaches).toEqual([]);
  expect(titles).toBeGreaterThanOrEqual(6_000);
  expect(withSpelling).toBeGreaterThan(100);
});
