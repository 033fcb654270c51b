// The menu of the site, as docs/README.md lists the pages: a group for each of its headings, an entry for each
// page in the first column of its tables. The pages of a folder stand below the page that introduces the folder.

import { dirname, posix } from 'node:path';

export interface MenuEntry {
  readonly title: string;
  /** The path of the page in the repository. */
  readonly page: string;
  readonly children: readonly MenuEntry[];
}

export interface MenuGroup {
  readonly title: string;
  readonly entries: readonly MenuEntry[];
}

/** The page that introduces each folder. Codes are many, and their page is their list. */
const introductions: ReadonlyMap<string, string> = new Map([
  ['docs/service', 'docs/SERVICE.md'],
  ['docs/cli', 'docs/CLI.md'],
  ['docs/integrations', 'docs/integrations/README.md'],
]);

interface MenuPages {
  readonly index: string;
  readonly titles: ReadonlyMap<string, string>;
  /** The targets of a page's links in their order, as paths in the repository. */
  readonly linksOf: (page: string) => readonly string[];
}

export function menuOf({ index, titles, linksOf }: MenuPages): readonly MenuGroup[] {
  const entryOf = (page: string): MenuEntry => {
    const folder = [...introductions].find(([, introduction]) => introduction === page)?.[0];
    const inside =
      folder === undefined ? [] : linksOf(page).filter((to) => dirname(to) === folder && to !== page);
    return {
      title: titles.get(page) ?? page,
      page,
      children: [...new Set(inside)].filter((to) => titles.has(to)).map(entryOf),
    };
  };
  return index
    .split(/^## /m)
    .slice(1)
    .map((part) => {
      const rows = part.matchAll(/^\| \[[^\]]*\]\(([^)#]+)\)/gm);
      const pages = [...rows].map(([, target = '']) => posix.join('docs', target));
      return {
        title: part.slice(0, part.indexOf('\n')),
        entries: pages.filter((page) => titles.has(page)).map(entryOf),
      };
    })
    .filter(({ entries }) => entries.length > 0);
}
