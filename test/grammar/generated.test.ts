// What is committed under grammar/generated is what the grammar makes.

import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { generate } from '../../grammar/generate.ts';

const folder = join(import.meta.dirname, '../../grammar/generated');

test('every generated file is fresh: run `npm run grammar`', () => {
  const files = generate();
  expect(readdirSync(folder).sort()).toEqual(Object.keys(files).sort());
  for (const [name, text] of Object.entries(files)) {
    expect(readFileSync(join(folder, name), 'utf8') === text, name).toBe(true);
  }
});

test('the diagrams ask no other machine', () => {
  expect(generate()['railroad.html']).not.toMatch(/https?:/);
});

test('the patterns of the editor colours are regular expressions', () => {
  const patterns = [
    ...generate()['policy.tmLanguage.json']!.matchAll(/"(?:match|begin|end)": ("(?:[^"\\]|\\.)*")/g),
  ];
  expect(patterns.length).toBeGreaterThan(8);
  for (const [, pattern] of patterns) expect(() => new RegExp(JSON.parse(pattern!))).not.toThrow();
});
