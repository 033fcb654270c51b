// Tokens → tokens that the grammar knows: what people write by habit from other languages or spell almost right is
// reported with a fix and read as what was meant, so that one slip costs one diagnostic.

import type { TokenType } from 'chevrotain';
import { type Reader, syntaxError, tokenSpan, withFix } from '../parse/context.ts';
import {
  assigning,
  Currency,
  isAnyWord,
  literal,
  mistake,
  NameToken,
  reservedWords,
  retype,
  sign,
  type Token,
  word,
} from '../parse/tokens.ts';
import { repairConditionBraces, repairPosition, repairThousands } from './foreign-brackets.ts';
import { repairLambda, repairPresence } from './foreign-calls.ts';
import { repairConditionFirst, repairDashedList, repairForeignLine } from './foreign-lines.ts';
import { repairTuple } from './foreign-relations.ts';
import {
  repairComment,
  repairCurlyQuotes,
  repairCurrencySign,
  repairOptionalDot,
  repairPercent,
  repairRegex,
  repairSemicolon,
  repairTernary,
} from './foreign-signs.ts';
import { repairCurrencyFirst, repairElse, repairForeignName, repairIsNull } from './foreign-words.ts';
import { repairNumber } from './number.ts';
import {
  type Repair,
  type RepairAt,
  type RepairState,
  reportProblem,
  type SyntaxProblem,
} from './problem.ts';
import { repairDeclaredWord, repairFirstWord, repairRisk } from './word.ts';

/** The same tokens where nothing is to be repaired. */
export function repair(tokens: Token[], reader: Reader): Token[] {
  const state: RepairState = {
    tokens,
    reader,
    awaitsAssign: false,
    braces: 0,
    declaration: null,
    rereads: new Map(),
  };
  let repaired: Token[] | null = null;
  for (let index = 0; index < tokens.length; ) {
    const token = tokens[index]!;
    const reread = state.rereads.size === 0 ? undefined : state.rereads.get(index);
    const better =
      reread === undefined
        ? (repairs[token.tokenTypeIdx]?.(index, state) ?? null)
        : { taken: 1, tokens: [reread] };
    if (better !== null) {
      repaired ??= tokens.slice(0, index);
      if (better.before !== undefined) repaired.length -= better.before;
      repaired.push(...better.tokens);
    } else repaired?.push(token);
    index += better?.taken ?? 1;
  }
  return repaired ?? tokens;
}

function replace(token: Token, better: Token, problem: SyntaxProblem, { reader }: RepairState): Repair {
  reportProblem(tokenSpan(token, reader), problem, reader);
  return { taken: 1, tokens: [better] };
}

function foreignOperator(type: TokenType, write: string): RepairAt {
  return (index, state) => {
    const token = state.tokens[index]!;
    const text = write.trim();
    const message = `\`${token.image}\` is written \`${text}\` here`;
    return replace(token, retype(token, type, text), { code: 'foreign-operator', message, write }, state);
  };
}

function repairAssign(index: number, state: RepairState): Repair | null {
  const token = state.tokens[index]!;
  const isAssign = state.awaitsAssign;
  state.awaitsAssign = false;
  if (isAssign) return repairDashedList(index, state);
  const message = '`=` gives a name its value and does not compare';
  const problem = { code: 'assignment-for-equality', message, write: '==' } as const;
  return replace(token, retype(token, sign.equal, '=='), problem, state);
}

function repairText(index: number, { tokens, reader }: RepairState): Repair {
  const token = tokens[index]!;
  const quote = token.image.charAt(0);
  const span = tokenSpan(token, reader);
  const help = 'a text ends on the line on which it begins';
  const diagnostic = syntaxError('unterminated-text', span, 'this text has no closing quote', help);
  const fix = {
    title: 'close the text at the end of the line',
    text: quote,
    span: { ...span, start: span.end },
  };
  reader.report(withFix(diagnostic, fix));
  return { taken: 1, tokens: [retype(token, quote === '"' ? literal.quoted : literal.raw)] };
}

function repairInstant(index: number, state: RepairState): Repair | null {
  const token = state.tokens[index]!;
  if (/(?:Z|[+-]\d{2}:\d{2})$/.test(token.image)) return null;
  const message = `\`${token.image}\` does not say its offset from UTC`;
  const help = `write \`${token.image}Z\` for UTC, or an offset such as \`+02:00\``;
  const better = retype(token, literal.instant, `${token.image}Z`);
  return replace(token, better, { code: 'instant-without-offset', message, write: null, help }, state);
}

