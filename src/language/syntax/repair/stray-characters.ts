// Turns characters that begin no token into words and diagnostics. A letter of another script that looks like
// a letter of this language is read as that letter, together with the names that touch it. So one slip costs
// one diagnostic.

import { makeSpan, type Reader, syntaxError, withFix } from '../parse/context.ts';
import { NameToken, retype, symbol, type Token, tokenEnd, typeOfName } from '../parse/tokens.ts';

/** Cyrillic and Greek letters, each behind the letter of this language that it looks like. */
const lookAlikes: ReadonlyMap<string, string> = new Map(
  [
    'aа cс dԁ eе hһ iі jј lӏ oо pр sѕ xх yу vѵ wԝ AА BВ CС EЕ HН IІ KК MМ OО PР SЅ TТ XХ',
    'aα oο vν iι AΑ BΒ EΕ ZΖ HΗ IΙ KΚ MΜ NΝ OΟ PΡ TΤ YΥ XΧ',
  ].flatMap((letters) => letters.split(' ').map(([plain = '', other = '']) => [other, plain] as const)),
);

export interface CharacterRun {
  readonly start: number;
  readonly end: number;
}

/** A token, or a run of letters that begins no token; for such a run, `token` is null. */
interface Piece extends CharacterRun {
  readonly token: Token | null;
  readonly isWord: boolean;
}

/**
 * Joins letters that begin no token with the words that touch them, and reports all characters that begin no
 * token.
 */
export function readStrays(tokens: Token[], strays: readonly CharacterRun[], reader: Reader): Token[] {
  if (strays.length === 0) return tokens;
  const textOf = ({ start, end }: CharacterRun) => reader.source.text.slice(start, end);
  const isLetters = (run: CharacterRun) => /^[\p{L}\p{M}]+$/u.test(textOf(run));
  reportStrays(
    strays.filter((run) => !isLetters(run)),
    reader,
  );
  const letters = strays.filter(isLetters).map((run): Piece => ({ ...run, token: null, isWord: true }));
  const withoutDollar = withoutDollars(
    tokens,
    strays.filter((run) => textOf(run) === '$'),
  );
  const pieces = [...withoutDollar.map(pieceOf), ...letters].sort((a, b) => a.start - b.start);
  const words: Piece[][] = [];
  for (const piece of pieces) {
    const before = words.at(-1)?.at(-1);
    if (before?.isWord && piece.isWord && before.end === piece.start) words.at(-1)!.push(piece);
    else words.push([piece]);
  }
  return words.flatMap((word) => {
    const wordTokens = word.flatMap(({ token }) => (token === null ? [] : [token]));
    return wordTokens.length === word.length
      ? wordTokens
      : [wordOf(word[0]!.start, word.at(-1)!.end, reader)];
  });
}

/**
 * The tokens without the dot of `$.payload` and the braces of `${limit}`, so that the rest is read as what is
 * meant.
 */
function withoutDollars(tokens: readonly Token[], dollars: readonly CharacterRun[]): readonly Token[] {
  const ends = new Set(dollars.map(({ end }) => end));
  const opens = ({ tokenType, startOffset }: Token) =>
    ends.has(startOffset) && (tokenType === symbol.dot || tokenType === symbol.openCurly);
  return tokens.flatMap((token, at) => {
    const [before, next] = [tokens[at - 2], tokens[at + 1]];
    if (opens(token) || (token.tokenType === symbol.closeCurly && before !== undefined && opens(before)))
      return [];
    // The lexer takes a word beside a dot for a name, so the word before the dropped dot is read once more.
    return next?.tokenType === symbol.dot && opens(next) ? [retype(token, typeOfName(token.image))] : [token];
  });
}

function pieceOf(token: Token): Piece {
  const isWord = /^[A-Za-z0-9_]*$/.test(token.image);
  return { start: token.startOffset, end: tokenEnd(token), token, isWord };
}

function wordOf(start: number, end: number, reader: Reader): Token {
  const text = reader.source.text.slice(start, end);
  const plain = Array.from(text, (letter) => lookAlikes.get(letter) ?? letter).join('');
  const span = makeSpan(reader, start, end);
  const offsets = { startOffset: start, endOffset: end - 1 };
  if (!/^[A-Za-z_][A-Za-z0-9_]*$/.test(plain)) {
    const help = 'names are of the letters `a` to `z`, digits and `_`';
    reader.report(syntaxError('unexpected-character', span, `\`${text}\` is not a name`, help));
    return { ...offsets, image: text, tokenType: NameToken, tokenTypeIdx: NameToken.tokenTypeIdx! };
  }
  const stray = Array.from(text).find((letter) => lookAlikes.has(letter)) ?? '';
  const code = stray.codePointAt(0)?.toString(16).toUpperCase().padStart(4, '0');
  const message = `\`${text}\` contains U+${code}, which only looks like \`${lookAlikes.get(stray)}\``;
  const title = `write \`${plain}\``;
  const diagnostic = syntaxError('unexpected-character', span, message, title);
  reader.report(withFix(diagnostic, { title, text: plain }));
  const tokenType = typeOfName(plain);
  return { ...offsets, image: plain, tokenType, tokenTypeIdx: tokenType.tokenTypeIdx! };
}

export function reportStrays(strays: readonly CharacterRun[], reader: Reader): void {
  for (const { start, end } of strays) {
    const text = reader.source.text.slice(start, end);
    const excerpt = text.length > 20 ? `${text.slice(0, 20)}…` : text;
    const span = makeSpan(reader, start, end);
    const code = text.codePointAt(0)!;
    const name = /^[\p{C}\p{Z}\p{M}]/u.test(text)
      ? `U+${code.toString(16).toUpperCase().padStart(4, '0')}`
      : excerpt;
    const help = strayHelp.get(text.charAt(0)) ?? characterHelp(text);
    reader.report(syntaxError('unexpected-character', span, `\`${name}\` has no meaning here`, help));
  }
}

function characterHelp(text: string): string {
  const plain = text.normalize('NFKC');
  if (plain !== text && /^[\x21-\x7e]+$/.test(plain)) return `write \`${plain}\``;
  return 'remove it: outside of texts and comments, only ASCII letters, digits and signs are allowed';
}

const strayHelp: ReadonlyMap<string, string> = new Map([
  ['“', 'texts are written in straight quotes: `"`'],
  ['”', 'texts are written in straight quotes: `"`'],
  ['‘', "raw texts are written in straight quotes: `'`"],
  ['’', "raw texts are written in straight quotes: `'`"],
  ['&', 'write `and`'],
  ['@', 'there are no annotations: write a comment, after `#`'],
  ['\\', 'remove it: a rule continues on the next line without an operator'],
  ['$', 'fields are read by `payload.count`'],
  ...['–', '—', '−'].map((dash) => [dash, 'a minus and a dash are written `-`'] as const),
  ['`', 'texts are written in straight quotes: `"`'],
]);
