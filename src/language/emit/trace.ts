// Records which rules of an action took part in a decision, and what their conditions could read: for people,
// never for agents. INVARIANT: no secret leaves in clear, at any depth.

import { isListFact } from '../model/expression.ts';
import type { Json, JsonObject } from '../model/json.ts';
import { type Facts, factAt } from '../model/request.ts';
import { isVouched } from '../model/signers.ts';
import type { FormRule, Trace, TraceValue } from '../model/trace.ts';
import type { Slot } from '../model/type.ts';
import { conditionChildren } from '../program/children.ts';
import type { OpenAction } from '../program/packed/unpack.ts';
import { plainNumber } from '../program/plain.ts';
import { printRead } from '../program/print.ts';
import type { Condition, ReadFrom, RequestFact, RuleHead, TableRead, Term } from '../program/program.ts';
import { resolveSlot } from '../program/slot.ts';
import { formatDecimal } from '../value/decimal.ts';
import { createBindings } from './code/bindings.ts';
import type { EmittedFunction } from './code/emit.ts';
import { type Js, joinJs, js, render } from './code/js.ts';
import type { DecidedAll, DecidedSome } from './decide/decide.ts';
import type { Run } from './run.ts';
import { exact, highEnd, isAmount, type RuntimeQuantity, type RuntimeScalar } from './runtime/quantity.ts';
import { own, readMeter, readNow } from './runtime/reading.ts';
import { safeText, showRuntimeValue } from './runtime/show.ts';
import { type ReadingSource, TableReadings, tablePath } from './table-readings.ts';
import { lettersOf, TraceRules } from './trace-rules.ts';

/** The most elements of a list that are shown. */
const shownElementsMax = 20;
const secretMark = '(secret)';

/**
 * Makes the traces of an action's decisions. `evaluated` may be overwritten by the next decision, so a trace
 * has to be made before it.
 */
export interface Tracer {
  /** Makes a trace that names every rule. */
  all(facts: Facts, evaluated: Omit<DecidedAll, 'decision'>): Trace;
  /** Makes a trace that names the rules that took part. */
  some(facts: Facts, evaluated: Omit<DecidedSome, 'decision'>): Trace;
}

/** The most values that one piece of code reads. Larger groups are seldom the same in two actions. */
const pathsInCodeMax = 16;

/**
 * Makes the tracer of an action. Its readings are small functions that actions share, so the engine soon
 * optimises them. Without `run` no code is generated; this is the slow twin.
 */
export function createTracer(action: OpenAction, run: Run | null, tables: ReadingSource): Tracer {
  const steps = createTracerWithPauses(action, run, tables);
  for (;;) {
    const { done, value } = steps.next();
    if (done === true) return value;
  }
}

/** The number of rules that one step examines. */
const rulesPerStep = 20;

/** Makes a tracer like `createTracer`, with pauses for callers that have other work to do in between. */
export function* createTracerWithPauses(
  action: OpenAction,
  run: Run | null,
  tables: ReadingSource,
): Generator<void, Tracer> {
  const readings = new Map<string, PathReader>();
  const ofTables = new TableReadings(action, tables);
  const pathsOf = (index: number): Set<string> => {
    const readPaths = new Set<string>();
    collect(action.condition(index), { action, tables: ofTables, readings, readPaths });
    return readPaths;
  };
  for (let place = 0; place < action.ruleCount; place += 1) {
    if (place % rulesPerStep === 0) yield;
    pathsOf(place);
  }
  const { all, readers } = createReaders(readings, run);
  const paths = all.map(([path]) => path);
  const indexes = new Map(paths.map((path, place) => [path, place] as const));
  const formRule = (place: number, { id, effect, points, isShadow }: RuleHead): FormRule => {
    const reads = [...pathsOf(place)].sort().map((path) => indexes.get(path)!);
    return isShadow ? [id, effect, points, reads, 'shadow'] : [id, effect, points, reads];
  };
  const unread: readonly TraceValue[] = paths.map(() => 'unknown');
  const traceRules = new TraceRules(action, { paths, formRule });
  const read = (facts: Facts, risk: RuntimeQuantity): readonly TraceValue[] => {
    const values = unread.slice();
    for (let at = 0; at < readers.length; at += 1) readers[at]!(facts, values, risk);
    return values;
  };
  return {
    all: (facts, { truths, risk }) => {
      const rules = traceRules.all();
      return {
        form: rules.form,
        truths: lettersOf(rules, truths, facts.satisfied),
        values: read(facts, risk),
      };
    },
    some: (facts, { firing, count, risk }) => {
      const rules = traceRules.some(firing, count);
      return {
        form: rules.form,
        truths: lettersOf(rules, rules.truths, facts.satisfied),
        values: read(facts, risk),
      };
    },
  };
}

/** Reads several values into their places. */
type Reader = (facts: Facts, values: TraceValue[], risk: RuntimeQuantity) => void;

/**
 * Returns the readings in the order of their places, and the readers for them: generated code for groups of
 * readings, and a function for each of the others.
 */
