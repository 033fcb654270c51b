// Turns literals of the tree into values: by themselves, as expressions, or as values of a given type
// (entries of a typed list, bounds of a range, a text beside an address). A literal that has no value is
// reported and yields null.

import type { Literal as LiteralExpression } from '../../model/expression.ts';
import {
  anyText,
  booleanType,
  enumeration,
  quantity,
  type TextType,
  type Type,
  unbounded,
} from '../../model/type.ts';
import type { Value } from '../../model/value.ts';
import type { DurationLiteral, LiteralNode } from '../../syntax/tree/tree.ts';
import { canonicalText } from '../../value/canonical-text.ts';
import { isCurrency, isInUnits } from '../../value/currency.ts';
import { type Decimal, isInteger, negate, parseDecimal, toNumber } from '../../value/decimal.ts';
import { parseIp } from '../../value/ip.ts';
import { compileRegex } from '../../value/regex.ts';
import { parseDate, parseDatetime, parseDuration, parseInstantLiteral } from '../../value/time.ts';
import type { Environment } from '../incremental/environment.ts';
import {
  amountTooFine,
  clockMisplaced,
  dateInvalid,
  durationInvalid,
  durationNotPositive,
  entryMismatch,
  instantInvalid,
  monthsMisplaced,
  nullMisplaced,
  numberInvalid,
  unknownCurrency,
} from '../messages/value-errors.ts';

export const moneyType: Type = { kind: 'money', currencyField: null, range: unbounded };

/**
 * Returns the literal as a typed expression. A text has an enumeration of itself as type, so that comparing
 * it with another enumeration checks its spelling.
 */
export function inferLiteral(node: LiteralNode, env: Environment): LiteralExpression | null {
  const value = readLiteral(node, env);
  return value === null
    ? null
    : { kind: 'literal', value, type: typeOfLiteral(node, value, env), span: node.span };
}

function typeOfLiteral(node: LiteralNode, value: Value, env: Environment): Type {
  switch (node.kind) {
    case 'text':
      return typeOfText(node.value, env);
    case 'number':
      return quantity(isInteger(value as Decimal) ? 'integer' : 'number');
    case 'money':
      return moneyType;
    case 'duration':
    case 'date':
      return quantity(node.kind);
    case 'instant':
      return quantity('timestamp');
    case 'boolean':
      return booleanType;
    case 'clock':
    case 'months':
    case 'null':
      return anyText; // Never reached: these have no value.
  }
}

/** Returns an enumeration of the text alone. */
export function typeOfText(text: string, { textTypes }: Environment): Type {
  const cached = textTypes.get(text);
  if (cached !== undefined) return cached;
  const type = enumeration([text]);
  textTypes.set(text, type);
  return type;
}

/** Returns the value of a literal by itself; null, with a diagnostic, when it has none. */
export function readLiteral(node: LiteralNode, env: Environment): Value | null {
  switch (node.kind) {
    case 'text':
      return node.value;
    case 'boolean':
      return node.value;
    case 'number':
      return decimalOf(node.text) ?? reported(env, numberInvalid(node));
    case 'money': {
      if (!isCurrency(node.currency)) return reported(env, unknownCurrency(node.span, node.currency));
      const amount = decimalOf(node.amount);
      if (amount === null) return reported(env, numberInvalid(node));
      if (!isInUnits(amount, node.currency)) return reported(env, amountTooFine(node, amount));
      return { amount, currency: node.currency };
    }
    case 'duration': {
      const isNegative = node.text.startsWith('-');
      const length = parseDuration(isNegative ? node.text.slice(1) : node.text);
      if (length === null) return reported(env, durationInvalid(node));
      return isNegative ? negate(length) : length;
    }
    case 'date':
      return parseDate(node.text) ?? reported(env, dateInvalid(node));
    case 'instant':
      return parseInstantLiteral(node.text) ?? reported(env, instantInvalid(node));
    case 'clock':
      return reported(env, clockMisplaced(node));
    case 'months':
      return reported(env, monthsMisplaced(node));
    case 'null':
      return reported(env, nullMisplaced(node.span));
  }
}

/** Returns the decimal of a number as written, with any sign; null when it has too many digits. */
export function decimalOf(text: string): Decimal | null {
  return parseDecimal(text.startsWith('+') ? text.slice(1) : text);
}

/**
 * Returns a duration in whole seconds, above zero and exact as a JavaScript number; null, with a diagnostic,
 * for any other.
 */
export function readSeconds(node: DurationLiteral, env: Environment): number | null {
  const value = parseDuration(node.text);
  const seconds = value === null ? Number.NaN : toNumber(value);
  if (!Number.isSafeInteger(seconds)) env.report(durationInvalid(node));
  else if (seconds <= 0) env.report(durationNotPositive(node));
  else return seconds;
  return null;
}

/**
 * Returns the value of a literal where a value of `type` is expected; null, with a diagnostic, when the
 * literal is none.
 */
export function readLiteralAs(node: LiteralNode, type: Type, env: Environment): Value | null {
  const value = readLiteral(node, env);
  if (value === null) return null;
  const fitting = literalKinds(type).includes(node.kind) ? valueAs(value, type) : null;
  return fitting ?? reported(env, entryMismatch(node, type));
}

function literalKinds(type: Type): readonly LiteralNode['kind'][] {
  switch (type.kind) {
    case 'boolean':
    case 'money':
    case 'duration':
    case 'date':
      return [type.kind];
    case 'number':
    case 'integer':
      return ['number'];
    case 'timestamp':
      return ['instant'];
    case 'text':
    case 'ip':
    case 'datetime':
      return ['text'];
    case 'list':
    case 'record':
    case 'any':
      return [];
  }
}

/**
 * Returns the value as one of `type`; null when it is none. The value must come from a literal that `type`
 * can have. Texts are read as addresses and times.
 */
export function valueAs(value: Value, type: Type): Value | null {
  return readerOf(type)(value);
}

/** As `valueAs`, for many values of one type: patterns are compiled once. */
export function readerOf(type: Type): (value: Value) => Value | null {
  switch (type.kind) {
    case 'integer':
      return (value) => (isInteger(value as Decimal) ? value : null);
    case 'ip':
      return (value) => parseIp(value as string);
    case 'datetime':
      return (value) => parseDatetime(value as string);
    case 'text':
      return textReader(type);
    default:
      return (value) => value;
  }
}

/**
 * Returns the pattern for texts of the type. Paths that ignore case hold folded letters, so their patterns
 * ignore case too.
 */
export function patternFor(type: Type, pattern: string): string {
  return isCaseless(type) ? `(?i)${pattern}` : pattern;
}

/** Whether texts of the type ignore case. */
export function isCaseless(type: Type): boolean {
  return type.kind === 'text' && type.of === 'path ignoring case';
}

/** Reads texts of a kind in their canonical form, as the gate reads those of requests. */
function textReader({ of, values, patterns }: TextType): (value: Value) => Value | null {
  const tests = patterns.map(compileRegex).filter((test) => typeof test === 'function');
  return (value) => {
    const text = canonicalText(of, value as string);
    if (text === null || (values !== null && !values.includes(text))) return null;
    return tests.every((test) => test(text)) ? text : null;
  };
}

function reported(env: Environment, diagnostic: ReturnType<typeof nullMisplaced>): null {
  env.report(diagnostic);
  return null;
}
