// Renders tables and other text for a terminal. INVARIANT: text from elsewhere cannot control the terminal, and a
// letter of another script within a word is seen.

import { codePointName, foreignLetters } from '../../language/value/scripts.ts';

/** The text with a mark in place of each control and formatting character. */
export function printable(text: string): string {
  return text.replaceAll(/[^\P{Cc}\n]|[\p{Cf}\p{Zl}\p{Zp}]/gu, '\u{FFFD}');
}

/** The text with its code point behind each letter that may deceive a reader: `Stа‹U+0430›ples`. */
export function markForeignLetters(text: string): string {
  const foreign = new Set(foreignLetters(text));
  if (foreign.size === 0) return text;
  return [...text]
    .map((one) => (foreign.has(one) ? `${one}\u2039${codePointName(one)}\u203a` : one))
    .join('');
}

/** Rows as aligned columns under their names. */
export function table(names: readonly string[], rows: readonly (readonly string[])[]): string {
  return createTable(names)(rows);
}

/**
 * A table whose rows arrive in parts. The returned function renders a part; the first part begins with the
 * column names.
 */
export function createTable(names: readonly string[]): (rows: readonly (readonly string[])[]) => string {
  const widths = names.map(() => 0);
  let isBegun = false;
  const line = (row: readonly string[]) =>
    row
      .map((cell, column) => cell.padEnd(widths[column] ?? 0))
      .join('  ')
      .trimEnd();
  return (rows) => {
    const heads = isBegun ? [] : [names.map((name) => name.toUpperCase())];
    isBegun = true;
    const cells = [...heads, ...rows.map((row) => row.map((cell) => printable(cell).replaceAll('\n', ' ')))];
    for (const [column] of names.entries())
      widths[column] = Math.max(widths[column] ?? 0, ...cells.map((row) => (row[column] ?? '').length));
    return cells.map((row) => `${line(row)}\n`).join('');
  };
}
