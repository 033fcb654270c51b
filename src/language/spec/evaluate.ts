// Defines what an expression means: one switch, three-valued, written without regard to speed. An unknown
// operand makes the whole unknown, except for `and`, `or` and what they define: membership and quantifiers.

import type {
  ColumnRead,
  Compare,
  Expression,
  FactRead,
  FieldRead,
  MeterRead,
  Quantify,
  TextTest,
} from '../model/expression.ts';
import type { JsonObject } from '../model/json.ts';
import { elementRoundsMax, textRoundsMax } from '../model/limits.ts';
import type { PolicySet, Table } from '../model/policy.ts';
import { chainOf, type Facts, pushedRow as givenRow } from '../model/request.ts';
import { type Money, type UnknownValue, unknown, type Value } from '../model/value.ts';
import { type Decimal, formatDecimal, fromNumber, multiply, zero } from '../value/decimal.ts';
import { compileGlob } from '../value/glob.ts';
import { isWithinHours } from '../value/hours.ts';
import { type Ip, isInCidr, parseIp } from '../value/ip.ts';
import { memo } from '../value/memo.ts';
import { mentions } from '../value/mentions.ts';
import { isInside } from '../value/path.ts';
import { compileRegex } from '../value/regex.ts';
import { isSingleScript } from '../value/scripts.ts';
import { findCell, hasRow } from '../value/table/rows.ts';
import { fold } from '../value/text.ts';
import { calls } from './calls.ts';
import { checkPayload, resolveRecord } from './payload.ts';
import { calculate, compareQuantities, interval, isInterval, negationOf, total } from './quantity.ts';
import { isAlwaysThere, readField, type Variables, valueOfJson } from './read-path.ts';
import { every, not, type SpecTruth, some } from './truth.ts';

/** Compiled patterns, kept because compiling takes long. */
const regexes = new WeakMap<object, ReturnType<typeof compileRegex>>();
const globs = new WeakMap<object, ReturnType<typeof compileGlob>>();

/** Everything that the value of an expression depends on. */
export interface EvaluationScope {
  readonly set: PolicySet;
  readonly facts: Facts;
  /** The risk; 0 to 100 while risk itself is being added up, because no rule that contributes reads it. */
  readonly risk: { readonly low: number; readonly high: number };
  readonly variables: Variables;
  /** How many rounds the enclosing quantifiers make together; 1 when absent. */
  readonly rounds?: number;
}

