// The dashboard's copies of icons are those of the Lucide release that the tests install.

import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import * as lucide from 'lucide';
import { expect, test } from 'vitest';

const file = join(import.meta.dirname, '../../src/dashboard/parts/layout/icons.json');
const library: Readonly<Record<string, unknown>> = lucide;

test('each icon has the shapes of its Lucide icon', () => {
  const text = readFileSync(file, 'utf8');
  const icons = Object.entries(JSON.parse(text) as Readonly<Record<string, readonly [string, unknown]>>);
  expect(icons.filter(([, [source]]) => library[source] === undefined)).toEqual([]);
  const expected = icons.map(([name, [source]]) => [name, [source, library[source]]]);
  if (process.env.UPDATE_GOLDEN) writeFileSync(file, JSON.stringify(Object.fromEntries(expected), null, 2));
  else expect(icons).toEqual(expected);
});
