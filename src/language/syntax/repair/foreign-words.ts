// Repairs words of other languages: operators, values, tests for presence, and the word before a condition.

import {
  Currency,
  comparing,
  declaring,
  effects,
  isAnyText,
  isAnyWord,
  literal,
  retype,
  sign,
  word,
  wordTypes,
} from '../parse/tokens.ts';
import {
  beforeCondition,
  byForeignWord,
  type Cursor,
  literalTypes,
  presenceOf,
  type Repair,
  spelled,
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
const relations = byForeignWord({
  'starts with': ['startswith', 'starts_with', 'hasprefix'],
  'ends with': ['endswith', 'ends_with', 'hassuffix'],
  like: ['ilike', 'glob', 'like'],
  matches: ['regexp'],
  contains: ['includes', 'contains'],
});

/** Operators by the one or two words that mean them between two values only. */
const comparisons = byForeignWord({
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

const values = byForeignWord({
  true: ['True', 'TRUE'],
  false: ['False', 'FALSE'],
  null: ['None', 'NULL', 'Null', 'nil', 'undefined'],
});

const conditionWords = byForeignWord({
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
export function repairLoneName(here: Cursor): Repair | null {
  return (
    repairQuantifier(here) ??
    repairExists(here) ??
    repairClaimWord(here) ??
    repairSeveral(here) ??
    repairConditionWord(here) ??
    repairClauseWord(here) ??
    repairDoesNot(here) ??
    repairXor(here) ??
    repairTypeWord(here) ??
    repairResult(here) ??
    repairRequire(here) ??
    repairTimeout(here) ??
    repairIsoDuration(here) ??
    repairRelation(here) ??
    repairValue(here)
  );
}

const clauses = byForeignWord({
  because: ['reason', 'message', 'msg', 'description', 'desc'],
});

/** Repairs `reason "why"`, `message: "why"`, and what `repairOtherwise` and `repairLast` repair. */
export function repairClauseWord(here: Cursor): Repair | null {
  const { image } = here.token;
  if (image === 'last') return repairLast(here);
  if (!here.isInPolicy) return null;
  if (image === 'otherwise') return repairOtherwise(here);
  const write = clauses.get(image);
  const to = here.type(1) === sign.colon ? 1 : 0;
  return write !== undefined && isAnyText(here.at(to + 1)) ? { ...spelled(here, write), to } : null;
}

/** Repairs `allow x otherwise`. */
function repairOtherwise(here: Cursor): Repair | null {
  const effect = here.type(-2);
  if (!effects.has(effect)) return null;
  const message = '`otherwise` is not a condition: rules have no order';
  const mend = effect === word.deny ? 'remove the rule' : 'say when the rule applies';
  return { message, help: `${mend}: what no rule allows is denied`, read: [] };
}

/** Repairs `over last 24h`, and `count(a.b) > 3 in last hour`, which counts what has happened. */
function repairLast(here: Cursor): Repair | null {
  const before = here.type(-1);
  if (before === word.over) {
    const message = '`over 24h` covers the last 24 hours: no word says so';
    return { message, write: '', read: [] };
  }
  if (before !== word.in || !here.isInPolicy) return null;
  const message = 'a meter counts over a window, and rules read it';
  const isUnit = isAnyWord(here.at(1)) || here.type(1) === literal.duration;
  return { from: -1, to: isUnit ? 1 : 0, message, help: countedByMeter('3'), read: [] };
}

/** Repairs `payload.note exists`: the fix is `payload has note`. */
function repairExists(here: Cursor): Repair | null {
  if (here.token.image !== 'exists') return null;
  const path = here.pathBefore(0);
  if (path === null || path.length < 3 || here.type(1) === word.in) return null;
  return { from: -path.length, message: hasMessage, write: presenceOf(path.text) };
}

export const hasMessage = 'presence is asked for by `has`';

/** Reads `deny x if ...` and `deny x where ...` with `when`, also in a claim. */
/** Repairs `if` in the place of `when`: behind the name of a rule, or in a claim. */
export function repairIf(here: Cursor): Repair | null {
  const before = here.type(-1);
  const isClaim = here.declaration === word.guarantee && (effects.has(before) || endsClaim.has(before));
  const isAsked = here.declaration === word.guarantee && here.type(-2) === word.ask;
  return effects.has(here.type(-2)) || isClaim || isAsked ? spelled(here, 'when') : null;
}

const endsClaim: ReadonlySet<unknown> = new Set([word.unapproved, word.only]);

function repairConditionWord(here: Cursor): Repair | null {
  const isAwaited = effects.has(here.type(-2)) || here.declaration === word.guarantee;
  const write = isAwaited ? conditionWords.get(here.token.image) : undefined;
  return write === undefined ? null : spelled(here, write);
}

/** Repairs operators in words, as in `x startsWith "a"`, `x LIKE "a"` and `x greater than 3`. */
export function repairRelation(here: Cursor): Repair | null {
  const { image } = here.token;
  if (image === 'between' || image === 'BETWEEN') return repairBetween(here);
  if (!endsValue(here)) return null;
  const both = `${image} ${here.at(1)?.image}`;
  const phrase = comparisons.get(both);
  const write = phrase ?? relationOf(image) ?? comparisons.get(image);
  const to = phrase === undefined ? 0 : 1;
  if (write === undefined || !beginsValue(here, to + 1)) return null;
  const one = spelled(here, write);
  return phrase === undefined ? one : { ...one, to, message: `\`${both}\` is written \`${write}\` here` };
}

function endsValue(here: Cursor): boolean {
  const [before, type] = [here.at(-1), here.type(-1)];
  if (type === sign.closeParen || type === literal.number || isAnyText(before)) return true;
  return isAnyWord(before) && !declaring.has(type);
}

function beginsValue(here: Cursor, offset: number): boolean {
  const type = here.type(offset);
  if (type === sign.openSquare || type === sign.openParen || type === sign.minus) return true;
  return literalTypes.has(type) || isAnyWord(here.at(offset));
}

/** Reads `x between 3 and 5` as `x in 3..5`. */
function repairBetween(here: Cursor): Repair | null {
  const hours = hoursBetween(here);
  if (hours !== null) return hours;
  const [low, and, high] = [here.at(1), here.at(2), here.at(3)];
  if (low === undefined || high === undefined || and?.image.toLowerCase() !== 'and') return null;
  // Clock times are not reported at this point, as the stage that reads them has more to say.
  const message = low.tokenType === literal.clock ? undefined : '`between` is written as a range here';
  const read = [...here.readAs('in'), low, retype(and, sign.range, '..'), high];
  return { to: 3, ...(message && { message }), write: `in ${low.image}..${high.image}`, read };
}

/** Repairs `time between 9:00 and 17:00`, where an hour has one digit. */
function hoursBetween(here: Cursor): Repair | null {
  const and = clockEnd(here, 1);
  const end = and === null || here.at(and)?.image.toLowerCase() !== 'and' ? null : clockEnd(here, and + 1);
  if (end === null || end === 4) return null;
  const message = 'a rule reads a time of day from hours that are declared';
  return { from: -(here.pathBefore(0)?.length ?? 0), to: end - 1, message, help: nowInHours };
}

/** Offset behind a time of day such as `09:00` or `9:00`; null for anything else. */
function clockEnd(here: Cursor, at: number): number | null {
  if (here.type(at) === literal.clock) return at + 1;
  const isShort = here.type(at) === literal.number && here.type(at + 1) === sign.colon;
  return isShort && here.type(at + 2) === literal.number ? at + 3 : null;
}

/** Repairs values of other languages, such as `True` and `None`. */
export function repairValue(here: Cursor): Repair | null {
  const before = here.type(-1);
  if (!comparing.has(before) && !beforeCondition.has(before)) return null;
  const { image } = here.token;
  const write = values.get(image);
  if (write === undefined) return null;
  const message = `\`${image}\` is not a value here`;
  if (write !== 'null') return { message, write, read: here.readAs(write) };
  const path = here.pathBefore(-1);
  const help = nullHelp(path?.text ?? 'x', before === sign.notEqual);
  return { from: path === null ? 0 : -path.length - 1, message, help };
}

function nullHelp(path: string, isNot: boolean): string {
  const has = presenceOf(path);
  return isNot
    ? `write \`${has}\` for a field that is there, \`${path} != null\` for one that may be null`
    : `write \`not (${has})\` for a field that is absent, \`${path} == null\` for one that may be null`;
}

/** Repairs `x is null`, `x is empty`, `x is 3`, and the same with `not`. */
export function repairIs(here: Cursor): Repair | null {
  const path = here.pathBefore(0);
  if (path === null) return null;
  const isNot = here.type(1) === word.not;
  const [is, last] = isNot ? ['is not', 2] : ['is', 1];
  const [value, type] = [here.at(last), here.type(last)];
  const whole = { from: -path.length, to: last };
  if (type === word.null || values.get(value?.image ?? '') === 'null') {
    const message = `\`${is} ${value?.image}\` may mean two things: absent and null`;
    return { ...whole, message, help: nullHelp(path.text, isNot) };
  }
  if (value?.image === 'empty') {
    const write = `length(${path.text}) ${isNot ? '>' : '=='} 0`;
    return { ...whole, message: 'what is empty has a length of 0', write };
  }
  if (!literalTypes.has(type) && type !== word.true && type !== word.false) return repairIsPhrase(here, last);
  const write = isNot ? '!=' : '==';
  return { to: last - 1, message: `\`${is}\` compares no values`, write, read: here.readAs(write) };
}

/**
 * Repairs `x is greater than 3`, `x is one of [...]` and `x is not in [...]`: the fix is an operator without
 * `is`.
 */
function repairIsPhrase(here: Cursor, first: number): Repair | null {
  const both = comparisons.get(`${here.at(first)?.image} ${here.at(first + 1)?.image}`);
  const meant = both ?? comparisons.get(here.at(first)?.image ?? '');
  if (meant === undefined || (first === 2 && meant !== 'in')) return null;
  const to = both === undefined ? first : first + 1;
  const write = first === 2 ? 'not in' : meant;
  const message = `\`${here.text(0, to)}\` is written \`${write}\` here`;
  return { to, message, write, read: here.readAs(write) };
}

/** Last words of the operators that `any of` may follow. */
const beforeAny = wordTypes('contains', 'like', 'matches', 'with', 'inside', 'within');

/** Repairs `x contains one of [...]` and `x contains all of [...]`. */
function repairSeveral(here: Cursor): Repair | null {
  const isSeveral =
    here.at(1)?.image === 'of' && here.type(2) === sign.openSquare && beforeAny.has(here.type(-1));
  if (!isSeveral || !/^(?:one|all)$/.test(here.token.image)) return null;
  const message = `\`${here.text(0, 1)}\` has no operator before it`;
  const read = here.readAs('any of');
  if (here.token.image === 'one') return { to: 1, message, write: 'any of', read };
  const path = here.pathBefore(-1)?.text ?? 'payload.note';
  const help = `write \`every x in [...] (${path} ${here.at(-1)!.image} x)\``;
  return { to: 1, message, help, read };
}

/** Repairs `x in any of [...]`, `x == any of [...]` and `x contains any [...]`. */
export function repairAnyOf(here: Cursor): Repair | null {
  const before = here.type(-1);
  const isAnyOf = here.at(1)?.image === 'of';
  if (!isAnyOf) {
    return beforeAny.has(before) && here.type(1) === sign.openSquare ? spelled(here, 'any of') : null;
  }
  if (before === word.in) return { to: 1, message: '`in` takes the list itself', write: '', read: [] };
  if (before !== sign.equal && before !== sign.notEqual) return null;
  const write = before === sign.equal ? 'in' : 'not in';
  const message = `\`${here.text(-1, 1)}\` is written \`${write}\` here`;
  return { from: -1, to: 1, message, write, read: here.readAs(write) };
}

const verbs = byForeignWord({ contains: ['contain', 'include'], matches: ['match'], like: ['resemble'] });

/** Repairs `x does not contain "a"`: `not` goes before the whole comparison. */
function repairDoesNot(here: Cursor): Repair | null {
  const relation = verbs.get(here.at(2)?.image ?? '');
  const path = here.pathBefore(0);
  if (here.token.image !== 'does' || here.type(1) !== word.not || !relation || !path) return null;
  const message = `\`${here.text(0, 2)}\` is written with \`not\` before the whole`;
  return {
    to: 2,
    message,
    help: `write \`not (${path.text} ${relation} ...)\``,
    read: here.readAs(relation),
  };
}

/** Repairs a claim such as `never permit when c`, which names an effect by a word of another language. */
function repairClaimWord(here: Cursor): Repair | null {
  if (here.type(-1) !== word.never && here.type(-1) !== word.always) return null;
  const effect = synonymOf(here.token.image, effectVocabulary);
  return effect === null ? null : spelled(here, effect);
}

/** Reads `c xor d` as `c or d`. */
function repairXor(here: Cursor): Repair | null {
  if (!/^xor$/i.test(here.token.image) || !endsValue(here)) return null;
  const help = 'write `(a and not b) or (b and not a)`';
  return { message: `\`${here.token.image}\` joins no conditions here`, help, read: here.readAs('or') };
}

/** Reads `USD 500` as `500 USD`. */
export function repairCurrencyFirst(here: Cursor): Repair | null {
  const [currency, number] = [here.token, here.at(1)];
  if (number?.tokenType !== literal.number || !comparing.has(here.type(-1))) return null;
  const read = [retype(currency, literal.number, number.image), retype(number, Currency, currency.image)];
  const write = `${number.image} ${currency.image}`;
  return { to: 1, message: 'the currency follows the number', write, read };
}
