// Finds characters that a reader cannot see or that change the direction of reading: controls, format characters,
// other spaces, and fillers that draw nothing.

/** Controls, format characters (bidi marks, zero widths, tags), other spaces, lone surrogates, and fillers. */
export const invisibleCharacter =
  // biome-ignore lint/suspicious/noMisleadingCharacterClass: each is looked for by itself.
  /[\p{Cc}\p{Cf}\p{Zl}\p{Zp}\p{Cs}\p{Co}\p{Cn}\u00a0\u034f\u115f\u1160\u1680\u17b4\u17b5\u180b-\u180f\u2000-\u200a\u202f\u205f\u2800\u3000\u3164\uffa0\ufe00-\ufe0f\u{e0100}-\u{e01ef}]/u;

/** Joiners and variation selectors within an emoji are part of its picture. */
export const emojiSequence =
  /\p{Extended_Pictographic}(?:\p{Emoji_Modifier}|\ufe0f|\u200d\p{Extended_Pictographic})*/gu;

/** Whether the text has invisible characters beyond line feeds and the parts of emoji. */
export function hasInvisible(text: string): boolean {
  return invisibleCharacter.test(text.replace(emojiSequence, '').replaceAll('\n', ''));
}
