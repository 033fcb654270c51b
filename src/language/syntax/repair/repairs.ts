// Lists which repairs are tried at a token of each type, and in which order. Also defines the repairs that
// belong to no other file.

import type { TokenType } from 'chevrotain';
import { syntaxError, tokenSpan, withFix } from '../parse/context.ts';
import {
  assigning,
  Currency,
  declaringWords,
  effectWords,
  isAnyWord,
  keyword,
  literal,
  mistake,
  NameToken,
  retype,
  symbol,
} from '../parse/tokens.ts';
import { type Cursor, lookaheadMax, type RepairAt, removedToken, spelled } from './cursor.ts';
import { repairCall, repairLambda, repairMethod, repairPresence, repairTotal } from './foreign-calls.ts';
import { repairConditional, repairTernary } from './foreign-conditionals.ts';
import {
  declaresFields,
  repairAsked,
  repairCoalesce,
  repairCountAll,
  repairDashedName,
  repairDots,
  repairEnumeration,
  repairExcept,
  repairFieldWithoutColon,
  repairIsoDuration,
  repairKindOfList,
  repairListBrackets,
  repairMissingBrace,
  repairNoValue,
  repairPayloadColon,
  repairPayloadParens,
  repairPointsSign,
  repairRate,
  repairResult,
  repairRowArrow,
  repairTimeout,
} from './foreign-declarations.ts';
import {
  repairAnyOf,
  repairClauseWord,
  repairCurrencyFirst,
  repairIf,
  repairIs,
  repairLoneName,
  repairRelation,
  repairValue,
} from './foreign-keywords.ts';
import {
  repairComment,
  repairConditionBraces,
  repairCurlyQuotes,
  repairCurrencySign,
  repairDashedList,
  repairInOr,
  repairListType,
  repairPercent,
  repairPosition,
  repairQuotesInPlaceholder,
  repairRawEscape,
  repairRegex,
  repairTextLetter,
  repairThousands,
  repairTuple,
} from './foreign-operators.ts';
import { repairQuantifier } from './foreign-quantifiers.ts';
import {
  repairApprovalFrom,
  repairClauseSign,
  repairConditionFirst,
  repairElse,
  repairForeignLine,
  repairJoinedReason,
  repairNameless,
  repairPatternKind,
  repairPatternList,
  repairPolicyFor,
  repairQuotedName,
  repairRuleBody,
  repairRuleColon,
  repairRuleComma,
  repairRuleText,
  repairRuleValue,
  repairRuleWord,
  repairUnquotedReason,
} from './foreign-rules.ts';
import { repairForeignBlock, repairMapRule, repairNestedDeclaration, repairNestedSynonym } from './nested.ts';
import { repairDate, repairNumber } from './number.ts';
import { repairDeclaredWord, repairFirstWord, repairRisk } from './word.ts';

/** A repair that tries others in order and returns the first one that applies. */
function firstOf(...all: readonly RepairAt[]): RepairAt {
  return (cursor) => {
    for (const one of all) {
      const better = one(cursor);
      if (better !== null) return better;
    }
    return null;
  };
}

/** The repair of a sign that is spelled differently in this language. */
function writtenAs(write: string): RepairAt {
  return (cursor) => spelled(cursor, write, 'foreign-operator');
}

/** Repairs a name that other languages use for a word, a function, a method or a value. */
const repairForeignName: RepairAt = (cursor) => {
  const [before, next] = [cursor.type(-1), cursor.type(1)];
  if (next === symbol.openParen) {
    if (before === symbol.dot) return cursor.isAdjacent(1) ? repairMethod(cursor) : null;
    if (before === keyword.in) return null;
    return repairConditionFirst(cursor) ?? repairRelation(cursor) ?? repairCall(cursor);
  }
  if (next === symbol.openSquare) return repairListType(cursor) ?? repairRelation(cursor);
  const isField =
    before === symbol.dot || next === symbol.dot || next === symbol.colon || next === symbol.optional;
  return isField ? null : (repairConditionFirst(cursor) ?? repairLoneName(cursor));
};

/**
 * Repairs a name that other languages use for a value or a function, if an expression may hold the name as it
 * stands.
 */
const repairUsedName: RepairAt = (cursor) => {
  const [before, next] = [cursor.type(-1), cursor.type(1)];
  if (next === symbol.openParen || next === symbol.openSquare) return repairForeignName(cursor);
  const isField = before === symbol.dot || next === symbol.dot;
  return isField ? null : (repairValue(cursor) ?? repairIsoDuration(cursor));
};

