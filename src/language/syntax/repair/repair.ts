// Tokens → tokens that the grammar knows: what people write by habit from other languages or spell almost right is
// reported with a fix and read as what was meant, so that one slip costs one diagnostic.

import type { TokenType } from 'chevrotain';
import type { Diagnostic } from '../../diagnostic/diagnostic.ts';
import { spanning } from '../../diagnostic/span.ts';
import { type Reader, syntaxError, tokenSpan, withFix } from '../parse/context.ts';
import {
  assigning,
  Currency,
  declaringWords,
  effectWords,
  isAnyWord,
  literal,
  mistake,
  NameToken,
  retype,
  sign,
  type Token,
  word,
} from '../parse/tokens.ts';
import { Cursor, hole, lookaheadMax, needless, type Repair, type RepairAt, spelled } from './cursor.ts';
import { repairCall, repairLambda, repairMethod, repairPresence, repairTotal } from './foreign-calls.ts';
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
  repairListBrackets,
  repairMissingBrace,
  repairNoValue,
  repairPayloadColon,
  repairPayloadParens,
  repairPointsSign,
  repairResult,
  repairRowArrow,
  repairTimeout,
} from './foreign-declarations.ts';
import { repairQuantifier } from './foreign-quantifiers.ts';
import {
  repairApprovalFrom,
  repairClauseSign,
  repairConditionFirst,
  repairElse,
  repairForeignLine,
  repairNameless,
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
  repairRawEscape,
  repairRegex,
  repairTernary,
  repairTextLetter,
  repairThousands,
  repairTuple,
} from './foreign-signs.ts';
import {
  repairAnyOf,
  repairClauseWord,
  repairCurrencyFirst,
  repairIs,
  repairLoneName,
  repairRelation,
  repairValue,
} from './foreign-words.ts';
import { repairForeignBlock, repairMapRule, repairNestedDeclaration, repairNestedSynonym } from './nested.ts';
import { repairDate, repairNumber } from './number.ts';
import { repairDeclaredWord, repairFirstWord, repairRisk } from './word.ts';

/** Whether tokens that the grammar may take hold a habit of other languages all the same, as `x == None` does. */
export function holdsHabits(tokens: readonly Token[], reader: Reader): boolean {
  const here = new Cursor(tokens, reader);
  return tokens.some(({ tokenTypeIdx }, index) => {
    const find = habits[tokenTypeIdx];
    if (find === undefined) return false;
    here.index = index;
    return find(here) !== null;
  });
}

/** The same tokens where nothing is to be repaired. A slip that a declaration has several times is one diagnostic. */
export function repair(tokens: Token[], reader: Reader): Token[] {
  const slips = new Map<string, Diagnostic>();
  const here: Cursor = new Cursor(tokens, {
    ...reader,
    report: (slip) => noteSlip(slip, slips, here.declarationAt),
  });
  const repaired = repairAll(here) ?? tokens;
  for (const slip of slips.values()) reader.report(slip);
  return repaired;
}

function noteSlip(slip: Diagnostic, slips: Map<string, Diagnostic>, declarationAt: number): void {
  const key = `${declarationAt} ${slip.code} ${slip.message}`;
  const first = slips.get(key);
  slips.set(key, first === undefined ? slip : togetherWith(slip, first));
}

function togetherWith({ span, fix }: Diagnostic, first: Diagnostic): Diagnostic {
  const related = [...(first.related ?? []), { span, message: 'here, too' }];
  if (first.fix === undefined || fix === undefined) return { ...first, related };
  const isSame = first.fix.title === fix.title;
  const title = isSame ? fix.title : 'write all of them so';
  return { ...first, related, fix: { title, edits: [...first.fix.edits, ...fix.edits] } };
}

/** Null where nothing is to be repaired. */
function repairAll(here: Cursor): Token[] | null {
  const { tokens } = here;
  let repaired: Token[] | null = null;
  while (here.index < tokens.length) {
    const { index, token } = here;
    const reread = here.rereads.size === 0 ? undefined : here.rereads.get(index);
    const better: Repair | null = reread ? { read: [reread] } : (repairs[token.tokenTypeIdx]?.(here) ?? null);
    if (better === null) {
      repaired?.push(token);
      here.index++;
      continue;
    }
    const { from = 0, to = Math.max(from, 0), read = [hole(here.at(from)!)] } = better;
    report(better, { from, to }, here);
    repaired ??= tokens.slice(0, index);
    if (from < 0) repaired.length += from;
    repaired.push(...tokens.slice(index, index + from), ...read);
    here.index += to + 1;
  }
  return repaired;
}

