// Turns prefixes into a structure that finds all prefixes of a text, whatever their lengths. The prefixes are
// sorted, and each one refers to the longest other prefix that it begins with. The last one that does not
// come after a text begins with all prefixes of the text, so one search finds them all. INVARIANT: a rule is
// found once for each of its prefixes that the text has, and for no other.

export interface Prefixes {
  /** The prefixes, in ascending order of code units. */
  readonly texts: readonly string[];
  /** By the place of a prefix, the place of the longest other prefix that it begins with; -1 for none. */
  readonly shorter: Int32Array;
  readonly postings: Postings;
}

export function createPrefixes(filed: readonly { rule: number; text: string }[]): Prefixes {
  const texts = [...new Set(filed.map(({ text }) => text))].sort();
  const count = new Map(texts.map((text, index) => [text, index] as const));
  const postings = filed.map(({ rule, text }): PrefixPosting => ({ index: count.get(text)!, rule }));
  const shorter = new Int32Array(texts.length);
  for (const [place, text] of texts.entries()) {
    let before = place - 1;
    while (before >= 0 && !text.startsWith(texts[before]!)) before = shorter[before]!;
    shorter[place] = before;
  }
  return { texts, shorter, postings: fileAll(postings, texts.length) };
}

/** Appends the rules of all prefixes of the text to `found`, from `from` on. Returns the new count. */
export function findPrefixes(prefixes: Prefixes, text: string, firing: Int32Array, from: number): number {
  const { texts, shorter, postings } = prefixes;
  let low = 0;
  let high = texts.length;
  // The prefixes next to the range share this many code units with the text, and every prefix within the
  // range shares at least the smaller number.
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
  for (let index = low - 1; index >= 0; index = shorter[index]!) {
    if (texts[index]!.length > commonLow) continue;
    const to = postings.offsets[index + 1]!;
    for (let at = postings.offsets[index]!; at < to; at += 1) {
      firing[count] = postings.rules[at]!;
      count += 1;
    }
  }
  return count;
}

/** Returns how many code units two texts have in common at the start. `from` of them are already known. */
function commonLength(a: string, b: string, from: number): number {
  const length = Math.min(a.length, b.length);
  let common = from;
  while (common < length && a.charCodeAt(common) === b.charCodeAt(common)) common += 1;
  return common;
}

// Packs rules by place: those of place p are `rules[offsets[p]]` up to `rules[offsets[p + 1]]`, end excluded,
// in the order of filing.

export interface Postings {
  readonly offsets: Int32Array;
  readonly rules: Int32Array;
}

export interface PrefixPosting {
  readonly index: number;
  readonly rule: number;
}

/** Files all postings. Places must be below `places`. */
export function fileAll(postings: readonly PrefixPosting[], count: number): Postings {
  const offsets = new Int32Array(count + 1);
  for (const { index } of postings) offsets[index + 1]! += 1;
  for (let place = 0; place < count; place += 1) offsets[place + 1]! += offsets[place]!;
  const rules = new Int32Array(postings.length);
  const next = offsets.slice(0, count);
  for (const { index: place, rule } of postings) {
    rules[next[place]!] = rule;
    next[place]! += 1;
  }
  return { offsets, rules };
}
