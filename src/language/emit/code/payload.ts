// Turns a shape into a function that checks payloads and returns them as rules see them: straight-line code
// that allocates nothing as long as the payload is valid and canonical. `payloadIssues`, the slow twin of the
// check, finds why a payload is refused. `resolvePayload` copies a payload whose texts are not canonical.
// INVARIANT: a payload that passes has no issues.

import { currenciesOfRecordsBelow } from '../../model/currency.ts';
import type { JsonObject } from '../../model/json.ts';
import type { Field, MoneyType, Range, Shape, Slot, TextType, Type } from '../../model/type.ts';
import { plainNumber } from '../../program/plain.ts';
import type { FieldKind } from '../../value/canonical-text.ts';
import { formatDecimal, isInRange } from '../../value/decimal.ts';
import { compileRegex } from '../../value/regex.ts';
import { parseDate, parseDatetime, parseTimestamp } from '../../value/time.ts';
import { exact, type NumericValue } from '../runtime/quantity.ts';
import { type RuntimeName, runtime } from '../runtime/runtime.ts';
import { createBindings } from './bindings.ts';
import type { EmittedFunction } from './emit.ts';
import { identifier, type Js, joinJs, js, render } from './js.ts';
import { holdsSpellings, resolvePayload } from './payload-resolve.ts';

/** The most values of an enumeration that are compared one by one. More values are looked up in a set. */
const comparedOneByOneMax = 8;

/**
 * Generates the body of a function that returns the check. The check takes a payload and returns it as rules
 * see it, or null. `s` means that a text met so far is not canonical; `r` is the payload, in which records
 * around an amount name its currency.
 */
export function emitPayloadCheck(shape: Shape): EmittedFunction {
  const writer: Writer = { bindings: createBindings(), functions: [] };
  const name = declareRecord(writer, shape);
  const isRespelt = holdsSpellings({ kind: 'record', shape });
  const holdsPayload = currenciesOfRecordsBelow(shape).size > 0;
  const note = holdsPayload ? js`r = o; ` : js``;
  const check = isRespelt ? resolvingCheck(writer, shape, name) : js`return ${name}(o) ? o : null;`;
  const lines = [
    js`"use strict";`,
    ...(isRespelt ? [js`let s;`] : []),
    ...(holdsPayload ? [js`let r;`] : []),
    ...writer.functions,
    js`return (o) => { ${note}${check} };`,
  ];
  return { text: render(joinJs(lines, js`\n`)), bindings: writer.bindings };
}

function resolvingCheck(writer: Writer, shape: Shape, name: Js): Js {
  const resolve = writer.bindings.bind('resolve', () => (o: JsonObject) => resolvePayload(shape, o));
  return js`s = false; return !${name}(o) ? null : s ? ${resolve}(o) : o;`;
}

interface Writer {
  readonly bindings: ReturnType<typeof createBindings>;
  readonly functions: Js[];
}

/** The code of a value, and of the record that holds the value, where a currency is looked up. */
interface ValueCode {
  readonly value: Js;
  readonly owner: Js;
}

const and = js` && `;
const or = js` || `;

/**
 * Declares the check of a record. `n` counts the declared keys that are present; a record with more keys than
 * that has an undeclared key. The rest of the keys is not looked at then, for a record may have many.
 */
function declareRecord(writer: Writer, shape: Shape): Js {
  const required = shape.fields.filter((field) => !field.isOptional).length;
  const fields = shape.fields.map((field) => fieldCode(writer, field));
  const tally = shape.isOpen
    ? js`return true;`
    : js`for (const k in o) { n--; if (n < 0) return false; }\nreturn n === 0;`;
  return declare(writer, 'record', [
    js`if (typeof o !== "object" || o === null || Array.isArray(o)) return false;`,
    js`let v, t, n = ${required};`,
    ...fields,
    tally,
  ]);
}

function fieldCode(writer: Writer, field: Field): Js {
  const { name } = field;
  const read = memberCode(writer, js`o`, name);
  const test = slotTest(writer, field, { value: js`v`, owner: js`o` });
  if (!field.isOptional) return js`v = ${read};\nif (!(${test})) return false;`;
  return js`v = ${read};\nif (v !== undefined) { if (!(${test})) return false; n++; }`;
}

