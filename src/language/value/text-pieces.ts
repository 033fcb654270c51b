// Splits a text into visible and invisible pieces (controls, marks that change the direction of reading, zero
// widths, fillers) and characters to mark: letters of another script within a word, and those that the caller
// names. INVARIANT: the pieces joined together are the text.

import { emojiSequence, invisibleCharacter } from './invisible.ts';
import { codePointName, foreignLetters, scriptsOf } from './scripts.ts';

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
  const pictures = new Map([...text.matchAll(emojiSequence)].map((match) => [match.index, match[0]]));
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
    else if (!invisibleCharacter.test(character) && mark === undefined) plain += character;
    else if (!invisibleCharacter.test(character)) {
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

/** At most the first `lengthMax` UTF-16 units; no character is cut in two. */
export function cutText(text: string, lengthMax: number): string {
  return text.slice(0, /[\ud800-\udbff]/.test(text[lengthMax - 1] ?? '') ? lengthMax - 1 : lengthMax);
}
