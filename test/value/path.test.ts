/** Normal forms of paths, and which lies inside which, against walking the steps one by one. */

import fc from 'fast-check';
import { expect, test } from 'vitest';
import { isInside, isPathText, normalisePath } from '../../src/value/path.ts';

test.each([
  ['/workspace/src/../b.ts', '/workspace/b.ts'],
  ['/workspace//./a/', '/workspace/a'],
  ['/../..', '/'],
  ['/', '/'],
  ['a/../b', 'b'],
  ['a/..', '.'],
  ['', '.'],
  ['../../x', '../../x'],
  ['a/../../x', '../x'],
  ['...', '...'],
])('%j is %j', (path, normal) => {
  expect(normalisePath(path)).toBe(normal);
});

test.each([
  ['/workspace', '/workspace', true],
  ['/workspace/', '/workspace', true],
  ['/workspace/src/a.ts', '/workspace/', true],
  ['/workspace/../etc/passwd', '/workspace', false],
  ['/workspace/a/../../workspace/b', '/workspace', true],
  ['/workspace-old/a.ts', '/workspace', false],
  ['/Workspace/a', '/workspace', false],
  ['/work', '/workspace', false],
  ['/etc', '/', true],
  ['workspace/a', '/workspace', false],
  ['/workspace/a', 'workspace', false],
  ['src/a', 'src', true],
  ['src/../src/a', './src', true],
  ['a', '.', true],
  ['../a', '.', false],
  ['../a', '..', false],
  ['../src/a', '../src', false],
  ['a/../../a/b', 'a', false],
])('%j inside %j: %s', (path, folder, expected) => {
  expect(isInside(path, folder)).toBe(expected);
});

test('NUL and backslashes make no path', () => {
  expect([isPathText('/a b/ü'), isPathText('a\0'), isPathText('a\\b')]).toEqual([true, false, false]);
});

const path = fc
  .tuple(fc.boolean(), fc.array(fc.constantFrom('a', 'b', '.', '..', ''), { maxLength: 8 }))
  .map(([isAbsolute, steps]) => `${isAbsolute ? '/' : ''}${steps.join('/')}`);

test('normal forms are fixed, and mean the same place', () => {
  fc.assert(
    fc.property(path, path, (one, other) => {
      expect(normalisePath(normalisePath(one))).toBe(normalisePath(one));
      expect(isInside(one, other)).toBe(isInside(normalisePath(one), normalisePath(other)));
    }),
  );
});

test('inside means that the normal form begins with the folder', () => {
  fc.assert(
    fc.property(path, (one) => {
      const normal = normalisePath(one);
      expect(isInside(one, '/a')).toBe(normal === '/a' || normal.startsWith('/a/'));
      expect(isInside(one, 'a/b')).toBe(normal === 'a/b' || normal.startsWith('a/b/'));
    }),
  );
});
