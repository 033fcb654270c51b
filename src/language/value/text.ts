/**
 * Questions about texts that rules and records ask: folded forms for comparing without case, words mentioned, links,
 * and forms that are safe to show. Every answer takes time linear in the text, whatever an agent puts into it.
 */

import { readCaseFolding } from './case-folding.ts';

const plainAscii = /^[\t-\r\x20-\x7e]*$/;
/** Words of visible ASCII with one space between them. */
const plainWords = /^[!-~]+(?: [!-~]+)*$/;
const ignorable = /\p{Default_Ignorable_Code_Point}+/gu;
/** White space but for one space between two characters. */
const whiteSpace = /\p{White_Space}{2,}|[^\P{White_Space} ]/gu;

/**
 * Sorting a run of combining marks takes the runtime quadratic time, so longer ones are cut, first in the text as it
 * stands and then decomposed. No writing system comes near (Unicode's own limit for streams is 30).
 */
const longMarks = { most: 60, form: /(\p{M}{60})\p{M}+/gu };
const longDecomposedMarks = { most: 30, form: /(\p{M}{30})\p{M}+/gu };
const markOrHalf = /[\p{M}\p{Cs}]/u;

/**
 * The form in which `ignoring case` compares: NFKC_Casefold (so without zero-width and other ignorable characters),
 * runs of white space as one space, none at the ends. Folding twice changes nothing.
 */
export function fold(text: string): string {
  if (plainWords.test(text)) return text.toLowerCase();
  if (plainAscii.test(text)) return collapse(text.toLowerCase());
  const visible = cutMarks(text.replace(ignorable, ''), longMarks);
  const decomposed = cutMarks(visible.normalize('NFKD'), longDecomposedMarks);
  return collapse(foldCharacters(decomposed).normalize('NFC'));
}

/** A run of more marks than `most` has one at a place that is divided by so many; others need not be looked at. */
function cutMarks(text: string, { most, form }: typeof longMarks): string {
  for (let at = most; at < text.length; at += most) {
    const code = text.charCodeAt(at);
    if (code > 0x7f && markOrHalf.test(text[at]!)) return text.replace(form, '$1');
  }
  return text;
}

interface Folding {
  /** What each code point that folds to another one folds to. */
  readonly folds: ReadonlyMap<number, string>;
  /** By code point, whether it folds to another one: most do not, and are told at once. */
  readonly isFolded: Uint8Array;
}

let folding: Folding | undefined;

/** Made for the first text that is not plain, as many programs never have one. */
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

/** The number of code points. */
export function length(text: string): number {
  let count = 0;
  for (let at = 0; at < text.length; at += 1) {
    if ((text.codePointAt(at) ?? 0) > 0xffff) at += 1;
    count += 1;
  }
  return count;
}

/** The text in lower case, the same in every locale. */
export function lower(text: string): string {
  return text.toLowerCase();
}

/** The text without white space and line ends at both ends. */
export function trim(text: string): string {
  return text.trim();
}

/** The text, or its first code points when it has more than so many. */
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
 * The text with escapes (`\n`, `\u001b`) for control characters, line and paragraph separators, bidirectional controls
 * and lone surrogates: it stays on its line and shows in the order in which it is stored.
 */
export function escapeControls(text: string): string {
  if (visibleAscii.test(text)) return text;
  return text.replace(control, (character) => shortEscapes.get(character) ?? `\\u${hexOf(character)}`);
}

/** Whether the text is made of Unicode scalar values: no surrogate stands alone. */
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
