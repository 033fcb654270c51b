// The committed files under grammar/generated equal what the grammar produces.

import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { generate, productions } from '../../../grammar/generate.ts';

const folder = join(import.meta.dirname, '../../../grammar/generated');

test('every generated file is fresh: run `npm run grammar`', () => {
  const files = generate();
  expect(readdirSync(folder).sort()).toEqual(Object.keys(files).sort());
  for (const [name, text] of Object.entries(files)) {
    expect(readFileSync(join(folder, name), 'utf8') === text, name).toBe(true);
  }
});

test('the diagrams stand for themselves: every rule drawn, every link within the page, no script, no other file', () => {
  const page = generate()['railroad.html']!;
  expect(page).not.toMatch(/https?:|<script|<link|src=|url\(|@import|undefined/);
  const targets = [...page.matchAll(/ id="(\w+)"/g)].map(([, id]) => id);
  expect(targets.toSorted()).toEqual(
    productions()
      .map(({ name }) => name)
      .toSorted(),
  );
  const links = [...page.matchAll(/href="([^"]*)"/g)].map(([, href]) => href);
  expect(links.filter((href) => !targets.includes(href!.slice(1)))).toEqual([]);
  expect(page.match(/<svg class="railroad-diagram"/g)).toHaveLength(targets.length);
});

test('the patterns of the editor colours are regular expressions', () => {
  const patterns = [
    ...generate()['policy.tmLanguage.json']!.matchAll(/"(?:match|begin|end)": ("(?:[^"\\]|\\.)*")/g),
  ];
  expect(patterns.length).toBeGreaterThan(8);
  for (const [, pattern] of patterns) expect(() => new RegExp(JSON.parse(pattern!))).not.toThrow();
});