interface Run {
  readonly from: number;
  readonly to: number;
}

function report(
  { message, code = 'foreign-form', write, help }: Repair,
  { from, to }: Run,
  here: Cursor,
): void {
  if (message === undefined) return;
  const { reader } = here;
  const last = here.at(Math.max(from, to))!;
  const span = spanning(tokenSpan(here.at(from)!, reader), tokenSpan(last, reader));
  const title = write === '' ? 'remove it' : `write \`${write?.trim()}\``;
  const diagnostic = syntaxError(code, span, message, help ?? (write === undefined ? undefined : title));
  reader.report(write === undefined ? diagnostic : withFix(diagnostic, { title, text: write }));
}

// ---- by the type of the token

/** The first repair that applies. */
function firstOf(...all: readonly RepairAt[]): RepairAt {
  return (here) => {
    for (const one of all) {
      const better = one(here);
      if (better !== null) return better;
    }
    return null;
  };
}

/** A sign that has another spelling here. */
function writtenAs(write: string): RepairAt {
  return (here) => spelled(here, write, 'foreign-operator');
}

/** A name that other languages use for a word, a function, a method or a value of this one. */
const repairForeignName: RepairAt = (here) => {
  const [before, next] = [here.type(-1), here.type(1)];
  if (next === sign.openParen) {
    if (before === sign.dot) return here.isAdjacent(1) ? repairMethod(here) : null;
    if (before === word.in) return null;
    return repairConditionFirst(here) ?? repairRelation(here) ?? repairCall(here);
  }
  if (next === sign.openSquare) return repairListType(here) ?? repairRelation(here);
  const isField = before === sign.dot || next === sign.dot || next === sign.colon || next === sign.optional;
  return isField ? null : (repairConditionFirst(here) ?? repairLoneName(here));
};

/** Such a name where an expression may hold it. */
const repairUsedName: RepairAt = (here) => {
  const [before, next] = [here.type(-1), here.type(1)];
  if (next === sign.openParen || next === sign.openSquare) return repairForeignName(here);
  const isField = before === sign.dot || next === sign.dot;
  return isField ? null : (repairValue(here) ?? repairIsoDuration(here));
};

/** `=` between two values, or before a list with dashes. */
const repairAssign: RepairAt = (here) => {
  const isAssign = here.awaitsAssign;
  here.awaitsAssign = false;
  if (isAssign) return repairDashedList(here);
  if (here.type(-2) === word.approvers) return repairMembers(here);
  const other = repairPointsSign(here) ?? repairClauseSign(here) ?? repairNoValue(here);
  if (other !== null) return other;
  if (here.type(1) === sign.below && here.isAdjacent(1))
    return { ...spelled(here, '<=', 'foreign-operator'), to: 1, message: '`=<` is written `<=` here' };
  const message = '`=` gives a name its value and does not compare';
  return { code: 'assignment-for-equality', message, write: '==', read: here.readAs('==') };
};

/** `approvers finance = ["ann@example.com"]`. */
const repairMembers: RepairAt = (here) => {
  const group = here.at(-1)!;
  const message = 'policies do not say who belongs to a group: the service does';
  const title = { ...retype(group, literal.quoted, `"${group.image}"`) };
  const help = `write \`approvers ${group.image} "..."\`, which says in words who they are`;
  return { to: here.type(1) === sign.openSquare ? (here.closing(1) ?? 0) : 0, message, help, read: [title] };
};

/** `let x == 3` gives a name its value. */
const repairEqual: RepairAt = (here) => {
  if (!here.awaitsAssign || !assigning.has(here.type(-2))) return null;
  here.awaitsAssign = false;
  const message = `\`${here.token.image}\` compares: a name is given its value by \`=\``;
  return { message, write: '=', read: here.readAs('=') };
};

/** `:=` gives a name its value in a declaration and compares elsewhere. */
const repairColonAssign: RepairAt = (here) => {
  const write = here.awaitsAssign ? '=' : '==';
  here.awaitsAssign = false;
  return spelled(here, write, 'foreign-operator');
};

function closeText(type: TokenType): RepairAt {
  return (here) => {
    const { token, reader } = here;
    const end = endOfLongText(here);
    if (end !== null) {
      const message = 'a text ends on the line on which it begins';
      const write = here
        .text(0, end)
        .split(/\s*[\r\n]+\s*/)
        .join(' ');
      return { to: end, code: 'unterminated-text', message, write, read: [retype(token, type)] };
    }
    const span = tokenSpan(token, reader);
    const help = 'a text ends on the line on which it begins';
    const diagnostic = syntaxError('unterminated-text', span, 'this text has no closing quote', help);
    const title = 'close the text at the end of the line';
    const place = { ...span, start: span.end };
    reader.report(withFix(diagnostic, { title, text: token.image.charAt(0), span: place }));
    return { read: [retype(token, type)] };
  };
}