// biome-ignore lint/complexity/noExcessiveLinesPerFunction: one switch over all expressions is the definition, to be read from top to bottom.
export function evaluate(expression: Expression, scope: EvaluationScope): Value | UnknownValue {
  switch (expression.kind) {
    case 'literal':
      return expression.value;
    case 'field':
      return fieldValue(expression, scope) ?? unknown;
    case 'fact':
      return readFact(expression, scope.facts);
    case 'meter':
      return readMeter(expression, scope);
    case 'column':
      return boundedText(readColumn(expression, evaluate(expression.key, scope), scope), scope);
    case 'let': {
      const declared = scope.set.lets.get(expression.id);
      return declared === undefined
        ? unknown
        : boundedText(evaluate(declared.expression, { ...scope, variables: new Map(), rounds: 1 }), scope);
    }
    case 'now':
      return Number.isNaN(scope.facts.nowMs)
        ? unknown
        : (multiply(fromNumber(scope.facts.nowMs), millisecond) ?? unknown);
    case 'risk':
      return interval(fromNumber(scope.risk.low), fromNumber(scope.risk.high));
    case 'not':
      return not(evaluateCondition(expression.operand, scope));
    case 'and':
      return every(expression.operands, (operand) => evaluateCondition(operand, scope));
    case 'or':
      return some(expression.operands, (operand) => evaluateCondition(operand, scope));
    case 'compare':
      return evaluateCompare(expression, scope);
    case 'is-null': {
      const subject = readField(expression.subject, scope);
      return subject === unknown ? unknown : subject === null;
    }
    case 'has': {
      const { subject } = expression;
      const read = readField(subject, scope);
      if (read === unknown) return isAlwaysThere(subject, scope) ? true : unknown;
      return read !== undefined && read !== null;
    }
    case 'else':
      return fieldValue(expression.subject, scope) ?? evaluate(expression.fallback, scope);
    case 'has-cell':
      return hasCell(expression.cell, evaluate(expression.cell.key, scope), scope);
    case 'if': {
      const truth = evaluateCondition(expression.condition, scope);
      if (truth === unknown) return unknown;
      return evaluate(truth ? expression.whenTrue : expression.otherwise, scope);
    }
    case 'list-prefix':
      return withKnown([evaluate(expression.subject, scope)], ([list]) =>
        beginsWith(list as readonly Value[], expression.texts),
      );
    case 'in-list': {
      const list = scope.set.lists.get(expression.list);
      if (list === undefined) return unknown;
      const key = (text: Value): Value => (list.ignoringCase ? fold(text as string) : text);
      const subject = evaluate(expression.subject, scope);
      return isAmong(subject === unknown ? unknown : key(subject), list.entries.map(key));
    }
    case 'in-table': {
      const table = scope.set.tables.get(expression.table);
      const key = keyText(evaluate(expression.subject, scope));
      if (table === undefined || key === unknown) return unknown;
      if (table.rows !== null) return hasRow(table.rows, key);
      const row = pushedRow(table, key, scope);
      return row === unknown ? unknown : row !== null;
    }
    case 'in-elements': {
      const elements = boundedList(expression.elements, evaluate(expression.elements, scope), scope);
      return elements === unknown
        ? unknown
        : isAmong(evaluate(expression.subject, scope), elements as readonly (Value | UnknownValue)[]);
    }
    case 'in-range': {
      const subject = evaluate(expression.subject, scope);
      return every(['>=', '<='] as const, (operator) => {
        const end = evaluate(operator === '>=' ? expression.low : expression.high, scope);
        return subject === unknown || end === unknown ? unknown : compareQuantities(operator, subject, end);
      });
    }
    case 'in-hours': {
      const hours = scope.set.hours.get(expression.hours);
      if (hours === undefined) return unknown;
      return withKnown([evaluate(expression.subject, scope)], ([instant]) =>
        isInterval(instant as Value) ? unknown : (isWithinHours(hours, instant as Decimal) ?? unknown),
      );
    }
    case 'in-cidr':
      return withKnown([evaluate(expression.subject, scope)], ([ip]) => isInCidr(ip as Ip, expression.cidr));
    case 'like': {
      const isLike = memo(globs, expression, () => compileGlob(expression.pattern));
      return withKnown([evaluate(expression.subject, scope)], ([text]) => isLike(text as string));
    }
    case 'matches': {
      const matches = memo(regexes, expression, () => compileRegex(expression.pattern));
      return withKnown([evaluate(expression.subject, scope)], ([text]) =>
        typeof matches === 'function' ? matches(text as string) : unknown,
      );
    }
    case 'single-script':
      return withKnown([evaluate(expression.subject, scope)], ([text]) => isSingleScript(text as string));
    case 'text-test':
      return withKnown(
        [evaluate(expression.left, scope), evaluate(expression.right, scope)],
        ([left, right]) => textTests[expression.operator](left as string, right as string),
      );
    case 'mentions': {
      const { words } = expression;
      const entries = words.kind === 'words' ? words.words : (scope.set.lists.get(words.list)?.entries ?? []);
      return withKnown([evaluate(expression.subject, scope)], ([text]) =>
        mentions(
          text as string,
          entries.map((entry) => fold(entry as string)),
        ),
      );
    }
    case 'arithmetic':
      return withKnown(
        [evaluate(expression.left, scope), evaluate(expression.right, scope)],
        ([left, right]) => {
          const result = calculate(expression.operator, left as Value, right as Value);
          // Dates count days, but the difference of two dates is a duration, which counts seconds.
          return expression.left.type.kind === 'date' && result !== unknown
            ? calculate('*', result, day)
            : result;
        },
      );
    case 'negate':
      return withKnown([evaluate(expression.operand, scope)], ([operand]) => negationOf(operand as Value));
    case 'quantify':
      return evaluateQuantify(expression, scope);
    case 'list':
      // An unknown element stays in the list: membership and quantifiers judge each element separately.
      return expression.elements.map((element) => evaluate(element, scope)) as readonly Value[];
    case 'text-list':
      return expression.texts;
    case 'call': {
      const result = withKnown(
        expression.args.map((argument) => evaluate(argument, scope)),
        (args) => calls[expression.builtin](args, scope.facts.nowMs),
      );
      const isOfRequest = expression.builtin === 'first' || expression.builtin === 'join';
      return isOfRequest ? boundedText(result, scope) : result;
    }
  }
}

export function evaluateCondition(expression: Expression, scope: EvaluationScope): SpecTruth {
  const value = evaluate(expression, scope);
  return typeof value === 'boolean' ? value : unknown;
}

const millisecond: Decimal = { coefficient: 1n, exponent: -3 };
const day: Decimal = { coefficient: 864n, exponent: 2 };

const textTests: Readonly<Record<TextTest['operator'], (left: string, right: string) => boolean>> = {
  'starts with': (left, right) => left.startsWith(right),
  'ends with': (left, right) => left.endsWith(right),
  contains: (left, right) => left.includes(right),
  inside: isInside,
};

