// Returns the page of a diagnostic's code under docs/diagnostics, for readers who do not have the folder at
// hand. INVARIANT: only pages of known codes are read, whatever is asked for.

import { readFileSync } from 'node:fs';
import { codes } from '../../language/diagnostic/codes.ts';

/** Returns Markdown without links into the folder; null when there is no page. */
export function diagnosticPage(code: string): string | null {
  if (!Object.hasOwn(codes, code)) return null;
  try {
    const page = readFileSync(new URL(`../../../docs/diagnostics/${code}.md`, import.meta.url), 'utf8');
    return page.replace(/\[([^\]]*)\]\((?!https?:)[^)]*\)/g, '$1');
  } catch (error) {
    if (error instanceof Error && 'code' in error && error.code === 'ENOENT') return null;
    throw error;
  }
}
