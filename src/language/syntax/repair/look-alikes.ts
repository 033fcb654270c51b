// Words with letters that no name has → one token each: a letter of another script that looks like one of this one is read
// as that, so that one slip costs one diagnostic.

import { makeSpan, type Reader, syntaxError, withFix } from '../parse/context.ts';
import { NameToken, type Token, tokenEnd, typeOfName } from '../parse/tokens.ts';

/** Letters of Cyrillic and Greek, each behind the one of this language that it looks like. */
const lookAlikes: ReadonlyMap<string, string> = new Map(
  [
    ...['aа', 'cс', 'dԁ', 'eе', 'hһ', 'iі', 'jј', 'lӏ', 'oо', 'pр', 'sѕ', 'xх', 'yу', 'vѵ', 'wԝ'],
    ...['AА', 'BВ', 'CС', 'EЕ', 'HН', 'IІ', 'KК', 'MМ', 'OО', 'PР', 'SЅ', 'TТ', 'XХ'],
    ...[
      'aα',
      'oο',
      'vν',
      'iι',
      'AΑ',
      'BΒ',
      'EΕ',
      'ZΖ',
      'HΗ',
      'IΙ',
      'KΚ',
      'MΜ',
      'NΝ',
      'OΟ',
      'PΡ',
      'TΤ',
      'YΥ',
      'XΧ',
    ],
  ].map(([plain = '', other = '']) => [other, plain] as const),
);

interface Run {
  readonly start: number;
  readonly end: number;
}

interface Joined {
  readonly tokens: Token[];
  /** Runs of characters that are no letters. */
  readonly strays: readonly Run[];
}

/** Puts letters that begin no token and the names that touch them together, and reports each such word. */
export function joinWords(tokens: Token[], strays: readonly Run[], reader: Reader): Joined {
  const letters = strays.filter(({ start, end }) => isLetters(reader.source.text.slice(start, end)));
  if (letters.length === 0) return { tokens, strays };
  const joined: Token[] = [];
  let at = 0;
  for (let next = 0; next < letters.length; next++) {
    const run = letters[next]!;
    while (at < tokens.length && tokens[at]!.startOffset < run.start) joined.push(tokens[at++]!);
    let { start, end } = run;
    const before = joined.at(-1);
    if (before !== undefined && isWordLike(before) && tokenEnd(before) === start) {
      start = before.startOffset;
      joined.pop();
    }
    for (;;) {
      const token = tokens[at];
      const other = letters[next + 1];
      if (token !== undefined && isWordLike(token) && token.startOffset === end) {
        end = tokenEnd(token);
        at++;
      } else if (other !== undefined && other.start === end) {
        end = other.end;
        next++;
      } else break;
    }
    joined.push(wordOf({ start, end }, reader));
  }
  while (at < tokens.length) joined.push(tokens[at++]!);
  return { tokens: joined, strays: strays.filter((stray) => !letters.includes(stray)) };
}

function isLetters(text: string): boolean {
  return /^[\p{L}\p{M}]+$/u.test(text);
}

function isWordLike({ image }: Token): boolean {
  return /^[A-Za-z0-9_]+$/.test(image) || image === '';
}

function wordOf({ start, end }: Run, reader: Reader): Token {
  const text = reader.source.text.slice(start, end);
  const plain = [...text].map((letter) => lookAlikes.get(letter) ?? letter).join('');
  const span = makeSpan(reader, start, end);
  const isName = /^[A-Za-z_][A-Za-z0-9_]*$/.test(plain);
  if (isName) {
    const stray = [...text].find((letter) => lookAlikes.has(letter)) ?? '';
    const code = stray.codePointAt(0)?.toString(16).toUpperCase().padStart(4, '0');
    const message = `\`${text}\` holds U+${code}, which only looks like \`${lookAlikes.get(stray)}\``;
    const diagnostic = syntaxError('unexpected-character', span, message, `write \`${plain}\``);
    reader.report(withFix(diagnostic, { title: `write \`${plain}\``, text: plain }));
  } else {
    const help = 'names are of the letters `a` to `z`, digits and `_`';
    reader.report(syntaxError('unexpected-character', span, `\`${text}\` is no name`, help));
  }
  const type = isName ? typeOfName(plain) : NameToken;
  return {
    startOffset: start,
    endOffset: end - 1,
    image: isName ? plain : text,
    tokenType: type,
    tokenTypeIdx: type.tokenTypeIdx!,
  };
}
