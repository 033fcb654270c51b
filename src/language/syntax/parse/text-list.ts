// Lists of texts, such as `["a", "b"]` behind `in`, as single tokens: most long lists are of this kind, and a
// token and a node for each of their texts would take longer than the rest of their files. A list that holds
// anything else (an escape, a comment, another value) is read token by token.

const characters = { quote: 34, comma: 44, openSquare: 91, backslash: 92, closeSquare: 93 } as const;
const lineEnds: readonly number[] = [10, 13];
const blanks: readonly number[] = [9, 10, 13, 32];

/**
 * Returns the offset behind the list that begins at `offset`: two quoted texts or more, without escapes, and
 * nothing else but blanks and the commas between them. Null for any other list.
 */
export function textListEnd(text: string, offset: number): number | null {
  let at = offset;
  let separator: number = characters.openSquare;
  for (let count = 0; ; count++) {
    if (text.charCodeAt(at) !== separator) {
      return count > 1 && text.charCodeAt(at) === characters.closeSquare ? at + 1 : null;
    }
    const close = textEnd(text, behindBlanks(text, at + 1));
    if (close === null) return null;
    at = behindBlanks(text, close);
    separator = characters.comma;
  }
}

/** Returns the offset behind the quoted text that begins at `offset`; null if none does, or with an escape. */
function textEnd(text: string, offset: number): number | null {
  if (text.charCodeAt(offset) !== characters.quote) return null;
  for (let at = offset + 1; at < text.length; at++) {
    const character = text.charCodeAt(at);
    if (character === characters.quote) return at + 1;
    if (character === characters.backslash || lineEnds.includes(character)) return null;
  }
  return null;
}

function behindBlanks(text: string, offset: number): number {
  let at = offset;
  while (blanks.includes(text.charCodeAt(at))) at++;
  return at;
}
