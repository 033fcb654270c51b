// Beginnings of texts into a structure that finds all that a text begins with, whatever their lengths: sorted, each with
// the longest other that it begins with itself. The last that does not come after a text begins with all those that the
// text begins with, so that one search finds them. INVARIANT: a rule is found once for each of its beginnings that the
// text has, and for no other.

import { fileAll, type Posting, type Postings } from './postings.ts';

export interface Prefixes {
  /** By code units, ascending. */
  readonly texts: readonly string[];
  /** By place of a text, the place of the longest other that it begins with; -1 for none. */
  readonly shorter: Int32Array;
  readonly postings: Postings;
}

export function createPrefixes(filed: readonly { rule: number; text: string }[]): Prefixes {
  const texts = [...new Set(filed.map(({ text }) => text))].sort();
  const places = new Map(texts.map((text, place) => [text, place] as const));
  const postings = filed.map(({ rule, text }): Posting => ({ place: places.get(text)!, rule }));
  const shorter = new Int32Array(texts.length);
  for (const [place, text] of texts.entries()) {
    let before = place - 1;
    while (before >= 0 && !text.startsWith(texts[before]!)) before = shorter[before]!;
    shorter[place] = before;
  }
  return { texts, shorter, postings: fileAll(postings, texts.length) };
}

/** Appends the rules of all beginnings of the text to `found`, from `from` on; returns the new count. */
export function findPrefixes(prefixes: Prefixes, text: string, found: Int32Array, from: number): number {
  const { texts, shorter, postings } = prefixes;
  let low = 0;
  let high = texts.length;
  // What the text has in common with the texts before and after the range, all those in it have too.
  let commonLow = 0;
  let commonHigh = 0;
  while (low < high) {
    const middle = (low + high) >>> 1;
    const other = texts[middle]!;
    const common = commonLength(other, text, commonLow < commonHigh ? commonLow : commonHigh);
    const isAfter =
      common < other.length && (common === text.length || other.charCodeAt(common) > text.charCodeAt(common));
    if (isAfter) {
      high = middle;
      commonHigh = common;
    } else {
      low = middle + 1;
      commonLow = common;
    }
  }
  let count = from;
  for (let place = low - 1; place >= 0; place = shorter[place]!) {
    if (texts[place]!.length > commonLow) continue;
    const to = postings.offsets[place + 1]!;
    for (let at = postings.offsets[place]!; at < to; at += 1) {
      found[count] = postings.rules[at]!;
      count += 1;
    }
  }
  return count;
}

/** How many code units two texts begin with alike, of which `from` are known. */
function commonLength(a: string, b: string, from: number): number {
  const length = Math.min(a.length, b.length);
  let common = from;
  while (common < length && a.charCodeAt(common) === b.charCodeAt(common)) common += 1;
  return common;
}
