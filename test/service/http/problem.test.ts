// The table of error codes and the documentation pages of the codes match.

import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { problems } from '../../../src/service/http/contract/problem.ts';

const folder = new URL('../../../docs/errors/', import.meta.url);

test('each code has a page, and each page a code', () => {
  const pages = readdirSync(folder).filter((name) => name !== 'README.md');
  expect(pages.sort()).toEqual(
    Object.keys(problems)
      .map((code) => `${code}.md`)
      .sort(),
  );
});

test('the index lists each code', () => {
  const rows = Object.entries(problems)
    .toSorted(([a, { status: first }], [b, { status: second }]) => first - second || (a < b ? -1 : 1))
    .map(([code, { status, title }]) => `| [${code}](${code}.md) | ${status} | ${title} |\n`);
  const index = `${head}${rows.join('')}`;
  const page = new URL('README.md', folder);
  if (process.env.UPDATE_GOLDEN === '1') writeFileSync(page, index);
  expect(readFileSync(page, 'utf8')).toBe(index);
});

const head = `# Errors

An error reply of the service has its code at the end of \`type\`: \`urn:writ:error:CODE\`. Each code has a page: what it means, and what to do.

| code | status | title |
| --- | --- | --- |
`;

test.each(Object.entries(problems))('the page of %s says what the table says', (code, { status, title }) => {
  const page = readFileSync(new URL(`${code}.md`, folder), 'utf8');
  expect(page.startsWith(`# \`${code}\`\n\n${title}. HTTP status ${status}.\n`)).toBe(true);
  expect(page).toMatch(/\n## What it means\n\n\S.*\n\n## What to do\n\n\S/);
});