function slotTest(writer: Writer, slot: Slot, held: ValueCode): Js {
  const test = typeTest(writer, slot.type, held);
  return slot.isNullable ? js`${held.value} === null || ${test}` : test;
}

function typeTest(writer: Writer, type: Type, { value, owner }: ValueCode): Js {
  switch (type.kind) {
    case 'boolean':
      return js`typeof ${value} === "boolean"`;
    case 'any':
      return js`${value} !== undefined`;
    case 'text':
      return textTest(writer, type, value);
    case 'number':
      return joinJs([js`Number.isFinite(${value})`, ...numberRange(writer, type.range, value)], and);
    case 'integer':
      return joinJs([js`Number.isInteger(${value})`, ...numberRange(writer, type.range, value)], and);
    case 'money': {
      const isAmount = joinJs(
        [js`Number.isFinite(${value})`, ...numberRange(writer, type.range, value)],
        and,
      );
      return type.currencyField === null
        ? isAmount
        : js`${isAmount} && ${currencyTest(writer, type, { value, owner })}`;
    }
    case 'date':
    case 'timestamp':
    case 'datetime':
      return pointTest(writer, type, value);
    case 'duration':
      return js`false`;
    case 'ip':
      return js`typeof ${value} === "string" && ${use(writer, 'isIp')}(${value})`;
    case 'list':
      return js`${declareList(writer, type)}(${value}, ${owner})`;
    case 'record':
      return js`${declareRecord(writer, type.shape)}(${value})`;
  }
}

/** The code of a record's field. Names that every object inherits are looked up as own properties. */
function memberCode(writer: Writer, owner: Js, name: string): Js {
  return name in Object.prototype ? js`${use(writer, 'own')}(${owner}, ${name})` : js`${owner}[${name}]`;
}

/**
 * The test that an amount is in whole units of its currency. A currency that is missing or not a text passes,
 * because it has an issue of its own.
 */
function currencyTest(
  writer: Writer,
  { currencyRecord, currencyField }: MoneyType,
  { value, owner }: ValueCode,
): Js {
  const record = currencyRecord?.reduce((code, step) => memberCode(writer, code, step), js`r`) ?? owner;
  const currency = memberCode(writer, record, currencyField!);
  return js`(typeof ${currency} !== "string" || ${use(writer, 'isAmountOf')}(${value}, ${currency}))`;
}

function declareList(writer: Writer, type: Extract<Type, { kind: 'list' }>): Js {
  const test = slotTest(writer, type.element, { value: js`v`, owner: js`q` });
  const size = numberRange(writer, type.length, js`o.length`).map(
    (range) => js`if (!(${range})) return false;`,
  );
  return declare(writer, 'list', [
    js`if (!Array.isArray(o)) return false;`,
    ...size,
    js`for (let i = 0, v, t; i < o.length; i++) { v = o[i]; if (!(${test})) return false; }`,
    js`return true;`,
  ]);
}

const canonicalNames = {
  email: 'canonicalEmail',
  url: 'canonicalUrl',
  web_address: 'canonicalWebAddress',
  host: 'canonicalHost',
  path: 'canonicalPath',
  'path ignoring case': 'canonicalPathIgnoringCase',
} as const satisfies Readonly<Record<FieldKind, RuntimeName>>;

function textTest(writer: Writer, type: TextType, value: Js): Js {
  const isText = js`typeof ${value} === "string"`;
  // No field is a network.
  if (type.of === 'string' || type.of === 'network')
    return joinJs([isText, ...contentTests(writer, type, value)], and);
  const canonical = js`(t = ${use(writer, canonicalNames[type.of])}(${value})) !== null`;
  const note = js`(t === ${value} || (s = true))`;
  return joinJs([isText, canonical, ...contentTests(writer, type, js`t`), note], and);
}

