// Repairs quantifiers as other languages and people spell them, such as `exists x in xs (c)` and `some x in
// xs: c`.

import {
  bracketStep,
  comparing,
  effects,
  isAnyWord,
  keyword,
  mistake,
  relatingWords,
  symbol,
  wordTypes,
} from '../parse/tokens.ts';
import { type Cursor, lookaheadMax, type Repair, spelled, spellingByForeignWord } from './cursor.ts';

/** Quantifiers of this language by their names in this and other languages. */
export const quantifiers = spellingByForeignWord({
  some: ['any', 'some', 'exists'],
  every: ['all', 'every', 'each', 'forall', 'foreach'],
  no: ['none', 'no'],
  count: ['count'],
  sum: ['sum'],
});

const before: ReadonlySet<unknown> = new Set([
  ...wordTypes('when', 'unless', 'and', 'or', 'not', 'for'),
  symbol.openParen,
]);
const separators: ReadonlySet<unknown> = new Set([
  ...[symbol.colon, symbol.bar, symbol.openCurly, mistake.arrow],
  ...wordTypes('when', 'has'),
]);
const relating: ReadonlySet<unknown> = new Set([...comparing, ...wordTypes(...relatingWords, 'in')]);
const separatingWords: ReadonlySet<string> = new Set(['where', 'with', 'such', 'if', 'satisfies', 'st']);

export function repairQuantifier(cursor: Cursor): Repair | null {
  const quantifier = quantifiers.get(cursor.token.image);
  const isOne = quantifier !== undefined && isAnyWord(cursor.at(1)) && cursor.type(2) === keyword.in;
  if (!isOne || !before.has(cursor.type(-1)) || !isAnyWord(cursor.at(3))) return null;
  const next = endOfLists(cursor, 3);
  const isFor = cursor.type(-1) === keyword.for;
  if (cursor.type(next) === symbol.openParen) {
    if (!isFor) return quantifier === cursor.token.image ? null : spelled(cursor, quantifier);
    const message = `\`${cursor.text(-1, 0)}\` is written \`${quantifier}\` here`;
    return { from: -1, to: 0, message, write: quantifier, read: cursor.readAs(quantifier) };
  }
  const isParted = separators.has(cursor.type(next)) || separatingWords.has(cursor.at(next)?.image ?? '');
  const isOfElement =
    !isParted && relating.has(cursor.type(cursor.type(next) === keyword.not ? next + 1 : next));
  if (!isParted && !isFor && !isOfElement) return null;
  if (isParted && !isFor && quantifier === cursor.token.image && cursor.type(next + 1) === symbol.openParen) {
    const message = `no \`${cursor.at(next)!.image}\` is written before the parentheses`;
    return { from: next, message, write: '', read: [] };
  }
  const body = isParted ? bodyBehind(cursor, next) : bodyBehind(cursor, next - 1);
  if (body === null) return null;
  return {
    from: isFor ? -1 : 0,
    to: body.to,
    message: 'the condition of the elements is written in parentheses',
    write: `${quantifier} ${cursor.text(1, next - 1)} (${isOfElement ? ofElement(cursor, next, body) : body.text})`,
  };
}

/** The condition of `any x in xs not ends with "a"`, which stands behind the lists, with the element before it. */
function ofElement(cursor: Cursor, next: number, { to }: Body): string {
  const element = cursor.at(1)!.image;
  return cursor.type(next) === keyword.not && cursor.type(next + 1) !== keyword.in
    ? `not (${element} ${cursor.text(next + 1, to)})`
    : `${element} ${cursor.text(next, to)}`;
}

/** Offset behind the paths and calls that a quantifier goes through. */
function endOfLists(cursor: Cursor, first: number): number {
  let next = cursor.pathEnd(first);
  const closing =
    cursor.type(next) === symbol.openParen && cursor.isAdjacent(next) ? cursor.closing(next) : null;
  if (closing !== null) next = closing + 1;
  return cursor.type(next) === symbol.comma && isAnyWord(cursor.at(next + 1))
    ? endOfLists(cursor, next + 1)
    : next;
}

interface Body {
  readonly text: string;
  /** Offset of the last token of the body, or of the bracket that closes it. */
  readonly to: number;
}

/**
 * The body of a quantifier behind a sign or word: what stands in brackets there, or all up to the next
 * clause. Null if there is none.
 */
function bodyBehind(cursor: Cursor, separator: number): Body | null {
  const isSuchThat = cursor.at(separator)?.image === 'such' && cursor.at(separator + 1)?.image === 'that';
  const first = cursor.type(separator) === symbol.openCurly ? separator : separator + (isSuchThat ? 2 : 1);
  const isBracketed = cursor.type(first) === symbol.openCurly || cursor.type(first) === symbol.openParen;
  if (isBracketed) {
    const to = cursor.closing(first);
    return to === null || to === first + 1 ? null : { to, text: cursor.text(first + 1, to - 1) };
  }
  let depth = 0;
  let end = first;
  while (end < first + lookaheadMax && cursor.at(end) !== undefined) {
    depth += bracketStep[cursor.at(end)!.tokenTypeIdx] ?? 0;
    if (depth < 0 || endsBody.has(cursor.type(end))) break;
    end++;
  }
  return end === first ? null : { to: end - 1, text: cursor.text(first, end - 1) };
}

const endsBody: ReadonlySet<unknown> = new Set([
  ...effects,
  ...wordTypes('when', 'unless', 'because', 'shadow'),
]);
