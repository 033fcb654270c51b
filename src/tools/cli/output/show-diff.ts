// A unified diff as people read it on a terminal, and unchanged for programs.

import { escapeForTerminal } from '../../../language/diagnostic/render.ts';
import { createMarks } from './output.ts';
import { unifiedDiff } from './text-diff.ts';

/** Into a pipe the diff goes as it is, for `patch`; on a terminal what could drive it is escaped. */
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
