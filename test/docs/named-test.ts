// A test as the pages name it: `failures: the disk takes 2 s` of test/service/http, or with its folder,
// `test/cli/store: a backup`. The words after the colon are a part of the test's name and are optional.

import { existsSync, readFileSync } from 'node:fs';

const root = new URL('../../', import.meta.url);

/** What is wrong with the name; null when the test exists. */
export function faultOfNamedTest(named: string): string | null {
  const [place = '', words = ''] = named.split(': ');
  const file = place.includes('/') ? place : `test/service/http/${place}`;
  const path = new URL(`${file}.test.ts`, root);
  if (!existsSync(path)) return words === '' && existsSync(new URL(`${file}/`, root)) ? null : `no ${file}`;
  return readFileSync(path, 'utf8').includes(words) ? null : `no “${words}” in ${file}`;
}
