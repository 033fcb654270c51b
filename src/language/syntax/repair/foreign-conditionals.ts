// Repairs values that other languages choose by a condition: `c ? x : y` and `x if c else y`. Nothing is known about the
// chosen value, so there is no fix.

import { declaring, effects, literal, NameToken, sign, type Token, word } from '../parse/tokens.ts';
import { type Cursor, clauseStarts, hole, lookaheadMax, type Repair } from './cursor.ts';
import { optionalField } from './forms.ts';

const message = 'a choice is written `if c then x else y`';
const help =
  'put the condition first, in parentheses within another expression: `payload.amount > (if payload.kind == "book" then 50 USD else 100 USD)`';

/** Reads `c ? x : y` as `c and` a value of which nothing is known. */
export function repairTernary(here: Cursor): Repair {
  const colon = findAtDepth(here, 1, ({ tokenType }) => tokenType === sign.colon);
  if (colon === null) return { message: '`?` has no meaning here', help: optionalField, read: [] };
  return { to: endOfValue(here, colon + 1), message, help, read: [...here.readAs('and'), hole(here.token)] };
}

/** Reads `x if c else y` as `x`. */
export function repairConditional(here: Cursor): Repair | null {
  if (here.isAwaitedByRule || !endsValue.has(here.type(-1)) || here.beginsLine(0)) return null;
  const other = findAtDepth(here, 1, ({ tokenType }) => tokenType === word.else);
  if (other === null || effects.has(here.type(other + 1))) return null;
  return { to: endOfValue(here, other + 1), message, help, read: [] };
}

const endsValue: ReadonlySet<unknown> = new Set([
  ...Object.values(literal),
  NameToken,
  sign.closeParen,
  sign.closeSquare,
]);

/** Offset of the first such token of the same expression, outside of further brackets; null if there is none. */
function findAtDepth(here: Cursor, start: number, isFound: (token: Token) => boolean): number | null {
  const end = endOfExpression(here, start, isFound);
  return end !== null && isFound(here.at(end)!) ? end : null;
}

/** Offset of the last token of the value that begins at an offset; the offset before where the file ends there. */
function endOfValue(here: Cursor, start: number): number {
  if (here.at(start) === undefined) return start - 1;
  const end = endOfExpression(here, start, ({ tokenType }) => joins.has(tokenType));
  return Math.max(start, (end ?? start + 1) - 1);
}

const joins: ReadonlySet<unknown> = new Set([word.and, word.or]);

function endOfExpression(here: Cursor, start: number, isEnd: (token: Token) => boolean): number | null {
  let depth = 0;
  for (let offset = start; offset < start + lookaheadMax; offset++) {
    const token = here.at(offset);
    if (token === undefined) return null;
    const { tokenType } = token;
    if (opening.has(tokenType)) depth++;
    else if (closing.has(tokenType) && --depth < 0) return offset;
    if (depth === 0 && (ends.has(tokenType) || isEnd(token))) return offset;
  }
  return null;
}

const opening: ReadonlySet<unknown> = new Set([sign.openParen, sign.openSquare]);
const closing: ReadonlySet<unknown> = new Set([sign.closeParen, sign.closeSquare]);
const ends: ReadonlySet<unknown> = new Set([
  ...[sign.openCurly, sign.closeCurly, sign.comma],
  ...effects,
  ...declaring,
  ...clauseStarts,
]);
