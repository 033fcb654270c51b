// The table of error codes and the documentation pages of the codes match.

import { readdirSync, readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { problems } from '../../../src/service/http/contract/problem.ts';

const folder = new URL('../../../docs/errors/', import.meta.url);

test('each code has a page, and each page a code', () => {
  expect(readdirSync(folder).sort()).toEqual(
    Object.keys(problems)
      .map((code) => `${code}.md`)
      .sort(),
  );
});

test.each(Object.entries(problems))('the page of %s says what the table says', (code, { status, title }) => {
  const page = readFileSync(new URL(`${code}.md`, folder), 'utf8');
  expect(page.startsWith(`# \`${code}\`\n\n${title}. HTTP status ${status}.\n`)).toBe(true);
  expect(page).toMatch(/\n## What it means\n\n\S.*\n\n## What to do\n\n\S/);
});