/** The tests of a text besides the one of its kind. */
function contentTests(writer: Writer, type: TextType, text: Js): readonly Js[] {
  return [
    ...(type.values === null ? [] : [enumerationTest(writer, type.values, text)]),
    ...lengthTests(writer, type.length, text),
    ...type.patterns.map((pattern) => js`${bindPattern(writer, pattern)}(${text})`),
  ];
}

function enumerationTest(writer: Writer, values: readonly string[], value: Js): Js {
  if (values.length > comparedOneByOneMax) {
    const set = writer.bindings.bind(`texts ${JSON.stringify(values)}`, () => new Set(values));
    return js`${set}.has(${value})`;
  }
  const tests = values.map((text) => js`${value} === ${text}`);
  return js`(${joinJs([...tests, ...(values.length === 0 ? [js`false`] : [])], or)})`;
}

/**
 * The number of code points is between half the number of code units and all of them, so most texts need not
 * be counted.
 */
function lengthTests(writer: Writer, range: Range, value: Js): readonly Js[] {
  const count = js`${use(writer, 'length')}(${value})`;
  const [low, high] = [range.low && plainNumber(range.low), range.high && plainNumber(range.high)];
  if (!isPlainRange(range)) return numberRange(writer, range, count);
  return [
    ...(low === null || low <= 0 ? [] : [js`(${value}.length >= ${2 * low} || ${count} >= ${low})`]),
    ...(high === null ? [] : [js`(${value}.length <= ${high} || ${count} <= ${high})`]),
  ];
}

function pointTest(writer: Writer, type: Extract<Type, { range: Range }>, value: Js): Js {
  const { low, high } = type.range;
  const names = { date: 'isDate', timestamp: 'isTimestamp', datetime: 'isDatetime' } as const;
  const parsers = { date: parseDate, timestamp: parseTimestamp, datetime: parseDatetime } as const;
  if (type.kind !== 'date' && type.kind !== 'timestamp' && type.kind !== 'datetime') return js`false`;
  if (low === null && high === null) {
    return js`typeof ${value} === "string" && ${use(writer, names[type.kind])}(${value})`;
  }
  const parse = parsers[type.kind];
  const key = `${type.kind} ${low && formatDecimal(low)}..${high && formatDecimal(high)}`;
  const test = writer.bindings.bind(key, () => (text: string) => {
    const point = parse(text);
    return point !== null && isInRange(type.range, point);
  });
  return js`typeof ${value} === "string" && ${test}(${value})`;
}

/** The tests of a JavaScript number against the bounds of a range that exist. */
function numberRange(writer: Writer, range: Range, value: Js): readonly Js[] {
  const [low, high] = [range.low && plainNumber(range.low), range.high && plainNumber(range.high)];
  if (!isPlainRange(range)) {
    const key = `range ${range.low && formatDecimal(range.low)}..${range.high && formatDecimal(range.high)}`;
    const test = writer.bindings.bind(key, () => (number: NumericValue) => isInRange(range, exact(number)));
    return [js`${test}(${value})`];
  }
  return [
    ...(low === null ? [] : [js`${value} >= ${low}`]),
    ...(high === null ? [] : [js`${value} <= ${high}`]),
  ];
}

/** Whether JavaScript numbers can be compared with the bounds of a range directly. */
function isPlainRange({ low, high }: Range): boolean {
  return [low, high].every((end) => end === null || plainNumber(end) !== null);
}

function bindPattern(writer: Writer, pattern: string): Js {
  return writer.bindings.bind(`matches ${pattern}`, () => {
    const test = compileRegex(pattern);
    if (typeof test !== 'function')
      throw new TypeError(`the checker lets no such pattern pass: ${test.error}`);
    return test;
  });
}

function use(writer: Writer, name: RuntimeName): Js {
  return writer.bindings.bind(name, () => runtime[name]);
}

/** Declares a function that checks `o`; `q` is the record around a list. */
function declare(writer: Writer, letters: string, statements: readonly Js[]): Js {
  const name = identifier(letters, writer.functions.length);
  writer.functions.push(js`function ${name}(o, q) {\n${joinJs(statements, js`\n`)}\n}`);
  return name;
}
