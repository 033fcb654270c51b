// Converts lines and columns in code points, as diagnostics use, into offsets in UTF-16 units, as an editor
// uses; and applies edits to a text.

export interface LineRange {
  readonly line: number;
  readonly column: number;
  readonly end_line: number;
  /** One past the last character. */
  readonly end_column: number;
}

export interface TextEdit extends LineRange {
  readonly text: string;
}

/** A column beyond the end of a line, or a line beyond the text, counts as that end. */
export function rangeOf(text: string, range: LineRange): { readonly from: number; readonly to: number } {
  const from = offsetOf(text, range.line, range.column);
  return { from, to: Math.max(from, offsetOf(text, range.end_line, range.end_column)) };
}

function offsetOf(text: string, line: number, column: number): number {
  let start = 0;
  for (let number = 1; number < line; number += 1) {
    const end = text.indexOf('\n', start);
    if (end === -1) return text.length;
    start = end + 1;
  }
  const end = text.indexOf('\n', start);
  const before = Array.from(text.slice(start, end === -1 ? text.length : end)).slice(0, column - 1);
  return start + before.join('').length;
}

/** The edits must not overlap; their places refer to the text before all of them. */
export function applyEdits(text: string, edits: readonly TextEdit[]): string {
  const ranges = edits
    .map((edit) => ({ ...rangeOf(text, edit), text: edit.text }))
    .toSorted((a, b) => b.from - a.from);
  return ranges.reduce(
    (now, { from, to, text: inserted }) => now.slice(0, from) + inserted + now.slice(to),
    text,
  );
}

/** The shortest single change that turns one text into the other; null when they are equal. */
export function changeBetween(
  before: string,
  after: string,
): { readonly from: number; readonly to: number; readonly insert: string } | null {
  if (before === after) return null;
  const lengthMax = Math.min(before.length, after.length);
  let start = 0;
  while (start < lengthMax && before[start] === after[start]) start += 1;
  let end = 0;
  while (end < lengthMax - start && before[before.length - 1 - end] === after[after.length - 1 - end])
    end += 1;
  return { from: start, to: before.length - end, insert: after.slice(start, after.length - end) };
}
