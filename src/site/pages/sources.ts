// Which files of the repository are pages of the site, and the address of each. Pages for contributors to the code
// (`src`, `test`) stay in the repository.

import { globSync } from 'node:fs';
import { posix } from 'node:path';
import { documentationPath } from '../address.ts';

/** Pages outside of `docs`. */
const others = [
  'README.md',
  'CHANGELOG.md',
  'CONTRIBUTING.md',
  'SECURITY.md',
  'bench/README.md',
  'bench/results/*.md',
  'examples/**/*.md',
  'integrations/**/*.md',
  'policies/**/*.md',
];

/** Paths of all pages from the root of the repository, with `/`, sorted. */
export function pagePaths(root: string): readonly string[] {
  return globSync(['docs/**/*.md', ...others], { cwd: root, exclude: ['**/node_modules/**'] })
    .map((path) => path.replaceAll('\\', '/'))
    .toSorted();
}

/**
 * The path of a page below the documentation's: `docs/LANGUAGE.md` is `language`, `docs/README.md` is the empty
 * text, and `policies/README.md` is `repository/policies`.
 */
export function pathOnSite(page: string): string {
  const inside = page.startsWith('docs/') ? page.slice('docs/'.length) : `repository/${page}`;
  const name = inside.replace(/\.md$/, '');
  // The page of a folder stands for the folder; the repository's own README has a name of its own.
  const folder = name === 'repository/README' ? 'repository/readme' : name.replace(/(^|\/)README$/, '');
  return folder.toLowerCase();
}

export function addressOf(page: string): string {
  return posix.join(documentationPath, pathOnSite(page));
}
