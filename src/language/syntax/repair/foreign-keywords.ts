// Repairs words of other languages: operators, values, tests for presence, and the word before a condition.

import {
  Currency,
  comparing,
  declaring,
  effects,
  isAnyText,
  isAnyWord,
  keyword,
  literal,
  retype,
  symbol,
  wordTypes,
} from '../parse/tokens.ts';
import {
  beforeCondition,
  type Cursor,
  literalTypes,
  presenceOf,
  type Repair,
  spelled,
  spellingByForeignWord,
} from './cursor.ts';
import {
  repairIsoDuration,
  repairRequire,
  repairResult,
  repairTimeout,
  repairTypeWord,
} from './foreign-declarations.ts';
import { repairQuantifier } from './foreign-quantifiers.ts';
import { countedByMeter, nowInHours } from './forms.ts';
import { effectVocabulary, synonymOf } from './vocabulary.ts';

/**
 * Operators by the words that mean them in other languages, in small letters: between two values, and as
 * functions and methods.
 */
const relations = spellingByForeignWord({
  'starts with': ['startswith', 'starts_with', 'hasprefix'],
  'ends with': ['endswith', 'ends_with', 'hassuffix'],
  like: ['ilike', 'glob', 'like'],
  matches: ['regexp'],
  contains: ['includes', 'contains'],
});

/** Operators by the one or two words that mean them between two values only. */
const comparisons = spellingByForeignWord({
  '==': ['equals', 'equal', 'eq', 'equal to', 'equals to'],
  '!=': ['ne', 'neq'],
  '>': ['gt', 'exceeds', 'greater than', 'bigger than', 'higher than', 'larger than', 'more than'],
  '<': ['lt', 'less than', 'fewer than', 'smaller than', 'lower than'],
  '>=': ['gte', 'ge', 'at least'],
  '<=': ['lte', 'le', 'at most'],
  in: ['in', 'IN', 'one of', 'any of'],
  'not in': ['nin', 'notin', 'not_in'],
  and: ['AND'],
  or: ['OR'],
});

const values = spellingByForeignWord({
  true: ['True', 'TRUE'],
  false: ['False', 'FALSE'],
  null: ['None', 'NULL', 'Null', 'nil', 'undefined'],
});

const describeCondition = spellingByForeignWord({
  when: ['if', 'where', 'provided', 'whenever', 'When', 'WHEN', 'If', 'IF', 'WHERE'],
});

/**
 * The operator for two texts that a function or a method of another language stands for; undefined if there
 * is none.
 */
export function relationOf(called: string): string | undefined {
  return relations.get(called.toLowerCase());
}

/** Repairs a name that stands alone and that other languages use for a word or a value. */
export function repairLoneName(cursor: Cursor): Repair | null {
  return (
    repairQuantifier(cursor) ??
    repairExists(cursor) ??
    repairClaimWord(cursor) ??
    repairSeveral(cursor) ??
    repairConditionWord(cursor) ??
    repairClauseWord(cursor) ??
    repairDoesNot(cursor) ??
    repairXor(cursor) ??
    repairTypeWord(cursor) ??
    repairResult(cursor) ??
    repairRequire(cursor) ??
    repairTimeout(cursor) ??
    repairIsoDuration(cursor) ??
    repairRelation(cursor) ??
    repairValue(cursor)
  );
}

const clauses = spellingByForeignWord({
  because: ['reason', 'message', 'msg', 'description', 'desc'],
});

/** Repairs `reason "why"`, `message: "why"`, and what `repairOtherwise` and `repairLast` repair. */
export function repairClauseWord(cursor: Cursor): Repair | null {
  const { image } = cursor.token;
  if (image === 'last') return repairLast(cursor);
  if (!cursor.isInPolicy) return null;
  if (image === 'otherwise') return repairOtherwise(cursor);
  const write = clauses.get(image);
  const to = cursor.type(1) === symbol.colon ? 1 : 0;
  return write !== undefined && isAnyText(cursor.at(to + 1)) ? { ...spelled(cursor, write), to } : null;
}

