// Repairs reserved words that are used as names, unknown words that begin a rule or declaration, and risk
// points without their sign.

import { nearestOf } from '../../diagnostic/suggest.ts';
import { tokenSpan } from '../parse/context.ts';
import {
  assigning,
  comparing,
  declaring,
  effects,
  isAnyWord,
  isReservedToken,
  keyword,
  literal,
  NameToken,
  reservedWords,
  retype,
  symbol,
  type Token,
  wordTypes,
} from '../parse/tokens.ts';
import { type Cursor, clauseStarts, type Repair } from './cursor.ts';
import { declarationVocabulary, effectVocabulary, intendedKeyword, unknownKeyword } from './vocabulary.ts';

/** Repairs `risk 30` and `risk name 30`, which lack a sign: a `+` is put before the number. */
export function repairRisk(cursor: Cursor): Repair | null {
  // Behind the title of approvers, `risk 40` is a limit.
  if (cursor.declaration === keyword.approvers) return null;
  const name = cursor.at(1);
  const from = isAnyWord(name) && !isReservedToken(name) ? 2 : 1;
  const number = cursor.at(from);
  if (number?.tokenType !== literal.number) return null;
  const message = 'risk points say by a sign what they do';
  const read = [retype(number, symbol.plus, '+')];
  return { from, to: from - 1, code: 'points-without-sign', message, write: `+${number.image}`, read };
}

const beginsRule: ReadonlySet<unknown> = new Set([...effects, keyword.risk]);
/** Words that cannot be the name of a rule, since they begin something else. */
const beginning: ReadonlySet<unknown> = new Set([
  ...clauseStarts,
  ...beginsRule,
  ...declaring,
  ...[keyword.shadow, keyword.never, keyword.always],
]);
/** Tokens that a value follows; behind them, `risk` is a value. */
const beforeValue: ReadonlySet<unknown> = new Set([
  ...comparing,
  ...[symbol.openParen, keyword.and, keyword.or, keyword.not, keyword.in, keyword.when, keyword.unless],
]);

/** Tokens that may follow the name of a declaration, by the word that begins the declaration. */
const followers: ReadonlyMap<unknown, ReadonlySet<unknown>> = new Map([
  ...[keyword.let, keyword.type, keyword.meter].map((type) => [type, new Set([symbol.assign])] as const),
  [keyword.list, new Set([symbol.assign, keyword.ignoring, keyword.from])],
  [keyword.hours, new Set([symbol.assign, keyword.from])],
  [keyword.policy, new Set([keyword.on])],
  [keyword.guarantee, new Set([keyword.on])],
  [keyword.approvers, new Set([literal.quoted, literal.raw])],
]);

/**
 * Reads a reserved word in the place of a name as a name. The parser reports it when it reads the
 * declaration.
 */
export function repairDeclaredWord(cursor: Cursor): Repair | null {
  const { token } = cursor;
  noteDeclaration(token, cursor);
  const name = cursor.at(1);
  if (name === undefined || !isReservedToken(name)) return null;
  const isName = beginsRule.has(token.tokenType)
    ? isRuleName(cursor)
    : followers.get(token.tokenType)?.has(cursor.type(2));
  return isName ? { from: 1, read: [retype(name, NameToken)] } : null;
}

function noteDeclaration({ tokenType }: Token, cursor: Cursor): void {
  if (assigning.has(tokenType)) cursor.awaitsAssign = true;
  if (cursor.braces > 0 || !declaring.has(tokenType)) return;
  cursor.declaration = tokenType;
  cursor.declarationAt = cursor.index;
}

function isRuleName(cursor: Cursor): boolean {
  const [before, after] = [cursor.type(-1), cursor.type(2)];
  if (before === keyword.never || before === keyword.always || before === keyword.after) return false;
  // In a condition `risk` is a value, which any word may follow.
  if (cursor.token.tokenType === keyword.risk) {
    return !beforeValue.has(before) && (after === symbol.plus || after === symbol.minus);
  }
  return clauseStarts.has(after) || !beginning.has(cursor.type(1));
}

/**
 * Repairs a word that begins a line and is followed by a name alone. Such a word can only be meant to begin a
 * rule or, outside of braces, a declaration. It is read as the nearest word that does, so that what follows
 * is read too.
 */
export function repairFirstWord(cursor: Cursor): Repair | null {
  if (!isNamedAlone(cursor)) return null;
  const { token, reader } = cursor;
  const { isInPolicy } = cursor;
  if (!(isInPolicy || cursor.braces === 0) || !beginsLine(cursor)) return null;
  const vocabulary = isInPolicy ? effectVocabulary : declarationVocabulary;
  const better = intendedKeyword(token.image, vocabulary);
  // In a policy, a word that is near no effect but near another reserved word may be a misspelt clause. A
  // word that is near nothing is read as the beginning of a rule.
  if (better === null && (!isInPolicy || nearestOf(token.image, reservedWords) !== null)) return null;
  reader.report(unknownKeyword(token.image, tokenSpan(token, reader), vocabulary));
  const meant = retype(token, keyword[better ?? 'deny'], better ?? 'deny');
  if (!isInPolicy) noteDeclaration(meant, cursor);
  return { read: [meant] };
}

function beginsLine(cursor: Cursor): boolean {
  const before = cursor.type(-1);
  return before === symbol.openCurly || before === symbol.closeCurly || cursor.beginsLine(0);
}

const followsName: ReadonlySet<unknown> = new Set([
  ...clauseStarts,
  ...[symbol.assign, symbol.closeCurly, keyword.on, literal.quoted, literal.raw],
]);

const followsKey: ReadonlySet<unknown> = new Set([symbol.openCurly, symbol.comma, keyword.in]);

const followsDeclared: ReadonlySet<unknown> = new Set([
  symbol.colon,
  ...wordTypes('ignoring', 'from', 'pushed'),
]);

/**
 * Whether a name follows on the same line, and behind it a clause, `=`, parameters and `=`, `on` or a new line; or a key and its
 * payload.
 */
function isNamedAlone(cursor: Cursor): boolean {
  if (cursor.type(1) !== NameToken || cursor.beginsLine(1)) return false;
  const next = cursor.pathEnd(1);
  const after = cursor.type(next);
  const close = cursor.braces === 0 && after === symbol.openParen ? cursor.closing(next) : null;
  const isCalled = close !== null && cursor.type(close + 1) === symbol.assign;
  const isDeclared = isCalled || (cursor.braces === 0 && followsDeclared.has(after));
  return (
    cursor.beginsLine(next) || followsName.has(after) || isDeclared || (next > 2 && followsKey.has(after))
  );
}
