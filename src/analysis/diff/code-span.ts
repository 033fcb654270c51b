// Writes a text as a code span of Markdown, whatever characters the text holds.

import { escapeForTerminal } from '../../language/diagnostic/render.ts';

/** The text as a code span, between more backticks than it holds in a row. */
export function codeSpan(text: string): string {
  const shown = escapeForTerminal(text);
  const longest = Math.max(0, ...[...shown.matchAll(/`+/g)].map(([ticks]) => ticks.length));
  const ticks = '`'.repeat(longest + 1);
  return longest === 0 ? `${ticks}${shown}${ticks}` : `${ticks} ${shown} ${ticks}`;
}
