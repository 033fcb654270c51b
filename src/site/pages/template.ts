// The frame of every page: head, menu, text. It names no address outside of the site but the dashboard's, and has
// no script or style inside, because the content policy allows none.

import { documentationPath } from '../address.ts';
import { escapeHtml, type Heading } from './markdown.ts';
import type { MenuEntry, MenuGroup } from './menu.ts';
import { addressOf } from './sources.ts';

/** The addresses of what a page loads. */
export interface Assets {
  readonly styles: readonly string[];
  readonly script: string;
  /** The texts for the search. */
  readonly search: string;
}

export interface PageParts {
  /** The path in the repository; null for a page that is not there. */
  readonly page: string | null;
  readonly title: string;
  readonly html: string;
  readonly headings: readonly Heading[];
  readonly menu: readonly MenuGroup[];
  readonly assets: Assets;
}

export function pageHtml({ page, title, html, headings, menu, assets }: PageParts): string {
  const styles = assets.styles.map((href) => `<link rel="stylesheet" href="${href}" />`).join('\n    ');
  return `<!doctype html>
<html lang="en" data-search="${assets.search}">
  <head>
    <meta charset="utf-8" />
    <meta name="viewport" content="width=device-width, initial-scale=1" />
    <meta name="color-scheme" content="light dark" />
    <meta name="referrer" content="no-referrer" />
    <title>${title === home ? home : `${escapeHtml(title)} – ${home}`}</title>
    <link rel="icon" href="${documentationPath}/icon.svg" type="image/svg+xml" />
    <link rel="stylesheet" href="${documentationPath}/layers.css" />
    ${styles}
    <script src="${documentationPath}/theme-early.js"></script>
    <script type="module" src="${assets.script}"></script>
  </head>
  <body>
    <a class="skip" href="#content">Skip to the text</a>
    <header class="site-head">
      <button type="button" class="button menu-button" aria-expanded="false" aria-controls="menu" hidden>Menu</button>
      <a class="site-name" href="${documentationPath}">Writ <span>documentation</span></a>
      <div class="search" role="search" hidden></div>
      <label class="theme" hidden><span class="visually-hidden">Theme</span>
        <select><option value="system">System</option><option value="light">Light</option><option value="dark">Dark</option></select>
      </label>
      <a class="to-dashboard" href="/">Dashboard</a>
    </header>
    <nav id="menu" class="menu" aria-label="Pages">
${menuHtml(menu, page)}    </nav>
    <main id="content" tabindex="-1">
${contentsHtml(headings)}      <article>
${html}      </article>
    </main>
  </body>
</html>
`;
}

const home = 'Writ documentation';

function menuHtml(menu: readonly MenuGroup[], page: string | null): string {
  return menu
    .map(({ title, entries }) => `<h2>${escapeHtml(title)}</h2>\n<ul>\n${entriesHtml(entries, page)}</ul>\n`)
    .join('');
}

function entriesHtml(entries: readonly MenuEntry[], page: string | null): string {
  return entries
    .map((entry) => {
      const current = entry.page === page ? ' aria-current="page"' : '';
      const isOpen = entry.page === page || entry.children.some((child) => child.page === page);
      const inside =
        isOpen && entry.children.length > 0 ? `\n<ul>\n${entriesHtml(entry.children, page)}</ul>` : '';
      return `<li><a href="${addressOf(entry.page)}"${current}>${escapeHtml(entry.title)}</a>${inside}</li>\n`;
    })
    .join('');
}

const headingsMin = 3;

/** What is on a page with several headings. */
function contentsHtml(headings: readonly Heading[]): string {
  const inside = headings.filter(({ level }) => level === 2);
  if (inside.length < headingsMin) return '';
  const links = inside.map(({ title, anchor }) => `<li><a href="#${anchor}">${escapeHtml(title)}</a></li>`);
  return `      <details class="contents"><summary>On this page</summary><ul>\n${links.join('\n')}\n</ul></details>\n`;
}