/**
 * Returns the result for known operands; unknown when an operand is unknown or null, because null holds
 * nothing to compare.
 */
function withKnown(
  operands: readonly (Value | UnknownValue)[],
  result: (values: readonly Value[]) => Value | UnknownValue,
): Value | UnknownValue {
  return operands.some((operand) => operand === unknown || operand === null)
    ? unknown
    : result(operands as readonly Value[]);
}

function evaluateCompare({ operator, left, right }: Compare, scope: EvaluationScope): Value | UnknownValue {
  const a = evaluate(left, scope);
  const b = evaluate(right, scope);
  // A null operand cannot be compared.
  if (a === unknown || b === unknown || a === null || b === null) return unknown;
  if (operator === '==') return equals(a, b);
  if (operator === '!=') return not(equals(a, b));
  return compareQuantities(operator, a, b);
}

/** The Kleene `or` of `subject == element`: false for no elements, whatever the subject. */
function isAmong(subject: Value | UnknownValue, elements: readonly (Value | UnknownValue)[]): SpecTruth {
  return some(elements, (element) =>
    subject === unknown || element === unknown ? unknown : equals(subject, element),
  );
}

/** Tests two values of one type for equality; null equals nothing. */
function equals(a: Value, b: Value): SpecTruth {
  if (a === null || b === null) return false;
  if (typeof a === 'object' && 'family' in a) {
    return a.family === (b as Ip).family && a.bits === (b as Ip).bits;
  }
  return typeof a === 'object' ? compareQuantities('==', a, b) : a === b;
}

function readFact({ fact }: FactRead, { action, agent, request }: Facts): Value | UnknownValue {
  const segments = action.split('.');
  switch (fact) {
    case 'agent.id':
      return agent.id ?? unknown;
    case 'agent.name':
      return agent.name ?? unknown;
    case 'agent.risk_tier':
      return agent.risk_tier ?? unknown;
    case 'agent.control_owner':
      return agent.control_owner ?? unknown;
    case 'agent.tags':
      return agent.tags ?? unknown;
    case 'request.ip':
      return request.ip === undefined ? unknown : (parseIp(request.ip) ?? unknown);
    case 'request.signed':
      return request.signed ?? unknown;
    case 'request.session':
      return request.session ?? unknown;
    case 'request.point':
      return request.point ?? unknown;
    case 'request.delegated':
      return chainOf(request).length > 0;
    case 'request.delegate':
      return chainOf(request).at(-1) ?? unknown;
    case 'request.chain':
      return chainOf(request);
    case 'request.user.id':
      return request.user?.id ?? unknown;
    case 'request.user.email':
      return request.user?.email ?? unknown;
    case 'request.user.roles':
      return request.user?.roles ?? unknown;
    case 'request.user.groups':
      return request.user?.groups ?? unknown;
    case 'action.key':
      return action;
    case 'action.area':
      return segments.slice(0, -1).join('.');
    case 'action.verb':
      return segments.at(-1) ?? '';
  }
}

function readMeter({ meter }: MeterRead, scope: EvaluationScope): Value | UnknownValue {
  const { set, facts } = scope;
  const reading = Object.hasOwn(facts.meters, meter) ? facts.meters[meter] : undefined;
  if (reading === undefined) return unknown;
  const named = set.meters.get(meter)?.currency ?? null;
  const currency = named === null || typeof named === 'string' ? named : readField(named, scope);
  if (currency !== null && typeof currency !== 'string') return unknown;
  const scalar = (amount: Decimal) => (currency === null ? amount : { amount, currency });
  return interval(scalar(reading.low), scalar(reading.high));
}

/** Returns the cell; unknown when there is no row, or when the row lacks the cell. */
function readColumn(
  { table: name, column }: ColumnRead,
  subject: Value | UnknownValue,
  scope: EvaluationScope,
): Value | UnknownValue {
  const table = scope.set.tables.get(name);
  const key = keyText(subject);
  if (table === undefined || key === unknown) return unknown;
  if (table.rows === null) {
    const row = pushedRow(table, key, scope);
    return row === unknown || row === null ? unknown : readCell(table, column, row);
  }
  const columnIndex = table.columns.findIndex((one) => one.name === column);
  return findCell(table.rows, key, columnIndex) ?? unknown;
}

