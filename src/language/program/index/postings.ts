// Packs rules by place: those of place p are `rules[offsets[p]]` up to `rules[offsets[p + 1]]`, end excluded,
// in the order of filing.

export interface Postings {
  readonly offsets: Int32Array;
  readonly rules: Int32Array;
}

export interface Posting {
  readonly place: number;
  readonly rule: number;
}

/** Files all postings. Places must be below `places`. */
export function fileAll(postings: readonly Posting[], places: number): Postings {
  const offsets = new Int32Array(places + 1);
  for (const { place } of postings) offsets[place + 1]! += 1;
  for (let place = 0; place < places; place += 1) offsets[place + 1]! += offsets[place]!;
  const rules = new Int32Array(postings.length);
  const next = offsets.slice(0, places);
  for (const { place, rule } of postings) {
    rules[next[place]!] = rule;
    next[place]! += 1;
  }
  return { offsets, rules };
}
