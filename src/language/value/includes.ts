// Whether one text contains another when agents choose both, in time linear in the two together. The
// runtime's own search is quick except for long parts that almost repeat themselves: for those it takes the
// product of both lengths.

/**
 * The longest part that the runtime's own search looks for. Up to this length the product of the lengths is
 * small, and the runtime is much quicker.
 */
const shortPartMax = 32;

/** Gives the same answer as `text.includes(part)`. */
export function includes(text: string, part: string): boolean {
  if (part.length <= shortPartMax || part.length >= text.length) return text.includes(part);
  return includesLong(text, part);
}

/** The part of a text's interface that the search uses. */
export interface CodeUnits {
  readonly length: number;
  charCodeAt(at: number): number;
}

/**
 * The search of Knuth, Morris and Pratt: no code unit of the text is passed twice. The part must not be
 * empty.
 */
export function includesLong(text: CodeUnits, part: CodeUnits): boolean {
  const borders = bordersOf(part);
  let matched = 0;
  for (let at = 0; at < text.length; at += 1) {
    const unit = text.charCodeAt(at);
    while (matched > 0 && part.charCodeAt(matched) !== unit) matched = borders[matched - 1]!;
    if (part.charCodeAt(matched) === unit) matched += 1;
    if (matched === part.length) return true;
  }
  return false;
}

/** For each prefix of the part, the length of its longest proper prefix that is also its suffix. */
function bordersOf(part: CodeUnits): Int32Array {
  const borders = new Int32Array(part.length);
  let border = 0;
  for (let at = 1; at < part.length; at += 1) {
    const unit = part.charCodeAt(at);
    while (border > 0 && part.charCodeAt(border) !== unit) border = borders[border - 1]!;
    if (part.charCodeAt(border) === unit) border += 1;
    borders[at] = border;
  }
  return borders;
}
