// The documentation pages: every link leads to an existing file and heading, and every page can be reached
// from the first.

import { existsSync, globSync, readFileSync, statSync } from 'node:fs';
import { dirname, join, normalize } from 'node:path';
import { expect, it } from 'vitest';
import { anchorsOf } from '../../src/site/pages/anchors.ts';

/** The page that `writ init` puts into a new directory. */
const copiedByInit = 'src/cli/init/README.md';

const pages = [
  'README.md',
  'CHANGELOG.md',
  'CONTRIBUTING.md',
  'SECURITY.md',
  ...globSync('{docs,policies,examples,bench,test,integrations}/**/*.md', {
    exclude: ['**/node_modules/**'],
  }),
  ...globSync('src/**/README.md').filter((page) => page !== copiedByInit),
].filter((page) => !page.includes('node_modules'));

/** The anchors of a page's headings, on GitHub and on the site. */
function anchorsIn(page: string): ReadonlySet<string> {
  const text = readFileSync(page, 'utf8').replace(/^```[\s\S]*?^```/gm, '');
  return new Set(anchorsOf([...text.matchAll(/^#{1,6} (.+)$/gm)].map(([, title = '']) => title)));
}

interface Link {
  readonly from: string;
  readonly to: string;
  readonly anchor: string;
}

function linksOf(page: string): readonly Link[] {
  const text = readFileSync(page, 'utf8')
    .replace(/^```[\s\S]*?^```/gm, '')
    .replace(/`[^`\n]*`/g, 'code');
  return [...text.matchAll(/\]\(([^)\s]+)\)/g)]
    .map(([, target = '']) => target)
    .filter((target) => !/^[a-z]+:/.test(target))
    .map((target) => {
      const [path = '', anchor = ''] = target.split('#');
      return { from: page, to: path === '' ? page : normalize(join(dirname(page), path)), anchor };
    });
}

const links = pages.flatMap(linksOf);

it('has links that lead somewhere', () => {
  expect(links.length).toBeGreaterThan(200);
  expect(links.filter(({ to }) => !existsSync(to))).toEqual([]);
});

it('has links to headings that are there', () => {
  const astray = links.filter(
    ({ to, anchor }) => anchor !== '' && to.endsWith('.md') && existsSync(to) && !anchorsIn(to).has(anchor),
  );
  expect(astray).toEqual([]);
});

it('leads from the README over the index to every page', () => {
  const found = new Set(['README.md']);
  for (const page of found) {
    for (const { to } of links.filter(({ from }) => from === page)) {
      const there = existsSync(to) && statSync(to).isDirectory() ? globSync(`${to}/*.md`) : [to];
      for (const one of there.map((path) => normalize(path))) if (one.endsWith('.md')) found.add(one);
    }
  }
  expect(pages.filter((page) => !found.has(page))).toEqual([]);
  expect(links.some(({ from, to }) => from === 'README.md' && to === 'docs/README.md')).toBe(true);
});

it('names files in the pages for contributors that are there', () => {
  const contributors = pages.filter((page) => /^(src|integrations|test)\/.*README\.md$/.test(page));
  const named = contributors.flatMap((page) =>
    [...readFileSync(page, 'utf8').matchAll(/`([\w./-]+\/[\w./-]+\.(?:ts|tsx|js|sql|json))`/g)].map(
      ([, path = '']) => ({ page, path }),
    ),
  );
  expect(named.length).toBeGreaterThan(80);
  const isThere = (page: string, path: string) => existsSync(join(dirname(page), path)) || existsSync(path);
  expect(named.filter(({ page, path }) => !isThere(page, path))).toEqual([]);
});

it('splits the references of the service and of the command into pages of ten minutes', () => {
  const parts = pages.filter((page) => /^docs\/(service|cli)\//.test(page));
  expect(parts.length).toBeGreaterThan(15);
  const words = (page: string) => readFileSync(page, 'utf8').split(/\s+/).length;
  expect(parts.filter((page) => words(page) > 2_300)).toEqual([]);
});
