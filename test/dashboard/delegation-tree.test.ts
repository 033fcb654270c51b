import { expect, test } from 'vitest';
import { inTreeOrder } from '../../src/dashboard/pages/agents/delegation-tree.ts';

const node = (id: string, ...above: readonly string[]) => ({ id, above });

test('a delegation is before those below it, and before its neighbours', () => {
  const found = [node('d', 'b', 'c'), node('c', 'b'), node('b'), node('e', 'a'), node('a')];
  expect(inTreeOrder(found).map(({ id }) => id)).toEqual(['b', 'c', 'd', 'a', 'e']);
});

test('a delegation whose upper ones are gone keeps its place under what is left', () => {
  const found = [node('c', 'a', 'b'), node('a')];
  expect(inTreeOrder(found).map(({ id }) => id)).toEqual(['a', 'c']);
  expect(inTreeOrder([node('c', 'gone')]).map(({ id }) => id)).toEqual(['c']);
});