/** Repairs `allow x otherwise`. */
function repairOtherwise(cursor: Cursor): Repair | null {
  const effect = cursor.type(-2);
  if (!effects.has(effect)) return null;
  const message = '`otherwise` is not a condition: rules have no order';
  const mend = effect === keyword.deny ? 'remove the rule' : 'say when the rule applies';
  return { message, help: `${mend}: what no rule allows is denied`, read: [] };
}

/** Repairs `over last 24h`, and `count(a.b) > 3 in last hour`, which counts what has happened. */
function repairLast(cursor: Cursor): Repair | null {
  const before = cursor.type(-1);
  if (before === keyword.over) {
    const message = '`over 24h` covers the last 24 hours: no word says so';
    return { message, write: '', read: [] };
  }
  if (before !== keyword.in || !cursor.isInPolicy) return null;
  const message = 'a meter counts over a window, and rules read it';
  const isUnit = isAnyWord(cursor.at(1)) || cursor.type(1) === literal.duration;
  return { from: -1, to: isUnit ? 1 : 0, message, help: countedByMeter('3'), read: [] };
}

/** Repairs `payload.note exists`: the fix is `payload has note`. */
function repairExists(cursor: Cursor): Repair | null {
  if (cursor.token.image !== 'exists') return null;
  const path = cursor.pathBefore(0);
  if (path === null || path.length < 3 || cursor.type(1) === keyword.in) return null;
  return { from: -path.length, message: hasMessage, write: presenceOf(path.text) };
}

export const hasMessage = 'presence is asked for by `has`';

/** Reads `deny x if ...` and `deny x where ...` with `when`, also in a claim. */
/** Repairs `if` in the place of `when`: behind the name of a rule, or in a claim. */
export function repairIf(cursor: Cursor): Repair | null {
  const before = cursor.type(-1);
  const isClaim = cursor.declaration === keyword.guarantee && (effects.has(before) || endsClaim.has(before));
  const isAsked = cursor.declaration === keyword.guarantee && cursor.type(-2) === keyword.ask;
  return effects.has(cursor.type(-2)) || isClaim || isAsked ? spelled(cursor, 'when') : null;
}

const endsClaim: ReadonlySet<unknown> = new Set([keyword.unapproved, keyword.only]);

function repairConditionWord(cursor: Cursor): Repair | null {
  const isAwaited = effects.has(cursor.type(-2)) || cursor.declaration === keyword.guarantee;
  const write = isAwaited ? describeCondition.get(cursor.token.image) : undefined;
  return write === undefined ? null : spelled(cursor, write);
}

/** Repairs operators in words, as in `x startsWith "a"`, `x LIKE "a"` and `x greater than 3`. */
export function repairRelation(cursor: Cursor): Repair | null {
  const { image } = cursor.token;
  if (image === 'between' || image === 'BETWEEN') return repairBetween(cursor);
  if (!endsValue(cursor)) return null;
  const both = `${image} ${cursor.at(1)?.image}`;
  const phrase = comparisons.get(both);
  const write = phrase ?? relationOf(image) ?? comparisons.get(image);
  const to = phrase === undefined ? 0 : 1;
  if (write === undefined || !beginsValue(cursor, to + 1)) return null;
  const one = spelled(cursor, write);
  return phrase === undefined ? one : { ...one, to, message: `\`${both}\` is written \`${write}\` here` };
}

function endsValue(cursor: Cursor): boolean {
  const [before, type] = [cursor.at(-1), cursor.type(-1)];
  if (type === symbol.closeParen || type === literal.number || isAnyText(before)) return true;
  return isAnyWord(before) && !declaring.has(type);
}

function beginsValue(cursor: Cursor, offset: number): boolean {
  const type = cursor.type(offset);
  if (type === symbol.openSquare || type === symbol.openParen || type === symbol.minus) return true;
  return literalTypes.has(type) || isAnyWord(cursor.at(offset));
}

