/**
 * Whether one text stands in another, where both are an agent's: in time linear in the two together. The runtime's own
 * search is quick but for long parts that almost repeat themselves, where it takes the product of both lengths.
 */

/** For shorter parts the product is small, and the runtime's search much quicker. */
const shortPartMax = 32;

/** As `text.includes(part)`. */
export function includes(text: string, part: string): boolean {
  if (part.length <= shortPartMax || part.length >= text.length) return text.includes(part);
  return includesLong(text, part);
}

/** What is read of a text. */
export interface CodeUnits {
  readonly length: number;
  charCodeAt(at: number): number;
}

/** Knuth, Morris and Pratt: no code unit of the text is passed twice. The part is not empty. */
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

/** How long the longest proper beginning of each beginning is that is its end, too. */
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
