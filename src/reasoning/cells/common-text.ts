// Determines whether some string matches both of two patterns. If both are literal texts with gaps between
// them, their ends decide; globs and tests of a beginning, an end or a part have this form. Otherwise their
// automata decide.

import { anyTextPattern } from './programs.ts';
import { textVectors } from './text-vectors.ts';

/** Whether some text may match both patterns; also true if that is not known. */
export function mayHaveCommonText(first: string, second: string): boolean {
  const [one, other] = [literalParts(first), literalParts(second)];
  if (one !== null && other !== null && one.length > 1 && other.length > 1) return haveCommonEnds(one, other);
  const vectors = textVectors([first, second]);
  return vectors === null || vectors.some(({ answers }) => answers.every(Boolean));
}

/**
 * Whether the ends of two patterns go together. Between its ends, a text may hold everything that both
 * patterns require, one after the other.
 */
function haveCommonEnds(one: readonly string[], other: readonly string[]): boolean {
  const [start, otherStart] = [one[0]!, other[0]!];
  const [end, otherEnd] = [one.at(-1)!, other.at(-1)!];
  return (
    (start.startsWith(otherStart) || otherStart.startsWith(start)) &&
    (end.endsWith(otherEnd) || otherEnd.endsWith(end))
  );
}

const special = /[\\.+*?()|[\]{}^$]/;

/** The ways to write a gap. They differ in line feeds alone, which no literal text here has. */
const gaps = ['.*', anyTextPattern];

/** The literal texts before, between and after gaps; null for a pattern of another form. */
function literalParts(pattern: string): readonly string[] | null {
  const parts: string[] = [];
  let part = '';
  for (let at = 0; at < pattern.length; at += 1) {
    const gap = gaps.find((one) => pattern.startsWith(one, at));
    if (gap !== undefined) {
      parts.push(part);
      part = '';
      at += gap.length - 1;
    } else {
      const isEscaped = pattern[at] === '\\' && special.test(pattern[at + 1] ?? '');
      if (isEscaped) at += 1;
      else if (special.test(pattern[at]!) || pattern[at] === '\n') return null;
      part += pattern[at];
    }
  }
  return [...parts, part];
}
