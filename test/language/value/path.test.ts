/** Canonical forms of paths, compared with the runtime's own, and which path lies inside which. */

import { posix } from 'node:path';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { canonicalPath, canonicalPathIgnoringCase, isInside } from '../../../src/language/value/path.ts';

test.each([
  ['/workspace/src/../b.ts', '/workspace/b.ts'],
  ['/workspace//./a/', '/workspace/a'],
  ['/../..', '/'],
  ['/', '/'],
  ['a/../b', 'b'],
  ['a/..', '.'],
  ['', '.'],
  ['...', '...'],
  ['/...', '/...'],
  ['.github/./workflows/', '.github/workflows'],
  ['/workspace/.github/x', '/workspace/.github/x'],
])('%j is %j', (path, canonical) => {
  expect(canonicalPath(path)).toBe(canonical);
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

test.each(['a\0', 'a\\b', '/a\\..', '..', '../../x', 'a/../../x', './..'])('%j is no path', (text) => {
  expect(canonicalPath(text)).toBeNull();
});

test.each([
  ['/Workspace/.GitHub/./X', '/workspace/.github/x'],
  ['/STRASSE', '/strasse'],
  ['/straße', '/strasse'],
  ['/\u017fecrets', '/secrets'],
  ['/\u212aelvin', '/kelvin'],
])('where case is ignored %j is %j', (path, canonical) => {
  expect(canonicalPathIgnoringCase(path)).toBe(canonical);
});

const path = fc
  .tuple(fc.boolean(), fc.array(fc.constantFrom('a', 'b', '.', '..', ''), { maxLength: 8 }))
  .map(([isAbsolute, steps]) => `${isAbsolute ? '/' : ''}${steps.join('/')}`);

test('canonical forms are their own, and mean the same place', () => {
  fc.assert(
    fc.property(path, path, (one, other) => {
      const [canonical, folder] = [canonicalPath(one), canonicalPath(other)];
      if (canonical === null || folder === null) return;
      expect(canonicalPath(canonical)).toBe(canonical);
      expect(isInside(one, other)).toBe(isInside(canonical, folder));
    }),
  );
});

test('what lies inside a folder is what the runtime reaches from it without a step back', () => {
  fc.assert(
    fc.property(path, path, (one, folder) => {
      const [inner, outer] = [`/${one}`, `/${folder}`];
      expect(isInside(inner, outer)).toBe(!posix.relative(outer, inner).startsWith('..'));
      if (canonicalPath(one) === null || canonicalPath(folder) === null) return;
      const isReached = posix.isAbsolute(one) === posix.isAbsolute(folder);
      expect(isInside(one, folder)).toBe(isReached && !posix.relative(folder, one).startsWith('..'));
    }),
  );
});

test('canonical forms are those of the runtime, without a slash at the end', () => {
  fc.assert(
    fc.property(path, (one) => {
      const known = posix.normalize(one).replace(/(?<=.)\/$/, '');
      expect(canonicalPath(one)).toBe(known === '..' || known.startsWith('../') ? null : known);
    }),
    { numRuns: 10_000 },
  );
});

test('inside means that the canonical form begins with the folder', () => {
  fc.assert(
    fc.property(path, (one) => {
      const known = canonicalPath(one) ?? '';
      expect(isInside(one, '/a')).toBe(known === '/a' || known.startsWith('/a/'));
      expect(isInside(one, 'a/b')).toBe(known === 'a/b' || known.startsWith('a/b/'));
    }),
  );
});