function createReaders(
  readings: ReadonlyMap<string, PathReader>,
  run: Run | null,
): { readonly all: readonly (readonly [string, PathReader])[]; readonly readers: readonly Reader[] } {
  const isWritten = ([, { form }]: readonly [string, PathReader]): boolean => form !== null && run !== null;
  const sorted = [...readings].sort(([a], [b]) => (a < b ? -1 : 1));
  const written = sorted.filter(isWritten);
  const others = sorted.filter((one) => !isWritten(one));
  const readers: Reader[] = [];
  for (let from = 0; from < written.length; from += pathsInCodeMax) {
    const forms = written.slice(from, from + pathsInCodeMax).map(([, { form }]) => form!);
    readers.push(run!(emitReadings(forms, from)));
  }
  for (const [at, [, { read }]] of others.entries()) {
    const index = written.length + at;
    readers.push((facts, values, risk) => {
      values[index] = read(facts, risk);
    });
  }
  return { all: [...written, ...others], readers };
}

/** How to read the value at a path of one request. */
interface PathReader {
  readonly read: ReadOne;
  /** The form from which equivalent code is generated; null when generating code is not worthwhile. */
  readonly form: ReadingForm | null;
}

type ReadOne = (facts: Facts, risk: RuntimeQuantity) => TraceValue;

function reading(read: ReadOne): PathReader {
  return { read, form: null };
}

interface Collection {
  readonly action: OpenAction;
  readonly tables: TableReadings;
  /** The readings of all rules, by path. Within an action, equal paths are equal readings. */
  readonly readings: Map<string, PathReader>;
  /** The paths of the current rule. */
  readonly readPaths: Set<string>;
}

function note({ readings, readPaths: found }: Collection, path: string, make: () => PathReader): void {
  found.add(path);
  if (!readings.has(path)) readings.set(path, make());
}

function collect(node: Condition | Term, into: Collection): void {
  switch (node.kind) {
    case 'read':
      collectRead(node.read, into);
      if (node.currency !== null) collectRead(node.currency.read, into);
      break;
    case 'has':
    case 'is-null':
      collectRead(node.read, into);
      break;
    case 'fact':
      note(into, node.fact, () => factReading(node.fact));
      break;
    case 'meter': {
      const { meter, currency } = node;
      // The currency of the request has a reading of its own.
      const named = typeof currency === 'string' ? currency : null;
      note(into, `meters.${meter}`, () =>
        reading(({ meters }) => quantityValue(readMeter(meters, meter, named))),
      );
      for (const child of conditionChildren(node)) collect(child, into);
      break;
    }
    case 'now':
      note(into, 'now', () => reading(({ nowMs }) => [shownNow(nowMs)]));
      break;
    case 'risk':
      note(into, 'risk', () => reading((_, risk) => quantityValue(risk)));
      break;
    case 'let':
      collect(into.action.lets[node.index]!.value, into);
      break;
    case 'column':
    case 'in-table':
      collectTable(node, into);
      for (const child of conditionChildren(node)) collect(child, into);
      break;
    default:
      for (const child of conditionChildren(node)) collect(child, into);
  }
}

function collectTable(node: TableRead, into: Collection): void {
  const { action, tables } = into;
  const path = tablePath(node, action.lets);
  if (path !== null) note(into, path, () => reading(tables.add(node)));
}

/**
 * Notes a read of the payload. A read through a variable is left out, because the variable's source shows it.
 */
function collectRead(read: ReadFrom, into: Collection): void {
  if (read.root !== 'payload') return;
  const slot = resolveSlot(into.action.shape, read.steps)?.slot;
  if (slot !== undefined) note(into, printRead(read), () => payloadReading(read, slot));
}

function payloadReading(read: ReadFrom, slot: Slot): PathReader {
  const [first = '', ...rest] = read.steps;
  const isSecret = read.isSecret || slot.isSecret;
  const isPlain = rest.length === 0 && !read.isSigned && !isSecret && !(first in Object.prototype);
  return {
    read: ({ payload, request }) => {
      if (!isVouched(read, request)) return 'unsigned';
      const value = rest.length === 0 ? own(payload, first) : rest.reduce<unknown>(own, own(payload, first));
      if (value === undefined) return 'absent';
      return isSecret ? 'secret' : [shownJson(value as Json, slot)];
    },
    form: isPlain ? fieldForm(first, slot) : null,
  };
}

/** Returns the form of a top-level field with a single value; null for a type that has parts, or may have. */
function fieldForm(name: string, { type, isNullable }: Slot): ReadingForm | null {
  const field = js`f.payload[${name}]`;
  switch (type.kind) {
    case 'boolean':
    case 'number':
    case 'integer':
    case 'money':
      return { field, missing: 'absent', isText: false, isNullable };
    case 'text':
      return { field, missing: 'absent', isText: !isSafeEnumeration(type.values), isNullable };
    case 'date':
    case 'timestamp':
    case 'datetime':
    case 'ip':
      return { field, missing: 'absent', isText: true, isNullable };
    case 'duration':
    case 'list':
    case 'record':
    case 'any':
      return null;
  }
}

