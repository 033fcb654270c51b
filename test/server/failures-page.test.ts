// docs/FAILURES.md names a test in each row: the tests are there.

import { existsSync, readFileSync } from 'node:fs';
import { expect, test } from 'vitest';

const root = new URL('../../', import.meta.url);
const page = readFileSync(new URL('docs/FAILURES.md', root), 'utf8');

const rows = page
  .split('\n')
  .filter((line) => line.startsWith('| ') && !line.startsWith('| what breaks'))
  .map((line) => line.split('|').map((cell) => cell.trim()));

test('the page has its rows', () => {
  expect(rows.length).toBeGreaterThan(20);
});

test.each(rows.flatMap((cells) => (cells[3] ?? '').split('; ').map((named) => [cells[1] ?? '', named])))(
  '%s: %s',
  (_what, named) => {
    const [place = '', words = ''] = named.split(': ');
    const file = `${place.includes('/') ? place : `test/server/${place}`}`;
    const path = new URL(`${file}.test.ts`, root);
    const folder = new URL(`${file}/`, root);
    expect(existsSync(path) || existsSync(folder)).toBe(true);
    if (words !== '') expect(readFileSync(path, 'utf8')).toContain(words);
  },
);
