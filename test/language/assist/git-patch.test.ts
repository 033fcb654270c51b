// The patch of a draft, applied by Git itself.

import { execFileSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { beforeAll, expect, test } from 'vitest';
import { type FileChange, gitPatch } from '../../../src/language/assist/git-patch.ts';
import { createRandom } from '../../../src/language/value/random.ts';

const lines = (count: number): string =>
  Array.from({ length: count }, (_, index) => `line ${index + 1}\n`).join('');

/** One repository for all tests. */
let top = '';
beforeAll(() => {
  top = mkdtempSync(join(tmpdir(), 'writ-test-patch-'));
  execFileSync('git', ['init', '-q'], { cwd: top });
  return () => rmSync(top, { recursive: true, force: true });
});

/** Writes the old files, applies the patch in `folder` of the repository, and compares the new files. */
function applied(changes: readonly FileChange[], root: string | null, folder: string): void {
  const place = join(top, root ?? folder);
  rmSync(join(top, 'policies'), { recursive: true, force: true });
  mkdirSync(join(top, 'policies'));
  for (const { path, before } of changes) {
    rmSync(join(place, path), { force: true });
    if (before === null) continue;
    mkdirSync(dirname(join(place, path)), { recursive: true });
    writeFileSync(join(place, path), before);
  }
  execFileSync('git', ['-c', 'core.autocrlf=false', 'apply', '--whitespace=nowarn', '-'], {
    cwd: join(top, folder),
    input: gitPatch(changes, root),
  });
  for (const { path, after } of changes) expect(readFileSync(join(place, path), 'utf8')).toBe(after);
}

const change = (before: string | null, after: string, path = 'payments/limits.policy'): FileChange => ({
  path,
  before,
  after,
});

const cases: readonly (readonly [string, readonly FileChange[]])[] = [
  ['a changed line', [change(lines(20), lines(20).replace('line 9\n', 'line nine\n'))]],
  [
    'changes far apart',
    [change(lines(40), lines(40).replace('line 2\n', '').replace('line 38\n', 'a\nb\n'))],
  ],
  ['the first line', [change(lines(3), `new\n${lines(3)}`)]],
  ['the last line', [change(lines(9), `${lines(9)}new\n`)]],
  ['a last line without a line break', [change('a\nb', 'a\nc')]],
  ['a line break at the end, removed', [change('a\nb\n', 'a\nb')]],
  ['a line break at the end, added', [change('a\nb', 'a\nb\n')]],
  ['a new file', [change(null, 'action a {}\n')]],
  ['an empty file, filled', [change('', 'action a {}\n')]],
  ['an emptied file', [change('action a {}\n', '')]],
  ['several files', [change('a\n', 'b\n', 'a.policy'), change(null, 'c\n', 'deep/er/c.policy')]],
  [
    'odd names',
    [
      change('a\n', 'b\n', 'two words.policy'),
      change(null, 'b\n', 'größe 😀.policy'),
      change('a\n', 'b\n', 'a "b".policy'),
    ],
  ],
  ['lines that look like a patch', [change('--- a/x\n+++ b/x\n', '--- a/y\n@@ -1 +1 @@\n')]],
  ['CR LF within the new text', [change('a\r\nb\r\n', 'a\r\nc\r\n')]],
];

test.each(cases)('%s', (_, changes) => {
  applied(changes, 'policies', '');
  applied(changes, 'policies', 'policies');
  applied(changes, null, 'policies');
});

test('a file that ends its lines with CR LF keeps them', () => {
  const patch = gitPatch([change('a\r\nb\r\nc\r\n', 'a\nx\nc\n')], '');
  expect(patch.split('\n').filter((line) => /^[-+][^-+]/.test(line))).toEqual(['-b\r', '+x\r']);
});

test('is empty without a change, and for a new file without lines names the file alone', () => {
  expect(gitPatch([change('a\n', 'a\n')], null)).toBe('');
  expect(gitPatch([], '')).toBe('');
  applied([change(null, '')], '', '');
});

test('the top of the repository', () => applied([change('a\n', 'b\n')], '', 'policies/..'));

test('any two texts', () => {
  const random = createRandom(7);
  const text = (): string => {
    const all = Array.from({ length: random.below(30) }, () => `${random.below(6)}\n`).join('');
    return random.below(3) === 0 ? all.replace(/\n$/, '') : all;
  };
  const changes = Array.from({ length: 200 }, (_, index) => change(text(), text(), `${index}.policy`));
  applied(changes, 'policies', '');
});
