// Operators in the words of other languages → the operators of this one.

import type { TokenType } from 'chevrotain';
import { declaring, isAnyText, isAnyWord, literal, retype, sign, type Token, word } from '../parse/tokens.ts';
import { closingNear, instead, writing, writtenText } from './foreign-form.ts';
import type { Repair, RepairState } from './problem.ts';

const operators: Readonly<Record<string, TokenType>> = {
  '==': sign.equal,
  '!=': sign.notEqual,
  '<': sign.below,
  '<=': sign.atMost,
  '>': sign.above,
  '>=': sign.atLeast,
  starts: word.starts,
  ends: word.ends,
  with: word.with,
  like: word.like,
  contains: word.contains,
  in: word.in,
  matches: word.matches,
  and: word.and,
  or: word.or,
};

/** A token as the tokens of an operator as it is written here. */
export function operatorTokens(token: Token, written: string): readonly Token[] {
  return written.split(' ').map((part) => retype(token, operators[part]!, part));
}

/** Words of other languages in small letters, and the operators that mean the same. */
export const relations: Readonly<Record<string, string>> = {
  startswith: 'starts with',
  starts_with: 'starts with',
  hasprefix: 'starts with',
  endswith: 'ends with',
  ends_with: 'ends with',
  hassuffix: 'ends with',
  ilike: 'like',
  glob: 'like',
  like: 'like',
  regexp: 'matches',
  includes: 'contains',
  contains: 'contains',
};

/** Words between two values alone. */
const comparisons: Readonly<Record<string, string>> = {
  equals: '==',
  equal: '==',
  eq: '==',
  ne: '!=',
  neq: '!=',
  gt: '>',
  exceeds: '>',
  gte: '>=',
  ge: '>=',
  lt: '<',
  lte: '<=',
  le: '<=',
  IN: 'in',
  AND: 'and',
  OR: 'or',
};

/** Two words between two values. */
const phrases: Readonly<Record<string, string>> = {
  'equal to': '==',
  'equals to': '==',
  'greater than': '>',
  'bigger than': '>',
  'higher than': '>',
  'larger than': '>',
  'more than': '>',
  'less than': '<',
  'fewer than': '<',
  'smaller than': '<',
  'lower than': '<',
  'at least': '>=',
  'at most': '<=',
};

/** `x startsWith "a"`, `x LIKE "a"`. */
export function repairRelation(index: number, state: RepairState): Repair | null {
  const { tokens } = state;
  const [before, token, next] = [tokens[index - 1], tokens[index]!, tokens[index + 1]];
  if (token.image === 'between' || token.image === 'BETWEEN') return repairBetween(index, state);
  if (!endsValue(before)) return null;
  const phrase = own(phrases, `${token.image} ${next?.image}`);
  const taken = phrase === null ? 1 : 2;
  const written = phrase ?? own(relations, token.image.toLowerCase()) ?? own(comparisons, token.image);
  if (written === null || !beginsValue(tokens[index + taken])) return null;
  const image = phrase === null ? token.image : `${token.image} ${next?.image}`;
  const foreign = writing(`\`${image}\` is written \`${written}\` here`, written);
  return instead({ index, taken }, foreign, operatorTokens(token, written), state);
}

function own(table: Readonly<Record<string, string>>, name: string): string | null {
  return Object.hasOwn(table, name) ? table[name]! : null;
}

function endsValue(token: Token | undefined): boolean {
  if (token === undefined) return false;
  const type = token.tokenType;
  if (type === sign.closeParen || type === literal.number) return true;
  return isAnyText(token) || (isAnyWord(token) && !declaring.has(type));
}

function beginsValue(token: Token | undefined): boolean {
  const type = token?.tokenType;
  if (type === sign.openSquare || type === sign.openParen || type === sign.minus) return true;
  return entryTypes.has(type) || isAnyWord(token);
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
  return (
    isAnyText(token) || tokenType === sign.comma || tokenType === sign.minus || entryTypes.has(tokenType)
  );
}

/** Literals of one token. */
export const entryTypes: ReadonlySet<unknown> = new Set(Object.values(literal));

/** `x in ("a", "b")`. */
export function repairTuple(index: number, state: RepairState): Repair | null {
  const { tokens } = state;
  const open = index + 1;
  const isCurly = tokens[open]?.tokenType === sign.openCurly;
  if (tokens[open]?.tokenType !== sign.openParen && !isCurly) return null;
  const closing = closingNear(open, state);
  if (closing === null || closing === open + 1) return null;
  const inner = tokens.slice(open + 1, closing);
  const isSeveral = isCurly || inner.some(({ tokenType }) => tokenType === sign.comma);
  const isTuple = isSeveral && inner.every(isEntry);
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
