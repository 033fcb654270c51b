import { expect, test } from 'vitest';
import { BoundedMap, memo } from '../../../src/language/value/memo.ts';

test('a value is made once for each key', () => {
  const made: string[] = [];
  const map = new Map<string, number>();
  const make = (key: string) => made.push(key);
  expect([memo(map, 'a', make), memo(map, 'a', make), memo(map, 'b', make)]).toEqual([1, 1, 2]);
});

test('a bounded map forgets everything before it would hold more, and nothing for a key that it holds', () => {
  const map = new BoundedMap<string, number>(2);
  map.set('a', 1).set('b', 2).set('b', 3);
  expect([...map]).toEqual([
    ['a', 1],
    ['b', 3],
  ]);
  expect([...map.set('c', 4)]).toEqual([['c', 4]]);
});
