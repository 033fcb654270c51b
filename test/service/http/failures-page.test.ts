// docs/FAILURES.md and docs/SECURITY.md name a test in each row: every test and every file that the pages
// name exists.

import { existsSync, readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { faultOfNamedTest } from '../../docs/named-test.ts';

const root = new URL('../../../', import.meta.url);
const page = readFileSync(new URL('docs/FAILURES.md', root), 'utf8');
const promises = readFileSync(new URL('docs/SECURITY.md', root), 'utf8');

const rows = page
  .split('\n')
  .filter((line) => line.startsWith('| ') && !line.startsWith('| what breaks'))
  .map((line) => line.split('|').map((cell) => cell.trim()));

test('the page has its rows, each with a test', () => {
  expect(rows.length).toBeGreaterThan(25);
  expect(rows.filter((cells) => (cells[4] ?? '') === '')).toEqual([]);
});

test('each row says what an operator does, in one line', () => {
  const odd = rows.filter(([, , what = '']) => !/^[A-Z].{2,90}$/.test(what) || what.endsWith('.'));
  expect(odd.map(([, what]) => what)).toEqual([]);
});

test.each([
  ...[/thread that writes .* dies/, /disk is full/, /disk is slow/, /holds the database/, /file is damaged/],
  ...[
    /clock jumps forward/,
    /clock is set back/,
    /ahead of the machine's clock at startup/,
    /directory is gone/,
  ],
  ...[/event loop stands still/, /client goes/, /closes its sending side/, /says nothing/, /byte at a time/],
  ...[/10,000 idle/, /file descriptors/, /killed/, /collector is down/, /collector never answers/],
])('%s has its row', (what) => {
  expect(rows.some((cells) => what.test(cells[1] ?? ''))).toBe(true);
});

test.each(rows.flatMap((cells) => (cells[4] ?? '').split('; ').map((named) => [cells[1] ?? '', named])))(
  '%s: %s',
  (_what, named) => {
    expect(faultOfNamedTest(named)).toBeNull();
  },
);

const promised = promises
  .split('\n')
  .filter((line) => line.startsWith('| ') && !/^\| (Promise|---)/.test(line))
  .map((line) => line.split('|').map((cell) => cell.trim()));

test('every promise names its tests', () => {
  expect(promised.length).toBeGreaterThan(20);
  for (const [, promise, named] of promised) {
    expect(named, promise).not.toBe('');
    for (const name of named!.split(', ')) {
      const isThere = existsSync(new URL(`test/${name.replace(/^test\//, '')}.test.ts`, root));
      expect(isThere, `${promise}: ${name}`).toBe(true);
    }
  }
});

test.each([
  ['FAILURES.md', page],
  ['SECURITY.md', promises],
])('every file of the project that %s names is there', (_name, text) => {
  const named = [
    ...text.matchAll(/(?<![\w/.-])(?:src|test|bench|docs|policies)\/[\w./-]*\.(?:tsx?|md|js)\b/g),
  ];
  expect(named.map(([path]) => path).filter((path) => !existsSync(new URL(path, root)))).toEqual([]);
});
