// Operators in the words of other languages → the operators of this one.

import { declaring, isAnyText, isAnyWord, literal, retype, sign, type Token, word } from '../parse/tokens.ts';
import { closingNear, instead, writing, writtenText } from './foreign-form.ts';
import type { Repair, RepairState } from './problem.ts';

type RelationWord =
  | 'starts'
  | 'ends'
  | 'with'
  | 'like'
  | 'contains'
  | 'in'
  | 'matches'
  | 'and'
  | 'or'
  | 'not';

/** Words of other languages in small letters, and the operators that mean the same. */
export const relations: Readonly<Record<string, readonly RelationWord[]>> = {
  startswith: ['starts', 'with'],
  starts_with: ['starts', 'with'],
  hasprefix: ['starts', 'with'],
  endswith: ['ends', 'with'],
  ends_with: ['ends', 'with'],
  hassuffix: ['ends', 'with'],
  ilike: ['like'],
  glob: ['like'],
  like: ['like'],
  regexp: ['matches'],
  includes: ['contains'],
  contains: ['contains'],
};

/** Words of this language that others write in capitals. */
const capitals: Readonly<Record<string, readonly RelationWord[]>> = {
  IN: ['in'],
  AND: ['and'],
  OR: ['or'],
};

/** `x startsWith "a"`, `x LIKE "a"`. */
export function repairRelation(index: number, state: RepairState): Repair | null {
  const { tokens } = state;
  const [before, token, next] = [tokens[index - 1], tokens[index]!, tokens[index + 1]];
  if (token.image === 'between' || token.image === 'BETWEEN') return repairBetween(index, state);
  const words = Object.hasOwn(capitals, token.image)
    ? capitals[token.image]!
    : Object.hasOwn(relations, token.image.toLowerCase())
      ? relations[token.image.toLowerCase()]!
      : null;
  if (words === null || !endsValue(before) || !beginsValue(next)) return null;
  const foreign = writing(`\`${token.image}\` is written \`${words.join(' ')}\` here`, words.join(' '));
  const better = words.map((one) => retype(token, word[one], one));
  return instead({ index, taken: 1 }, foreign, better, state);
}

function endsValue(token: Token | undefined): boolean {
  if (token === undefined) return false;
  const type = token.tokenType;
  if (type === sign.closeParen || type === literal.number) return true;
  return isAnyText(token) || (isAnyWord(token) && !declaring.has(type));
}

function beginsValue(token: Token | undefined): boolean {
  const type = token?.tokenType;
  return type === sign.openSquare || type === sign.openParen || isAnyText(token) || isAnyWord(token);
}

/** `x between 3 and 5`. */
function repairBetween(index: number, state: RepairState): Repair | null {
  const [token, low, and, high] = state.tokens.slice(index, index + 4);
  if (token === undefined || low === undefined || high === undefined) return null;
  if (and?.image.toLowerCase() !== 'and') return null;
  const foreign = writing('`between` is written as a range here', `in ${low.image}..${high.image}`);
  const better = [retype(token, word.in, 'in'), low, retype(and, sign.range, '..'), high];
  return instead({ index, taken: 4 }, foreign, better, state);
}

function isEntry(token: Token): boolean {
  const { tokenType } = token;
  return isAnyText(token) || tokenType === sign.comma || tokenType === sign.minus || values.has(tokenType);
}

const values: ReadonlySet<unknown> = new Set(Object.values(literal));

/** `x in ("a", "b")`. */
export function repairTuple(index: number, state: RepairState): Repair | null {
  const { tokens } = state;
  const open = index + 1;
  if (tokens[open]?.tokenType !== sign.openParen) return null;
  const closing = closingNear(open, state);
  if (closing === null || closing === open + 1) return null;
  const inner = tokens.slice(open + 1, closing);
  const isTuple = inner.some(({ tokenType }) => tokenType === sign.comma) && inner.every(isEntry);
  if (!isTuple) return null;
  const write = `[${writtenText(tokens[open + 1]!, tokens[closing - 1]!, state)}]`;
  const foreign = writing('a list stands in square brackets', write);
  const run = { index: open, taken: closing - open + 1 };
  const repaired = instead(run, foreign, [], state);
  const better = [
    ...[tokens[index]!, retype(tokens[open]!, sign.openSquare, '[')],
    ...[...inner, retype(tokens[closing]!, sign.closeSquare, ']')],
  ];
  return { taken: repaired.taken + 1, tokens: better };
}
