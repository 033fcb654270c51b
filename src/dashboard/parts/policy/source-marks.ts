// Cuts the coloured pieces of a line where marks begin and end, so that each part has one colour and one
// mark. INVARIANT: the parts joined together are the line.

import type { Piece } from '../../../language/assist/policy-words.ts';

type Tone = 'here' | 'error' | 'warning';

/** Columns count from 1, in code points; `to` is one past the last. */
export interface MarkedColumns {
  readonly from: number;
  readonly to: number;
  readonly tone: Tone;
}

export interface MarkedPiece extends Piece {
  readonly tone: Tone | null;
}

const weights: Readonly<Record<Tone, number>> = { here: 1, warning: 2, error: 3 };

/** Where marks overlap, the most serious is shown. A mark without width marks the character at its place. */
export function cutPieces(
  pieces: readonly Piece[],
  line: string,
  columns: readonly MarkedColumns[],
): readonly MarkedPiece[] {
  if (columns.length === 0) return pieces.map((piece) => ({ ...piece, tone: null }));
  const offset = offsetsOf(line);
  const marks = columns.map(({ from, to, tone }) => ({
    tone,
    start: offset(from),
    end: offset(Math.max(to, from + 1)),
  }));
  const cuts = [...new Set(marks.flatMap(({ start, end }) => [start, end]))].toSorted((a, b) => a - b);
  let at = 0;
  return pieces.flatMap(({ text, kind }) => {
    const start = at;
    at += text.length;
    const inner = cuts.filter((cut) => start < cut && cut < at);
    const bounds = [start, ...inner, at];
    return bounds.slice(1).map((end, index): MarkedPiece => {
      const begin = bounds[index] ?? start;
      const over = marks.filter((mark) => mark.start <= begin && end <= mark.end);
      const tone = over.reduce<Tone | null>(
        (gravest, mark) => (gravest === null || weights[mark.tone] > weights[gravest] ? mark.tone : gravest),
        null,
      );
      return { text: text.slice(begin - start, end - start), kind, tone };
    });
  });
}

/** Returns a function from a column to its offset in UTF-16 units; a column beyond the end gives the end. */
function offsetsOf(line: string): (column: number) => number {
  const offsets: number[] = [];
  let offset = 0;
  for (const character of line) {
    offsets.push(offset);
    offset += character.length;
  }
  return (column) => offsets[column - 1] ?? line.length;
}