/** Repairs `=` between two values, or before a list with dashes. */
const repairAssign: RepairAt = (cursor) => {
  const isAssign = cursor.awaitsAssign;
  cursor.awaitsAssign = false;
  if (isAssign) return repairDashedList(cursor);
  if (cursor.type(-2) === keyword.approvers) return repairMembers(cursor);
  const other = repairPointsSign(cursor) ?? repairClauseSign(cursor) ?? repairNoValue(cursor);
  if (other !== null) return other;
  if (cursor.type(1) === symbol.below && cursor.isAdjacent(1))
    return { ...spelled(cursor, '<=', 'foreign-operator'), to: 1, message: '`=<` is written `<=` here' };
  const message = '`=` gives a name its value and does not compare';
  return { code: 'assignment-for-equality', message, write: '==', read: cursor.readAs('==') };
};

/**
 * Repairs `approvers finance = ["ann@example.com"]`: the service, not a policy, knows who belongs to a group.
 */
const repairMembers: RepairAt = (cursor) => {
  const group = cursor.at(-1)!;
  const message = 'policies do not say who belongs to a group: the service does';
  const title = { ...retype(group, literal.quoted, `"${group.image}"`) };
  const help = `write \`approvers ${group.image} "..."\`, which says in words who they are`;
  return {
    to: cursor.type(1) === symbol.openSquare ? (cursor.closing(1) ?? 0) : 0,
    message,
    help,
    read: [title],
  };
};

/** Repairs `let x == 3`: a name is given its value by `=`. */
const repairEqual: RepairAt = (cursor) => {
  if (!cursor.awaitsAssign || !assigning.has(cursor.type(-2))) return null;
  cursor.awaitsAssign = false;
  const message = `\`${cursor.token.image}\` compares: a name is given its value by \`=\``;
  return { message, write: '=', read: cursor.readAs('=') };
};

/** Reads `:=` as `=` where a declaration gives its name a value, and as `==` elsewhere. */
const repairColonAssign: RepairAt = (cursor) => {
  const write = cursor.awaitsAssign ? '=' : '==';
  cursor.awaitsAssign = false;
  return spelled(cursor, write, 'foreign-operator');
};

function closeText(type: TokenType): RepairAt {
  return (cursor) => {
    const { token, reader } = cursor;
    const end = endOfLongText(cursor);
    if (end !== null) {
      const message = 'a text ends on the line on which it begins';
      const write = cursor
        .text(0, end)
        .split(/\s*[\r\n]+\s*/)
        .join(' ');
      return { to: end, code: 'unterminated-text', message, write, read: [retype(token, type)] };
    }
    const span = tokenSpan(token, reader);
    const help = 'a text ends on the line on which it begins';
    const diagnostic = syntaxError('unterminated-text', span, 'this text has no closing quote', help);
    const title = 'close the text at the end of the line';
    const emptySpan = { ...span, start: span.end };
    reader.report(withFix(diagnostic, { title, text: token.image.charAt(0), span: emptySpan }));
    return { read: [retype(token, type)] };
  };
}

/**
 * Offset at which a text over several lines ends; null if there is no such text. The lexer sees words between
 * two texts that do not end.
 */
function endOfLongText(cursor: Cursor): number | null {
  const quote = cursor.token.image.charAt(0);
  for (let at = 1; at < lookaheadMax && cursor.at(at) !== undefined; at++) {
    if (cursor.type(at) === cursor.token.tokenType) return cursor.at(at)!.image.trim() === quote ? at : null;
    if (!isAnyWord(cursor.at(at)) && !partsOfText.has(cursor.type(at))) return null;
  }
  return null;
}

const partsOfText: ReadonlySet<unknown> = new Set([symbol.dot, symbol.comma, symbol.colon, literal.number]);

const repairInstant: RepairAt = ({ token }) => {
  const { image } = token;
  if (/(?:Z|[+-]\d{2}:\d{2})$/.test(image)) return null;
  const message = `\`${image}\` does not say its offset from UTC`;
  const help = `write \`${image}Z\` for UTC, or an offset such as \`+02:00\``;
  return {
    code: 'instant-without-offset',
    message,
    help,
    read: [retype(token, literal.instant, `${image}Z`)],
  };
};

/** Reads `;` between fields or entries as a comma, and drops `;` elsewhere, as nothing needs an end. */
const repairSemicolon: RepairAt = (cursor) => {
  const isBetween = declaresFields.has(cursor.declaration) ? cursor.braces > 0 : cursor.isInBrackets();
  return isBetween ? spelled(cursor, ',', 'foreign-operator') : removedToken(cursor);
};

function countBraces(step: 1 | -1): RepairAt {
  return (cursor) => {
    cursor.braces = Math.max(0, cursor.braces + step);
    return null;
  };
}

const repairOptionalDot: RepairAt = (cursor) => {
  const help = 'write `.`, and ask for an optional field by `payload has note`';
  return { ...spelled(cursor, '.'), help };
};

/** The repair to try at a token, by the number of its type. */
type RepairTable = readonly (RepairAt | undefined)[];

