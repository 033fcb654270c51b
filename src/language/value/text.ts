/**
 * Answers questions that rules and records ask about texts: folded forms that compare without case, lengths,
 * and forms that are safe to show. Every answer takes time linear in the text, whatever an agent puts into
 * the text.
 */

import { readCaseFolding } from './case-folding.ts';

const plainAscii = /^[\t-\r\x20-\x7e]*$/;
/** Words of visible ASCII with one space between them. */
const plainWords = /^[!-~]+(?: [!-~]+)*$/;
const ignorable = /\p{Default_Ignorable_Code_Point}+/gu;
/** White space, except for a single space between two characters. */
const whiteSpace = /\p{White_Space}{2,}|[^\P{White_Space} ]/gu;

/**
 * Limits on runs of combining marks: one for the text as received, one for the decomposed text. The runtime
 * takes quadratic time to sort such a run, so longer runs are cut. No writing system comes near the limits
 * (Unicode's own limit for streams is 30).
 */
const longMarks = { most: 60, form: /(\p{M}{60})\p{M}+/gu };
const longDecomposedMarks = { most: 30, form: /(\p{M}{30})\p{M}+/gu };
const markOrHalf = /[\p{M}\p{Cs}]/u;

/**
 * Returns the form that `ignoring case` compares: NFKC_Casefold (so without zero-width and other ignorable
 * characters), each run of white space as one space, none at the ends. Folding twice changes nothing.
 */
export function fold(text: string): string {
  if (plainWords.test(text)) return text.toLowerCase();
  if (plainAscii.test(text)) return collapse(text.toLowerCase());
  const visible = cutMarks(text.replace(ignorable, ''), longMarks);
  const decomposed = cutMarks(visible.normalize('NFKD'), longDecomposedMarks);
  return collapse(foldCharacters(decomposed).normalize('NFC'));
}

/**
 * Cuts runs of combining marks that are longer than `most`. Such a run covers a position that is a multiple
 * of `most`, so only those positions are checked.
 */
function cutMarks(text: string, { most, form }: typeof longMarks): string {
  for (let at = most; at < text.length; at += most) {
    const code = text.charCodeAt(at);
    if (code > 0x7f && markOrHalf.test(text[at]!)) return text.replace(form, '$1');
  }
  return text;
}

interface Folding {
  /** The folded form of each code point that folds to something else. */
  readonly folds: ReadonlyMap<number, string>;
  /**
   * By code point, 1 when the code point folds to something else. Most code points do not, and this table
   * answers that at once.
   */
  readonly isFolded: Uint8Array;
}

let folding: Folding | undefined;

/** Called for the first text that is not plain ASCII, because many programs never have such a text. */
function makeFolding(): Folding {
  const folds = new Map([...readCaseFolding()].map(([from, to]) => [from.codePointAt(0)!, to] as const));
  const isFolded = new Uint8Array(Math.max(...folds.keys()) + 1);
  for (const code of folds.keys()) isFolded[code] = 1;
  return { folds, isFolded };
}

function foldCharacters(text: string): string {
  folding ??= makeFolding();
  const { folds, isFolded } = folding;
  let folded = '';
  let done = 0;
  for (let at = 0; at < text.length; at += 1) {
    const code = text.codePointAt(at)!;
    const next = code > 0xffff ? at + 2 : at + 1;
    if (isFolded[code] === 1) {
      folded += text.slice(done, at) + folds.get(code)!;
      done = next;
    }
    at = next - 1;
  }
  return done === 0 ? text : folded + text.slice(done);
}

/** Returns the number of code points. */
export function length(text: string): number {
  let count = 0;
  for (let at = 0; at < text.length; at += 1) {
    if ((text.codePointAt(at) ?? 0) > 0xffff) at += 1;
    count += 1;
  }
  return count;
}

/** Returns the text in lower case, the same in every locale. */
export function lower(text: string): string {
  return text.toLowerCase();
}

/** Returns the text without white space and line ends at both ends. */
export function trim(text: string): string {
  return text.trim();
}

/** Returns the text, cut off after `codePointsMax` code points. */
export function cut(text: string, codePointsMax: number): string {
  let at = 0;
  for (let count = 0; count < codePointsMax && at < text.length; count += 1) {
    at += (text.codePointAt(at) ?? 0) > 0xffff ? 2 : 1;
  }
  return text.slice(0, at);
}

const visibleAscii = /^[ -~]*$/;
const control = /[\p{Cc}\p{Cs}\p{Zl}\p{Zp}\p{Bidi_Control}]/gu;
const shortEscapes: ReadonlyMap<string, string> = new Map([
  ['\n', '\\n'],
  ['\r', '\\r'],
  ['\t', '\\t'],
]);

/**
 * Returns the text with escapes (`\n`, `\u001b`) for control characters, line and paragraph separators,
 * bidirectional controls and lone surrogates. The result stays on one line and shows in the order in which it
 * is stored.
 */
export function escapeControls(text: string): string {
  if (visibleAscii.test(text)) return text;
  return text.replace(control, (character) => shortEscapes.get(character) ?? `\\u${hexOf(character)}`);
}

/** Whether the text consists of Unicode scalar values, without a lone surrogate. */
export function isScalarText(text: string): boolean {
  return text.isWellFormed();
}

const bidiControl = /\p{Bidi_Control}/u;

/** Whether the text holds characters that change the direction in which it is shown. */
export function hasBidiControls(text: string): boolean {
  return bidiControl.test(text);
}

function collapse(text: string): string {
  const spaced = text.replace(whiteSpace, ' ');
  return spaced.slice(spaced.startsWith(' ') ? 1 : 0, spaced.endsWith(' ') ? -1 : undefined);
}

function hexOf(character: string): string {
  const hex = (character.codePointAt(0) ?? 0).toString(16);
  return hex.length > 4 ? `{${hex}}` : hex.padStart(4, '0');
}
