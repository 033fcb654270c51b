// Repairs quantifiers as other languages and people spell them, such as `exists x in xs (c)` and `some x in
// xs: c`.

import {
  bracketStep,
  comparing,
  effects,
  isAnyWord,
  mistake,
  relatingWords,
  sign,
  word,
  wordTypes,
} from '../parse/tokens.ts';
import { byForeignWord, type Cursor, lookaheadMax, type Repair, spelled } from './cursor.ts';

/** Quantifiers of this language by their names in this and other languages. */
export const quantifiers = byForeignWord({
  some: ['any', 'some', 'exists'],
  every: ['all', 'every', 'each', 'forall', 'foreach'],
  no: ['none', 'no'],
  count: ['count'],
  sum: ['sum'],
});

const before: ReadonlySet<unknown> = new Set([
  ...wordTypes('when', 'unless', 'and', 'or', 'not', 'for'),
  sign.openParen,
]);
const separators: ReadonlySet<unknown> = new Set([
  ...[sign.colon, sign.bar, sign.openCurly, mistake.arrow],
  ...wordTypes('when', 'has'),
]);
const relating: ReadonlySet<unknown> = new Set([...comparing, ...wordTypes(...relatingWords, 'in')]);
const separatingWords: ReadonlySet<string> = new Set(['where', 'with', 'such', 'if', 'satisfies', 'st']);

export function repairQuantifier(here: Cursor): Repair | null {
  const quantifier = quantifiers.get(here.token.image);
  const isOne = quantifier !== undefined && isAnyWord(here.at(1)) && here.type(2) === word.in;
  if (!isOne || !before.has(here.type(-1)) || !isAnyWord(here.at(3))) return null;
  const next = endOfLists(here, 3);
  const isFor = here.type(-1) === word.for;
  if (here.type(next) === sign.openParen) {
    if (!isFor) return quantifier === here.token.image ? null : spelled(here, quantifier);
    const message = `\`${here.text(-1, 0)}\` is written \`${quantifier}\` here`;
    return { from: -1, to: 0, message, write: quantifier, read: here.readAs(quantifier) };
  }
  const isParted = separators.has(here.type(next)) || separatingWords.has(here.at(next)?.image ?? '');
  const isOfElement = !isParted && relating.has(here.type(here.type(next) === word.not ? next + 1 : next));
  if (!isParted && !isFor && !isOfElement) return null;
  if (isParted && !isFor && quantifier === here.token.image && here.type(next + 1) === sign.openParen) {
    const message = `no \`${here.at(next)!.image}\` is written before the parentheses`;
    return { from: next, message, write: '', read: [] };
  }
  const body = isParted ? bodyBehind(here, next) : bodyBehind(here, next - 1);
  if (body === null) return null;
  return {
    from: isFor ? -1 : 0,
    to: body.to,
    message: 'the condition of the elements is written in parentheses',
    write: `${quantifier} ${here.text(1, next - 1)} (${isOfElement ? ofElement(here, next, body) : body.text})`,
  };
}

/** The condition of `any x in xs not ends with "a"`, which stands behind the lists, with the element before it. */
function ofElement(here: Cursor, next: number, { to }: Body): string {
  const element = here.at(1)!.image;
  return here.type(next) === word.not && here.type(next + 1) !== word.in
    ? `not (${element} ${here.text(next + 1, to)})`
    : `${element} ${here.text(next, to)}`;
}

/** Offset behind the paths and calls that a quantifier goes through. */
function endOfLists(here: Cursor, first: number): number {
  let next = here.pathEnd(first);
  const closing = here.type(next) === sign.openParen && here.isAdjacent(next) ? here.closing(next) : null;
  if (closing !== null) next = closing + 1;
  return here.type(next) === sign.comma && isAnyWord(here.at(next + 1)) ? endOfLists(here, next + 1) : next;
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
function bodyBehind(here: Cursor, separator: number): Body | null {
  const isSuchThat = here.at(separator)?.image === 'such' && here.at(separator + 1)?.image === 'that';
  const first = here.type(separator) === sign.openCurly ? separator : separator + (isSuchThat ? 2 : 1);
  const isBracketed = here.type(first) === sign.openCurly || here.type(first) === sign.openParen;
  if (isBracketed) {
    const to = here.closing(first);
    return to === null || to === first + 1 ? null : { to, text: here.text(first + 1, to - 1) };
  }
  let depth = 0;
  let end = first;
  while (end < first + lookaheadMax && here.at(end) !== undefined) {
    depth += bracketStep[here.at(end)!.tokenTypeIdx] ?? 0;
    if (depth < 0 || endsBody.has(here.type(end))) break;
    end++;
  }
  return end === first ? null : { to: end - 1, text: here.text(first, end - 1) };
}

const endsBody: ReadonlySet<unknown> = new Set([
  ...effects,
  ...wordTypes('when', 'unless', 'because', 'shadow'),
]);