/** Where a text over several lines ends, which the lexer sees as words between two texts that do not end. */
function endOfLongText(here: Cursor): number | null {
  const quote = here.token.image.charAt(0);
  for (let at = 1; at < lookaheadMax && here.at(at) !== undefined; at++) {
    if (here.type(at) === here.token.tokenType) return here.at(at)!.image.trim() === quote ? at : null;
    if (!isAnyWord(here.at(at)) && !partsOfText.has(here.type(at))) return null;
  }
  return null;
}

const partsOfText: ReadonlySet<unknown> = new Set([sign.dot, sign.comma, sign.colon, literal.number]);

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

/** `;` parts fields and entries, or ends what needs no end. */
const repairSemicolon: RepairAt = (here) => {
  const isBetween = declaresFields.has(here.declaration) ? here.braces > 0 : here.isInBrackets();
  return isBetween ? spelled(here, ',', 'foreign-operator') : needless(here);
};

function countBraces(step: 1 | -1): RepairAt {
  return (here) => {
    here.braces = Math.max(0, here.braces + step);
    return null;
  };
}

const repairOptionalDot: RepairAt = (here) => {
  const help = 'write `.`, and ask for an optional field by `payload has note`';
  return { ...spelled(here, '.'), help };
};

/** The first repair that applies, by the number of a token type. */
type RepairTable = readonly (RepairAt | undefined)[];

function repairTable(...entries: readonly (readonly [TokenType, ...RepairAt[]])[]): RepairTable {
  const table: RepairAt[] = [];
  for (const [type, ...all] of entries)
    table[type.tokenTypeIdx!] = all.length === 1 ? all[0]! : firstOf(...all);
  return table;
}

/** What the grammar takes for something else. */
const habits = repairTable(
  [NameToken, repairUsedName],
  [word.any, repairAnyOf, repairLambda],
  [word.sum, repairTotal],
  [word.in, repairInOr],
  [literal.number, repairDate, repairNumber],
  [literal.instant, repairInstant],
  [sign.openSquare, repairPosition],
);

const repairs = repairTable(
  ...declaringWords.map((one) => [word[one], repairNestedDeclaration, repairDeclaredWord] as const),
  ...effectWords.map(
    (one) =>
      [
        word[one],
        repairRuleBody,
        repairRuleValue,
        repairQuotedName,
        repairNameless,
        repairDeclaredWord,
      ] as const,
  ),
  [word.risk, repairRisk, repairDeclaredWord],
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
  [word.when, repairConditionFirst],
  [word.any, repairQuantifier, repairAnyOf, repairLambda],
  [word.no, repairQuantifier],
  [word.count, repairQuantifier],
  [word.sum, repairQuantifier, repairTotal],
  [word.to, repairAsked, repairDots],
  [word.except, repairExcept],
  [word.has, repairPresence],
  [Currency, repairCurrencyFirst],
  [word.some, repairQuantifier, repairLambda],
  [word.every, repairQuantifier, repairTimeout, repairLambda],
  [word.is, repairIs],
  [word.in, repairTuple, repairInOr],
  [word.else, repairElse],
  [literal.number, repairThousands, repairDate, repairNumber],
  [literal.instant, repairInstant],
  [sign.assign, repairAssign],
  [sign.openCurly, repairListBrackets, repairConditionBraces, repairMapRule, countBraces(1)],
  [sign.closeCurly, countBraces(-1)],
  [sign.openSquare, repairEnumeration, repairPatternList, repairPosition],
  [sign.star, repairCountAll],
  [word.for, repairPolicyFor],
  [word.or, repairEnumeration],
  [word.because, repairUnquotedReason],
  [sign.ellipsis, repairDots],
  [sign.optional, repairMissingBrace],
  [sign.comma, repairRuleComma],
  [sign.colon, repairPointsSign, repairListBrackets, repairPayloadColon, repairRuleColon, repairMissingBrace],
  [sign.openParen, repairPayloadParens],
  [sign.minus, repairResult, repairDots, repairMapRule],
  [literal.quoted, repairRuleText],
  [literal.raw, repairRawEscape, repairRuleText],
  [word.from, repairApprovalFrom],
  [sign.equal, repairEqual],
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