function countBraces(step: 1 | -1): RepairAt {
  return (index, state) => {
    const better = step === 1 ? repairConditionBraces(index, state) : null;
    if (better !== null) return better;
    state.braces = Math.max(0, state.braces + step);
    return null;
  };
}

/** The first repair that applies. */
function firstOf(...all: readonly RepairAt[]): RepairAt {
  return (index, state) => {
    for (const one of all) {
      const better = one(index, state);
      if (better !== null) return better;
    }
    return null;
  };
}

/** `to finance, security` asks both groups. */
function repairGroupComma(index: number, state: RepairState): Repair | null {
  const typeAt = (at: number): unknown => state.tokens[at]?.tokenType;
  let at = index;
  while ((typeAt(at) === sign.comma || typeAt(at) === word.and) && isAnyWord(state.tokens[at - 1])) at -= 2;
  const isAsked = at < index && (typeAt(at) === word.to || typeAt(at) === word.by);
  return isAsked ? foreignOperator(word.and, ' and')(index, state) : null;
}

/** `let x == 3` gives a name its value. */
function repairEqual(index: number, state: RepairState): Repair | null {
  if (!state.awaitsAssign || !assigning.has(state.tokens[index - 2]?.tokenType)) return null;
  state.awaitsAssign = false;
  const token = state.tokens[index]!;
  const message = `\`${token.image}\` compares: a name is given its value by \`=\``;
  return replace(
    token,
    retype(token, sign.assign, '='),
    { code: 'foreign-form', message, write: '=' },
    state,
  );
}

/** `:=` gives a name its value in a declaration and compares elsewhere. */
function repairColonAssign(index: number, state: RepairState): Repair | null {
  const better = state.awaitsAssign ? '=' : '==';
  state.awaitsAssign = false;
  const type = better === '=' ? sign.assign : sign.equal;
  return foreignOperator(type, better)(index, state);
}

/** What is looked at twice, by the number of its token type. */
const repairs: (RepairAt | undefined)[] = [];
for (const text of reservedWords) repairs[word[text].tokenTypeIdx!] = repairDeclaredWord;
for (const [type, repairAt] of [
  [word.risk, repairRisk],
  [NameToken, firstOf(repairForeignLine, repairForeignName, repairFirstWord)],
  [word.when, firstOf(repairConditionFirst, repairDeclaredWord)],
  [word.any, repairLambda],
  [word.has, repairPresence],
  [Currency, repairCurrencyFirst],
  [word.some, firstOf(repairLambda, repairDeclaredWord)],
  [word.every, firstOf(repairLambda, repairDeclaredWord)],
  [word.is, firstOf(repairIsNull, repairDeclaredWord)],
  [word.in, firstOf(repairTuple, repairDeclaredWord)],
  [word.else, firstOf(repairElse, repairDeclaredWord)],
  [literal.number, firstOf(repairThousands, repairNumber)],
  [literal.instant, repairInstant],
  [sign.assign, repairAssign],
  [sign.openCurly, countBraces(1)],
  [sign.closeCurly, countBraces(-1)],
  [mistake.unterminatedQuoted, repairText],
  [mistake.unterminatedRaw, repairText],
  [sign.openSquare, repairPosition],
  [sign.comma, repairGroupComma],
  [sign.equal, repairEqual],
  [mistake.comment, repairComment],
  [mistake.dashes, repairComment],
  [mistake.regex, repairRegex],
  [mistake.curlyQuotes, repairCurlyQuotes],
  [mistake.currencySign, repairCurrencySign],
  [mistake.percent, repairPercent],
  [mistake.semicolon, repairSemicolon],
  [mistake.optionalDot, repairOptionalDot],
  [mistake.question, repairTernary],
  [mistake.colonAssign, repairColonAssign],
  [mistake.arrow, foreignOperator(sign.atLeast, '>=')],
  [mistake.atLeast, foreignOperator(sign.atLeast, '>=')],
  [mistake.atMost, foreignOperator(sign.atMost, '<=')],
  [mistake.notEqual, foreignOperator(sign.notEqual, '!=')],
  [mistake.doubleAmpersand, foreignOperator(word.and, 'and')],
  [mistake.doubleBar, foreignOperator(word.or, 'or')],
  [mistake.bang, foreignOperator(word.not, 'not ')],
  [mistake.strictEqual, foreignOperator(sign.equal, '==')],
  [mistake.strictNotEqual, foreignOperator(sign.notEqual, '!=')],
  [mistake.lessGreater, foreignOperator(sign.notEqual, '!=')],
] as const) {
  repairs[type.tokenTypeIdx!] = repairAt;
}
