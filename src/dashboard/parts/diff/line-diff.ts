// The lines of two texts as a person reads a change: numbered, in stretches near a change.

import { lineChanges } from '../../../language/assist/line-changes.ts';

export interface DiffLine {
  readonly kind: 'kept' | 'gone' | 'new';
  /** The line without its line break. */
  readonly text: string;
  /** Number of the line in its text, from 1; for a kept line, its number in the new text. */
  readonly line: number;
}

export function diffLines(before: string, after: string): readonly DiffLine[] {
  const at = { gone: 0, new: 0 };
  return lineChanges(before, after).flatMap(({ kind, lines }) =>
    lines.map((line) => {
      if (kind !== 'new') at.gone += 1;
      if (kind !== 'gone') at.new += 1;
      return { kind, text: line.replace(/\n$/, ''), line: kind === 'gone' ? at.gone : at.new };
    }),
  );
}

const contextLines = 2;

/** Stretches of lines near a change; the lines between the stretches are unchanged. */
export function hunksOf(lines: readonly DiffLine[]): readonly (readonly DiffLine[])[] {
  const hunks: DiffLine[][] = [];
  let last = -1;
  for (const [index, line] of lines.entries()) {
    const isNear = lines
      .slice(Math.max(0, index - contextLines), index + contextLines + 1)
      .some(({ kind }) => kind !== 'kept');
    if (!isNear) continue;
    if (index !== last + 1 || hunks.length === 0) hunks.push([]);
    hunks.at(-1)?.push(line);
    last = index;
  }
  return hunks;
}