/** Reads `x between 3 and 5` as `x in 3..5`. */
function repairBetween(cursor: Cursor): Repair | null {
  const hours = hoursBetween(cursor);
  if (hours !== null) return hours;
  const [low, and, high] = [cursor.at(1), cursor.at(2), cursor.at(3)];
  if (low === undefined || high === undefined || and?.image.toLowerCase() !== 'and') return null;
  // Clock times are not reported at this point, as the stage that reads them has more to say.
  const message = low.tokenType === literal.clock ? undefined : '`between` is written as a range here';
  const read = [...cursor.readAs('in'), low, retype(and, symbol.range, '..'), high];
  return { to: 3, ...(message && { message }), write: `in ${low.image}..${high.image}`, read };
}

/** Repairs `time between 9:00 and 17:00`, where an hour has one digit. */
function hoursBetween(cursor: Cursor): Repair | null {
  const and = clockEnd(cursor, 1);
  const end =
    and === null || cursor.at(and)?.image.toLowerCase() !== 'and' ? null : clockEnd(cursor, and + 1);
  if (end === null || end === 4) return null;
  const message = 'a rule reads a time of day from hours that are declared';
  return { from: -(cursor.pathBefore(0)?.length ?? 0), to: end - 1, message, help: nowInHours };
}

/** Offset behind a time of day such as `09:00` or `9:00`; null for anything else. */
function clockEnd(cursor: Cursor, at: number): number | null {
  if (cursor.type(at) === literal.clock) return at + 1;
  const isShort = cursor.type(at) === literal.number && cursor.type(at + 1) === symbol.colon;
  return isShort && cursor.type(at + 2) === literal.number ? at + 3 : null;
}

/** Repairs values of other languages, such as `True` and `None`. */
export function repairValue(cursor: Cursor): Repair | null {
  const before = cursor.type(-1);
  if (!comparing.has(before) && !beforeCondition.has(before)) return null;
  const { image } = cursor.token;
  const write = values.get(image);
  if (write === undefined) return null;
  const message = `\`${image}\` is not a value here`;
  if (write !== 'null') return { message, write, read: cursor.readAs(write) };
  const path = cursor.pathBefore(-1);
  const help = nullHelp(path?.text ?? 'x', before === symbol.notEqual);
  return { from: path === null ? 0 : -path.length - 1, message, help };
}

function nullHelp(path: string, isNot: boolean): string {
  const has = presenceOf(path);
  return isNot
    ? `write \`${has}\` for a field that is there, \`${path} != null\` for one that may be null`
    : `write \`not (${has})\` for a field that is absent, \`${path} == null\` for one that may be null`;
}

/** Repairs `x is null`, `x is empty`, `x is 3`, and the same with `not`. */
export function repairIs(cursor: Cursor): Repair | null {
  const path = cursor.pathBefore(0);
  if (path === null) return null;
  const isNot = cursor.type(1) === keyword.not;
  const [is, last] = isNot ? ['is not', 2] : ['is', 1];
  const [value, type] = [cursor.at(last), cursor.type(last)];
  const whole = { from: -path.length, to: last };
  if (type === keyword.null || values.get(value?.image ?? '') === 'null') {
    const message = `\`${is} ${value?.image}\` may mean two things: absent and null`;
    return { ...whole, message, help: nullHelp(path.text, isNot) };
  }
  if (value?.image === 'empty') {
    const write = `length(${path.text}) ${isNot ? '>' : '=='} 0`;
    return { ...whole, message: 'an empty value has a length of 0', write };
  }
  if (!literalTypes.has(type) && type !== keyword.true && type !== keyword.false)
    return repairIsPhrase(cursor, last);
  const write = isNot ? '!=' : '==';
  return { to: last - 1, message: `\`${is}\` compares no values`, write, read: cursor.readAs(write) };
}

/**
 * Repairs `x is greater than 3`, `x is one of [...]` and `x is not in [...]`: the fix is an operator without
 * `is`.
 */
function repairIsPhrase(cursor: Cursor, first: number): Repair | null {
  const both = comparisons.get(`${cursor.at(first)?.image} ${cursor.at(first + 1)?.image}`);
  const meant = both ?? comparisons.get(cursor.at(first)?.image ?? '');
  if (meant === undefined || (first === 2 && meant !== 'in')) return null;
  const to = both === undefined ? first : first + 1;
  const write = first === 2 ? 'not in' : meant;
  const message = `\`${cursor.text(0, to)}\` is written \`${write}\` here`;
  return { to, message, write, read: cursor.readAs(write) };
}

