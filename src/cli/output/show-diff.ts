// Turns two texts into a unified diff: readable for people on a terminal, unchanged for programs.

import { escapeForTerminal } from '../../language/diagnostic/render.ts';
import { createMarks } from './output.ts';
import { unifiedDiff } from './text-diff.ts';

/**
 * Into a pipe the diff goes unchanged, for `patch`. On a terminal, characters that could control it are
 * escaped.
 */
export function showDiff(path: string, before: string, after: string): string {
  const diff = unifiedDiff(path, before, after);
  if (process.stdout.isTTY !== true) return diff;
  const marks = createMarks();
  return diff
    .split('\n')
    .map((line) => {
      const shown = line.split('\t').map(escapeForTerminal).join('\t');
      if (/^(---|\+\+\+|@@)/.test(line)) return marks.faint(shown);
      return line.startsWith('+') ? marks.good(shown) : line.startsWith('-') ? marks.bad(shown) : shown;
    })
    .join('\n');
}