function repairTable(...entries: readonly (readonly [TokenType, ...RepairAt[]])[]): RepairTable {
  const table: RepairAt[] = [];
  for (const [type, ...all] of entries)
    table[type.tokenTypeIdx!] = all.length === 1 ? all[0]! : firstOf(...all);
  return table;
}

/** Repairs of what the grammar takes for something else. */
export const foreignSyntaxRepairs = repairTable(
  [NameToken, repairUsedName],
  [keyword.any, repairAnyOf, repairLambda],
  [keyword.sum, repairTotal],
  [keyword.in, repairInOr],
  [literal.number, repairDate, repairNumber],
  [literal.instant, repairInstant],
  [symbol.openSquare, repairPosition],
);

export const repairs = repairTable(
  ...declaringWords.map(
    (one) =>
      [
        keyword[one],
        repairPatternKind,
        repairKindOfList,
        repairNestedDeclaration,
        repairDeclaredWord,
      ] as const,
  ),
  ...effectWords.map(
    (one) =>
      [
        keyword[one],
        repairRuleBody,
        repairRuleValue,
        repairQuotedName,
        repairNameless,
        repairDeclaredWord,
      ] as const,
  ),
  [keyword.risk, repairRisk, repairDeclaredWord],
  [
    NameToken,
    repairClauseSign,
    repairClauseWord,
    repairEnumeration,
    repairTextLetter,
    repairDashedName,
    repairForeignLine,
    repairRuleWord,
    repairFieldWithoutColon,
    repairMapRule,
    repairForeignBlock,
    repairNestedSynonym,
    repairForeignName,
    repairFirstWord,
  ],
  [keyword.when, repairConditionFirst],
  [keyword.if, repairConditionFirst, repairIf, repairConditional],
  [keyword.any, repairQuantifier, repairAnyOf, repairLambda],
  [keyword.no, repairQuantifier],
  [keyword.count, repairQuantifier],
  [keyword.sum, repairQuantifier, repairTotal],
  [keyword.to, repairAsked, repairDots],
  [keyword.up, repairRate],
  [keyword.except, repairExcept],
  [keyword.has, repairPresence],
  [Currency, repairCurrencyFirst],
  [keyword.some, repairQuantifier, repairLambda],
  [keyword.every, repairQuantifier, repairTimeout, repairLambda],
  [keyword.is, repairIs],
  [keyword.in, repairTuple, repairInOr],
  [keyword.else, repairElse],
  [literal.number, repairThousands, repairDate, repairNumber],
  [literal.instant, repairInstant],
  [symbol.assign, repairAssign],
  [symbol.openCurly, repairListBrackets, repairConditionBraces, repairMapRule, countBraces(1)],
  [symbol.closeCurly, countBraces(-1)],
  [symbol.openSquare, repairEnumeration, repairPatternList, repairPosition],
  [symbol.star, repairCountAll],
  [keyword.for, repairPolicyFor],
  [keyword.or, repairEnumeration],
  [keyword.because, repairJoinedReason, repairUnquotedReason],
  [symbol.ellipsis, repairDots],
  [symbol.optional, repairMissingBrace],
  [symbol.comma, repairRuleComma],
  [
    symbol.colon,
    repairPointsSign,
    repairListBrackets,
    repairPayloadColon,
    repairRuleColon,
    repairMissingBrace,
  ],
  [symbol.openParen, repairPayloadParens],
  [symbol.minus, repairResult, repairDots, repairMapRule],
  [literal.quoted, repairQuotesInPlaceholder, repairRuleText],
  [literal.raw, repairRawEscape, repairRuleText],
  [keyword.from, repairApprovalFrom],
  [symbol.equal, repairEqual],
  [mistake.unterminatedQuoted, closeText(literal.quoted)],
  [mistake.unterminatedRaw, closeText(literal.raw)],
  [mistake.comment, repairComment],
  [mistake.dashes, repairComment],
  [mistake.regex, repairRegex],
  [mistake.curlyQuotes, repairCurlyQuotes],
  [mistake.currencySign, repairCurrencySign],
  [mistake.percent, repairPercent],
  [mistake.semicolon, repairSemicolon],
  [mistake.optionalDot, repairOptionalDot],
  [mistake.question, repairCoalesce, repairTernary],
  [mistake.colonAssign, repairColonAssign],
  [mistake.arrow, repairRowArrow, repairRuleColon, writtenAs('>=')],
  [mistake.atLeast, writtenAs('>=')],
  [mistake.atMost, writtenAs('<=')],
  [mistake.notEqual, writtenAs('!=')],
  [mistake.doubleAmpersand, writtenAs('and')],
  [mistake.doubleBar, writtenAs('or')],
  [mistake.bang, writtenAs('not ')],
  [mistake.strictEqual, writtenAs('==')],
  [mistake.strictNotEqual, writtenAs('!=')],
  [mistake.lessGreater, writtenAs('!=')],
  [mistake.tilde, writtenAs('matches')],
);