/** Whether the text is one of a fixed set of values that are shown unchanged. */
function isSafeEnumeration(values: readonly string[] | null): boolean {
  return values?.every((value) => safeText(value) === value) ?? false;
}

interface ReadingForm {
  readonly field: Js;
  readonly missing: 'absent' | 'unknown';
  /** Whether the value is a text that anybody may have chosen, so that it has to be made safe to show. */
  readonly isText: boolean;
  readonly isNullable: boolean;
}

/**
 * Generates the body of a function that returns the reader of these forms, into the places from `from` on.
 */
function emitReadings(forms: readonly ReadingForm[], from: number): EmittedFunction {
  const bindings = createBindings();
  const statements = forms.map(({ field, missing, isText, isNullable }, at) => {
    const safeValue = isText ? js`${bindings.bind('safeText', () => safeText)}(v)` : js`v`;
    const value = isText && isNullable ? js`v === null ? null : ${safeValue}` : safeValue;
    return js`v = ${field}; o[${from + at}] = v === undefined ? ${missing} : [${value}];`;
  });
  const text = render(js`"use strict";\nreturn (f, o) => { let v; ${joinJs(statements, js`\n`)} };`);
  return { text, bindings };
}

/**
 * Shows JSON to people: texts and lists are bounded, secrets are marked, and only declared fields are shown.
 */
function shownJson(value: Json, slot: Slot): Json {
  if (slot.isSecret) return secretMark;
  const { type } = slot;
  if (typeof value === 'string') return safeText(value);
  if (typeof value !== 'object' || value === null) return value;
  if (type.kind === 'list') {
    const elements = value as readonly Json[];
    const items = elements.slice(0, shownElementsMax).map((element) => shownJson(element, type.element));
    const rest = elements.length - items.length;
    return rest > 0 ? [...items, `and ${rest} more`] : items;
  }
  return type.kind === 'record' ? shownRecord(value as JsonObject, type.shape.fields) : type.kind;
}

function shownRecord(record: JsonObject, fields: readonly (Slot & { readonly name: string })[]): Json {
  const present = fields.filter((field) => own(record, field.name) !== undefined);
  return Object.fromEntries(
    present.map((field) => [field.name, shownJson(own(record, field.name) as Json, field)]),
  );
}

/** The first and the last millisecond of the years 1 to 9999, whose ISO form has a year of four digits. */
const isoMs = { first: -62_135_596_800_000, last: 253_402_300_799_999 };

/** The text of the latest moment, because many requests arrive in the same millisecond. */
let lastNow = { ms: Number.NaN, text: '' };

/** Writes a moment in the form that reasons use for a timestamp. */
function shownNow(nowMs: number): string {
  if (nowMs !== lastNow.ms) lastNow = { ms: nowMs, text: nowText(nowMs) };
  return lastNow.text;
}

function nowText(nowMs: number): string {
  if (!(nowMs >= isoMs.first && nowMs <= isoMs.last && Number.isInteger(nowMs))) {
    return showRuntimeValue(readNow(nowMs), 'timestamp', null);
  }
  return new Date(nowMs).toISOString().replace(/\.?0*Z$/, 'Z');
}

function factReading(fact: RequestFact): PathReader {
  return {
    read: (facts) => {
      const value = factAt(facts, fact) as Json | undefined;
      if (value === undefined) return 'unknown';
      if (typeof value === 'string') return [safeText(value)];
      return [Array.isArray(value) ? value.slice(0, shownElementsMax).map(shownElement) : value];
    },
    form: hasForm(fact) ? factForm(fact) : null,
  };
}

/** Whether the fact is a text that the request has under its own name. */
function hasForm(fact: RequestFact): boolean {
  const others = ['request.signed', 'request.delegated', 'request.delegate'];
  return !isListFact(fact) && !others.includes(fact);
}

function shownElement(value: Json): Json {
  return typeof value === 'string' ? safeText(value) : value;
}

/** The form of a fact that is a text. */
function factForm(fact: RequestFact): ReadingForm {
  const [part, name = '', inner] = fact.split('.');
  const field =
    inner !== undefined
      ? js`f.request.user?.[${inner}]`
      : part === 'agent'
        ? js`f.agent[${name}]`
        : js`f.request[${name}]`;
  return { field, missing: 'unknown', isText: true, isNullable: false };
}

/** Shows a number when a JavaScript number is exact, otherwise text. An interval shows as its two ends. */
function quantityValue(value: RuntimeQuantity | undefined): TraceValue {
  if (value === undefined) return 'unknown';
  if (typeof value === 'object' && 'low' in value) {
    return [[scalarValue(value.low), scalarValue(value.high)]];
  }
  return [scalarValue(highEnd(value))];
}

function scalarValue(value: RuntimeScalar): Json {
  const decimal = exact(isAmount(value) ? value.amount : value);
  return plainNumber(decimal) ?? formatDecimal(decimal);
}
