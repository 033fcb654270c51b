// Arranges cells in columns: text aligned to the left, figures to the right.

import { escapeForTerminal } from '../language/diagnostic/render.ts';

export type Align = 'left' | 'right';

/**
 * Returns one line a row, indented by two spaces; the first row is the head. Control characters are escaped.
 */
export function columns(rows: readonly (readonly string[])[], aligns: readonly Align[]): readonly string[] {
  const escapedRows = rows.map((row) => row.map(escapeForTerminal));
  const widths = aligns.map((_, at) => Math.max(...escapedRows.map((row) => [...(row[at] ?? '')].length)));
  return escapedRows.map((row) => {
    const cells = row.map((cell, at) => {
      const room = ' '.repeat(widths[at]! - [...cell].length);
      return aligns[at] === 'right' ? room + cell : cell + room;
    });
    return `  ${cells.join('  ')}`.trimEnd();
  });
}
