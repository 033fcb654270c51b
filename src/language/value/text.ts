// Answers questions that rules and records ask about texts: folded forms that compare without case, lengths,
// and forms that are safe to show. Every answer takes time linear in the text, whatever an agent puts into
// the text.

/**
 * Full case folding of Unicode 17.0 (CaseFolding.txt, statuses C and F). The table covers the characters that
 * are their own compatibility decomposition; every other character is decomposed first. The table is pinned,
 * so that a policy means the same on every runtime. Normal forms need no table, because those of assigned
 * characters never change.
 */

/** The version of Unicode that case folding follows. */
export const unicodeVersion = '17.0';

/**
 * Runs of characters that fold by adding one number to their code, in hexadecimal: `41-5a+32` covers A to Z,
 * `182-184/2+1` every second character from 182 to 184, `c6+32` one character.
 */
const runs = `
41-5a+32 c6+32 d0+32 d8+32 de+32 110+1 126+1 141+1 14a+1 152+1 166+1 181+210 182-184/2+1 186+206 187+1
189-18a+205 18b+1 18e+79 18f+202 190+203 191+1 193+205 194+207 196+211 197+209 198+1 19c+211 19d+213
19f+214 1a2-1a4/2+1 1a6+218 1a7+1 1a9+218 1ac+1 1ae+218 1b1-1b2+217 1b3-1b5/2+1 1b7+219 1b8+1 1bc+1 1e4+1
1f6-97 1f7-56 21c+1 220-130 222-224/2+1 23a+10795 23b+1 23d-163 23e+10792 241+1 243-195 244+69 245+71
246-24e/2+1 345+116 370-372/2+1 376+1 37f+116 391-3a1+32 3a3-3a9+32 3c2+1 3cf+8 3d8-3ee/2+1 3f7+1 3fa+1
3fd-3ff-130 402-404/2+80 405-406+80 408-40b+80 40f+80 410-418+32 41a-42f+32 460-474/2+1 478-480/2+1
48a-4be/2+1 4c0+15 4c3-4cd/2+1 4d4+1 4d8+1 4e0+1 4e8+1 4f6+1 4fa-52e/2+1 531-556+48 10a0-10c5+7264
10c7+7264 10cd+7264 13f8-13fd-8 1c80-6222 1c81-6221 1c82-6212 1c83-1c84-6210 1c85-6211 1c86-6204 1c87-6180
1c88+35267 1c89+1 1c90-1cba-3008 1cbd-1cbf-3008 1efa-1efe/2+1 2132+28 2183+1 2c00-2c2f+48 2c60+1 2c62-10743
2c63-3814 2c64-10727 2c67-2c6b/2+1 2c6d-10780 2c6e-10749 2c6f-10783 2c70-10782 2c72+1 2c75+1
2c7e-2c7f-10815 2c80-2ce2/2+1 2ceb-2ced/2+1 2cf2+1 a640-a66c/2+1 a680-a69a/2+1 a722-a72e/2+1 a732-a76e/2+1
a779-a77b/2+1 a77d-35332 a77e-a786/2+1 a78b+1 a78d-42280 a790-a792/2+1 a796-a7a8/2+1 a7aa-42308 a7ab-42319
a7ac-42315 a7ad-42305 a7ae-42308 a7b0-42258 a7b1-42282 a7b2-42261 a7b3+928 a7b4-a7c2/2+1 a7c4-48 a7c5-42307
a7c6-35384 a7c7-a7c9/2+1 a7cb-42343 a7cc-a7da/2+1 a7dc-42561 a7f5+1 ab70-abbf-38864 10400-10427+40
104b0-104d3+40 10570-1057a+39 1057c-1058a+39 1058c-10592+39 10594-10595+39 10c80-10cb2+64 10d50-10d65+32
118a0-118bf+32 16e40-16e5f+32 16ea0-16eb8+27 1e900-1e921+34
`;

const runForm = /^([0-9a-f]+)(?:-([0-9a-f]+))?(\/2)?([+-]\d+)$/;

/** The only characters that still fold to more than one character. */
const toSeveral: readonly (readonly [string, string])[] = [
  ['\u00df', 'ss'],
  ['\u1e9e', 'ss'],
];

/** Returns what each character folds to. A character that is missing folds to itself. */
export function readCaseFolding(): ReadonlyMap<string, string> {
  return new Map([...runs.trim().split(/\s+/).flatMap(readRun), ...toSeveral]);
}

function readRun(run: string): [string, string][] {
  const [, first = '', last = first, step, offset = ''] = runForm.exec(run) ?? [];
  const [from, to, stride] = [
    Number.parseInt(first, 16),
    Number.parseInt(last, 16),
    step === undefined ? 1 : 2,
  ];
  const pairs: [string, string][] = [];
  for (let code = from; code <= to; code += stride) {
    pairs.push([String.fromCodePoint(code), String.fromCodePoint(code + Number(offset))]);
  }
  return pairs;
}

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

interface FoldingRules {
  /** The folded form of each code point that folds to something else. */
  readonly folds: ReadonlyMap<number, string>;
  /**
   * By code point, 1 when the code point folds to something else. Most code points do not, and this table
   * answers that at once.
   */
  readonly isFolded: Uint8Array;
}

let folding: FoldingRules | undefined;

/** Called for the first text that is not plain ASCII, because many programs never have such a text. */
function makeFolding(): FoldingRules {
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

/** Whether the text has characters that change the direction in which it is shown. */
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
