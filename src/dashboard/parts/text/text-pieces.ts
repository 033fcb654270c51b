// Splits a text into visible and invisible pieces (controls, marks that change the direction of reading, zero
// widths, fillers) and characters to mark: letters of another script within a word, and those that the caller
// names. INVARIANT: the pieces joined together are the text.

import { codePointName, foreignLetters, scriptsOf } from '../../../language/value/scripts.ts';

/**
 * Controls, format characters (bidi marks, zero widths, tags), other spaces, lone surrogates, and fillers
 * that draw nothing.
 */
const invisible =
  // biome-ignore lint/suspicious/noMisleadingCharacterClass: each is looked for by itself.
  /[\p{Cc}\p{Cf}\p{Zl}\p{Zp}\p{Cs}\p{Co}\p{Cn}\u00a0\u034f\u115f\u1160\u1680\u17b4\u17b5\u180b-\u180f\u2000-\u200a\u202f\u205f\u2800\u3000\u3164\uffa0\ufe00-\ufe0f\u{e0100}-\u{e01ef}]/u;

/** Joiners and variation selectors within an emoji are part of its picture. */
const emoji = /\p{Extended_Pictographic}(?:\p{Emoji_Modifier}|\ufe0f|\u200d\p{Extended_Pictographic})*/gu;

export interface TextPiece {
  readonly text: string;
  /** Such as "U+202E" when the piece is one invisible character; else null. */
  readonly codePoint: string | null;
  /** The explanation of a marked character when the piece is one; else null. */
  readonly mark: string | null;
}

/** Explanations by character. */
export type CharacterMarks = ReadonlyMap<string, string>;

/** The pieces of a text, which together are the whole text. Line feeds are left as they are. */
export function textPieces(text: string, marks: CharacterMarks | null = null): readonly TextPiece[] {
  const foreign = foreignMarks(text);
  const pictures = new Map([...text.matchAll(emoji)].map((match) => [match.index, match[0]]));
  const pieces: TextPiece[] = [];
  let plain = '';
  const flush = (): void => {
    if (plain !== '') pieces.push({ text: plain, codePoint: null, mark: null });
    plain = '';
  };
  for (let index = 0; index < text.length; ) {
    const picture = pictures.get(index);
    const character = picture ?? String.fromCodePoint(text.codePointAt(index) ?? 0);
    const mark = marks?.get(character) ?? foreign.get(character);
    if (picture !== undefined || character === '\n') plain += character;
    else if (!invisible.test(character) && mark === undefined) plain += character;
    else if (!invisible.test(character)) {
      flush();
      pieces.push({ text: character, codePoint: null, mark: mark ?? null });
    } else {
      flush();
      pieces.push({ text: character, codePoint: codePointName(character), mark: null });
    }
    index += character.length;
  }
  flush();
  return pieces;
}

/** Explanations of the letters of a text that may deceive a reader: `a Cyrillic letter, U+0430`. */
function foreignMarks(text: string): CharacterMarks {
  return new Map(
    foreignLetters(text).map((letter) => [
      letter,
      `a letter of another script: ${scriptsOf(letter).join(', ')}, ${codePointName(letter)}`,
    ]),
  );
}

/** Whether a word of the text mixes scripts, so that it may pass for another word. */
export function hasForeignLetters(text: string): boolean {
  return foreignLetters(text).length > 0;
}

export function hasInvisible(text: string): boolean {
  return textPieces(text).some(({ codePoint }) => codePoint !== null);
}

/** At most the first `lengthMax` UTF-16 units; no character is cut in two. */
export function cutText(text: string, lengthMax: number): string {
  return text.slice(0, /[\ud800-\udbff]/.test(text[lengthMax - 1] ?? '') ? lengthMax - 1 : lengthMax);
}
