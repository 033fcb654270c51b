// Writes the pages of the site into a folder: HTML for each page, the pictures, the texts for the search, and a
// page for addresses that are none.

import { createHash } from 'node:crypto';
import { copyFileSync, existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname, join, posix } from 'node:path';
import { documentationPath } from '../address.ts';
import { playgroundLinks } from './cookbook.ts';
import { type LinkTarget, type RenderedPage, renderMarkdown } from './markdown.ts';
import { type MenuGroup, menuOf } from './menu.ts';
import { addressOf, pagePaths, pathOnSite } from './sources.ts';
import { type Assets, pageHtml } from './template.ts';

/** A section of a page, as the search finds it. */
export interface SearchText {
  readonly address: string;
  readonly page: string;
  /** The heading; empty for the beginning of a page. */
  readonly section: string;
  readonly text: string;
}

export interface SiteOptions {
  /** The root of the repository. */
  readonly root: string;
  readonly folder: string;
  /** The scripts and styles of pages with and without a playground. */
  readonly assets: Readonly<Record<'page' | 'playground', Omit<Assets, 'search'>>>;
}

const playgroundPage = 'docs/PLAYGROUND.md';
const cookbookPage = 'docs/COOKBOOK.md';

export function writePages({ root, folder, assets }: SiteOptions): void {
  const pages = pagePaths(root);
  const sources = new Map(pages.map((page) => [page, readFileSync(join(root, page), 'utf8')]));
  const pictures = new Set<string>();
  const titles = new Map([...sources].map(([page, source]) => [page, titleOf(source)]));
  const rendered = new Map(
    [...sources].map(([page, source]) => [
      page,
      renderMarkdown(source, (target) => targetOf({ root, page, target, titles, pictures })),
    ]),
  );
  const menu = menuOf({
    index: sources.get('docs/README.md') ?? '',
    titles,
    linksOf: (page) => linkedPages(page, sources.get(page) ?? ''),
  });
  const search = writeSearch(folder, rendered);
  for (const [page, { title, html, headings }] of rendered) {
    const { [page === playgroundPage ? 'playground' : 'page']: own } = assets;
    const shown = page === cookbookPage ? playgroundLinks(html, sources.get(page) ?? '') : html;
    write(
      join(folder, `${fileOf(page)}.html`),
      pageHtml({
        page,
        title,
        html: page === playgroundPage ? `${shown}<div id="try"></div>\n` : shown,
        headings,
        menu,
        assets: { ...own, search },
      }),
    );
  }
  for (const picture of pictures) {
    const target = join(folder, pictureOf(picture));
    mkdirSync(dirname(target), { recursive: true });
    copyFileSync(join(root, picture), target);
  }
  write(join(folder, '404.html'), missingPage(menu, { ...assets.page, search }));
}

/** The file of a page, without its ending: that of a folder is `index` in the folder. */
function fileOf(page: string): string {
  return page.endsWith('/README.md') ? posix.join(pathOnSite(page), 'index') : pathOnSite(page);
}

function pictureOf(path: string): string {
  return path.replace(/^docs\//, '');
}

function titleOf(source: string): string {
  return (/^# (.+)$/m.exec(source)?.[1] ?? '').replaceAll('`', '');
}

interface Link {
  readonly root: string;
  readonly page: string;
  readonly target: string;
  /** Titles of the pages by path. */
  readonly titles: ReadonlyMap<string, string>;
  /** Receives the paths of linked pictures. */
  readonly pictures: Set<string>;
}

function targetOf({ root, page, target, titles, pictures }: Link): LinkTarget | null {
  const [path = '', anchor = ''] = target.split('#');
  if (/^[a-z]+:/.test(target) || path === '') return { address: target, title: null };
  const to = posix.join(posix.dirname(page), decodeURIComponent(path)).replace(/\/$/, '');
  const found = [to, `${to}/README.md`].find((one) => titles.has(one));
  if (found !== undefined) {
    const address = `${addressOf(found)}${anchor === '' ? '' : `#${anchor}`}`;
    return { address, title: titles.get(found) ?? null };
  }
  const isPicture = /\.(png|svg)$/.test(to) && existsSync(join(root, to));
  if (!isPicture) return null;
  pictures.add(to);
  return { address: posix.join(documentationPath, pictureOf(to)), title: null };
}

function linkedPages(page: string, source: string): readonly string[] {
  return [...source.matchAll(/\]\(([^)\s#]+)(?:#[^)]*)?\)/g)].map(([, target = '']) =>
    posix.join(posix.dirname(page), target),
  );
}

function writeSearch(folder: string, rendered: ReadonlyMap<string, RenderedPage>): string {
  const texts = [...rendered].flatMap(([page, { title, headings, texts: parts }]) =>
    headings.map(
      ({ level, title: section, anchor }, at): SearchText => ({
        address: level === 1 ? addressOf(page) : `${addressOf(page)}#${anchor}`,
        page: title,
        section: level === 1 ? '' : section,
        text: parts[at] ?? '',
      }),
    ),
  );
  const json = JSON.stringify(texts);
  const name = `assets/search-${createHash('sha256').update(json).digest('hex').slice(0, 8)}.json`;
  write(join(folder, name), json);
  return `${documentationPath}/${name}`;
}

function missingPage(menu: readonly MenuGroup[], assets: Assets): string {
  const html = `<h1>This page is missing</h1>
<p>No page has this address. Search for it, or begin at <a href="${documentationPath}">the first page</a>.</p>
`;
  return pageHtml({ page: null, title: 'This page is missing', html, headings: [], menu, assets });
}

function write(path: string, text: string): void {
  mkdirSync(dirname(path), { recursive: true });
  writeFileSync(path, text);
}
