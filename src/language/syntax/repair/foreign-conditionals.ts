// Repairs values that other languages choose by a condition: `c ? x : y` and `x if c else y`. Nothing is known about the
// chosen value, so there is no fix.

import { declaring, effects, keyword, literal, NameToken, symbol, type Token } from '../parse/tokens.ts';
import { type Cursor, clauseStarts, emptyName, lookaheadMax, type Repair } from './cursor.ts';
import { optionalField } from './forms.ts';

const message = 'a choice is written `if c then x else y`';
const help =
  'put the condition first, in parentheses within another expression: `payload.amount > (if payload.kind == "book" then 50 USD else 100 USD)`';

/** Reads `c ? x : y` as `c and` a value of which nothing is known. */
export function repairTernary(cursor: Cursor): Repair {
  const colon = findAtDepth(cursor, 1, ({ tokenType }) => tokenType === symbol.colon);
  if (colon === null) return { message: '`?` has no meaning here', help: optionalField, read: [] };
  return {
    to: endOfValue(cursor, colon + 1),
    message,
    help,
    read: [...cursor.readAs('and'), emptyName(cursor.token)],
  };
}

/** Reads `x if c else y` as `x`. */
export function repairConditional(cursor: Cursor): Repair | null {
  if (cursor.isAwaitedByRule || !endsValue.has(cursor.type(-1)) || cursor.beginsLine(0)) return null;
  const other = findAtDepth(cursor, 1, ({ tokenType }) => tokenType === keyword.else);
  if (other === null || effects.has(cursor.type(other + 1))) return null;
  return { to: endOfValue(cursor, other + 1), message, help, read: [] };
}

const endsValue: ReadonlySet<unknown> = new Set([
  ...Object.values(literal),
  NameToken,
  symbol.closeParen,
  symbol.closeSquare,
]);

/** Offset of the first such token of the same expression, outside of further brackets; null if there is none. */
function findAtDepth(cursor: Cursor, start: number, isFound: (token: Token) => boolean): number | null {
  const end = endOfExpression(cursor, start, isFound);
  return end !== null && isFound(cursor.at(end)!) ? end : null;
}

/** Offset of the last token of the value that begins at an offset; the offset before where the file ends there. */
function endOfValue(cursor: Cursor, start: number): number {
  if (cursor.at(start) === undefined) return start - 1;
  const end = endOfExpression(cursor, start, ({ tokenType }) => joins.has(tokenType));
  return Math.max(start, (end ?? start + 1) - 1);
}

const joins: ReadonlySet<unknown> = new Set([keyword.and, keyword.or]);

function endOfExpression(cursor: Cursor, start: number, isEnd: (token: Token) => boolean): number | null {
  let depth = 0;
  for (let offset = start; offset < start + lookaheadMax; offset++) {
    const token = cursor.at(offset);
    if (token === undefined) return null;
    const { tokenType } = token;
    if (opening.has(tokenType)) depth++;
    else if (closing.has(tokenType) && --depth < 0) return offset;
    if (depth === 0 && (ends.has(tokenType) || isEnd(token))) return offset;
  }
  return null;
}

const opening: ReadonlySet<unknown> = new Set([symbol.openParen, symbol.openSquare]);
const closing: ReadonlySet<unknown> = new Set([symbol.closeParen, symbol.closeSquare]);
const ends: ReadonlySet<unknown> = new Set([
  ...[symbol.openCurly, symbol.closeCurly, symbol.comma],
  ...effects,
  ...declaring,
  ...clauseStarts,
]);
