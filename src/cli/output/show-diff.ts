// Turns two texts into a unified diff: readable for people on a terminal, unchanged for programs.

import { unifiedDiff } from '../../language/assist/unified-diff.ts';
import { escapeForTerminal } from '../../language/diagnostic/render.ts';
import { createMarks } from './output.ts';

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
      const escaped = line.split('\t').map(escapeForTerminal).join('\t');
      if (/^(---|\+\+\+|@@)/.test(line)) return marks.faint(escaped);
      return line.startsWith('+') ? marks.good(escaped) : line.startsWith('-') ? marks.bad(escaped) : escaped;
    })
    .join('\n');
}