/** Whether the row and its cell exist; unknown when the key or the row is unknown. */
function hasCell(
  { table: name, column }: ColumnRead,
  subject: Value | UnknownValue,
  scope: EvaluationScope,
): SpecTruth {
  const table = scope.set.tables.get(name);
  const key = keyText(subject);
  if (table === undefined || key === unknown) return unknown;
  if (table.rows === null) {
    const row = pushedRow(table, key, scope);
    if (row === unknown || row === null) return row === null ? false : unknown;
    return Object.hasOwn(row, column) && row[column] !== null;
  }
  const columnIndex = table.columns.findIndex((one) => one.name === column);
  const cell = findCell(table.rows, key, columnIndex);
  return cell !== null && cell !== undefined;
}

function beginsWith(list: readonly Value[], texts: readonly string[]): boolean {
  return texts.every((text, at) => list[at] === text);
}

/**
 * Returns the row in canonical form; null when there is none, unknown when it no longer has the declared
 * shape.
 */
function pushedRow(table: Table, key: string, { facts }: EvaluationScope): JsonObject | null | UnknownValue {
  const row = givenRow(facts, table.name, key);
  if (row === undefined || row === null) return row === null ? null : unknown;
  const { shape } = table.pushed!;
  return checkPayload(shape, row).length === 0 ? resolveRecord(shape, row) : unknown;
}

/** Returns the value of a cell of a pushed row; unknown when the cell is absent. */
function readCell({ pushed }: Table, column: string, row: JsonObject): Value | UnknownValue {
  const { type } = pushed!.shape.fields.find(({ name }) => name === column)!;
  const json = Object.hasOwn(row, column) ? row[column] : undefined;
  return json === undefined || json === null
    ? unknown
    : valueOfJson(type, json, { parent: row, payload: null });
}

/** Returns the text by which a row is found: a text itself, a whole number as its digits. */
function keyText(key: Value | UnknownValue): string | UnknownValue {
  if (typeof key === 'string') return key;
  const isNumber = typeof key === 'object' && key !== null && 'coefficient' in key;
  return isNumber ? formatDecimal(key as Decimal) : unknown;
}

/**
 * Returns the value of a field. An amount that may be missing can be present without its currency: its value
 * is then unknown.
 */
function fieldValue(field: FieldRead, scope: EvaluationScope): Value | UnknownValue | null | undefined {
  const value = readField(field, scope);
  if (field.type.kind !== 'money' || value === unknown || value == null) return boundedText(value, scope);
  return typeof (value as Money).currency === 'string' ? value : unknown;
}

/** Returns unknown for a text inside quantifiers that would take too long to read round after round. */
function boundedText<T extends Value | UnknownValue | undefined>(
  value: T,
  scope: EvaluationScope,
): T | UnknownValue {
  const { variables, rounds = 1 } = scope;
  const isTooLong = variables.size > 0 && typeof value === 'string' && rounds * value.length > textRoundsMax;
  return isTooLong ? unknown : value;
}

/**
 * Returns unknown for a list inside quantifiers that would take too long to iterate; a list that the policy
 * writes out is exempt.
 */
function boundedList(
  source: Expression,
  value: Value | UnknownValue,
  scope: EvaluationScope,
): Value | UnknownValue {
  const { variables, rounds = 1 } = scope;
  if (variables.size === 0 || !Array.isArray(value) || isWrittenOut(source, scope)) return value;
  return rounds * value.length > elementRoundsMax ? unknown : value;
}

function isWrittenOut(expression: Expression, scope: EvaluationScope): boolean {
  switch (expression.kind) {
    case 'literal':
    case 'text-list':
      return true;
    case 'list':
      return expression.elements.every((element) => isWrittenOut(element, scope));
    case 'let': {
      const declared = scope.set.lets.get(expression.id);
      return declared !== undefined && isWrittenOut(declared.expression, scope);
    }
    default:
      return false;
  }
}

function evaluateQuantify(
  { quantifier, variable, sources, body, type }: Quantify,
  scope: EvaluationScope,
): Value | UnknownValue {
  const lists = sources.map((source) =>
    boundedList(
      source,
      source.kind === 'field' ? (readField(source, scope) ?? []) : evaluate(source, scope),
      scope,
    ),
  );
  return withKnown(lists, (values) => {
    const elements = (values as readonly (readonly Value[])[]).flat(1);
    const rounds = (scope.rounds ?? 1) * elements.length;
    const results = elements.map((element) =>
      evaluate(body, { ...scope, rounds, variables: new Map(scope.variables).set(variable, element) }),
    );
    switch (quantifier) {
      case 'some':
        return some(results as readonly SpecTruth[], (result) => result);
      case 'every':
        return every(results as readonly SpecTruth[], (result) => result);
      case 'count':
        return results.includes(unknown)
          ? unknown
          : fromNumber(results.filter((result) => result === true).length);
      case 'sum':
        return withKnown(results, (addends) =>
          total(type.kind === 'money' ? { amount: zero, currency: null } : zero, addends),
        );
    }
  });
}