/** Last words of the operators that `any of` may follow. */
const beforeAny = wordTypes('contains', 'like', 'matches', 'with', 'inside', 'within');

/** Repairs `x contains one of [...]` and `x contains all of [...]`. */
function repairSeveral(cursor: Cursor): Repair | null {
  const isSeveral =
    cursor.at(1)?.image === 'of' && cursor.type(2) === symbol.openSquare && beforeAny.has(cursor.type(-1));
  if (!isSeveral || !/^(?:one|all)$/.test(cursor.token.image)) return null;
  const message = `\`${cursor.text(0, 1)}\` has no operator before it`;
  const read = cursor.readAs('any of');
  if (cursor.token.image === 'one') return { to: 1, message, write: 'any of', read };
  const path = cursor.pathBefore(-1)?.text ?? 'payload.note';
  const help = `write \`every x in [...] (${path} ${cursor.at(-1)!.image} x)\``;
  return { to: 1, message, help, read };
}

/** Repairs `x in any of [...]`, `x == any of [...]` and `x contains any [...]`. */
export function repairAnyOf(cursor: Cursor): Repair | null {
  const before = cursor.type(-1);
  const isAnyOf = cursor.at(1)?.image === 'of';
  if (!isAnyOf) {
    return beforeAny.has(before) && cursor.type(1) === symbol.openSquare ? spelled(cursor, 'any of') : null;
  }
  if (before === keyword.in) return { to: 1, message: '`in` takes the list itself', write: '', read: [] };
  if (before !== symbol.equal && before !== symbol.notEqual) return null;
  const write = before === symbol.equal ? 'in' : 'not in';
  const message = `\`${cursor.text(-1, 1)}\` is written \`${write}\` here`;
  return { from: -1, to: 1, message, write, read: cursor.readAs(write) };
}

const verbs = spellingByForeignWord({
  contains: ['contain', 'include'],
  matches: ['match'],
  like: ['resemble'],
});

/** Repairs `x does not contain "a"`: `not` goes before the whole comparison. */
function repairDoesNot(cursor: Cursor): Repair | null {
  const relation = verbs.get(cursor.at(2)?.image ?? '');
  const path = cursor.pathBefore(0);
  if (cursor.token.image !== 'does' || cursor.type(1) !== keyword.not || !relation || !path) return null;
  const message = `\`${cursor.text(0, 2)}\` is written with \`not\` before the whole`;
  return {
    to: 2,
    message,
    help: `write \`not (${path.text} ${relation} ...)\``,
    read: cursor.readAs(relation),
  };
}

/** Repairs a claim such as `never permit when c`, which names an effect by a word of another language. */
function repairClaimWord(cursor: Cursor): Repair | null {
  if (cursor.type(-1) !== keyword.never && cursor.type(-1) !== keyword.always) return null;
  const effect = synonymOf(cursor.token.image, effectVocabulary);
  return effect === null ? null : spelled(cursor, effect);
}

/** Reads `c xor d` as `c or d`. */
function repairXor(cursor: Cursor): Repair | null {
  if (!/^xor$/i.test(cursor.token.image) || !endsValue(cursor)) return null;
  const help = 'write `(a and not b) or (b and not a)`';
  return { message: `\`${cursor.token.image}\` joins no conditions here`, help, read: cursor.readAs('or') };
}

/** Reads `USD 500` as `500 USD`. */
export function repairCurrencyFirst(cursor: Cursor): Repair | null {
  const [currency, number] = [cursor.token, cursor.at(1)];
  if (number?.tokenType !== literal.number || !comparing.has(cursor.type(-1))) return null;
  const read = [retype(currency, literal.number, number.image), retype(number, Currency, currency.image)];
  const write = `${number.image} ${currency.image}`;
  return { to: 1, message: 'the currency follows the number', write, read };
}
