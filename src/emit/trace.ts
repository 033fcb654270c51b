// Which rules of an action took part in a decision, and what their conditions could read: for people, never for
// agents. INVARIANT: no secret leaves in clear, at whatever depth it stands.

import type { Json, JsonObject } from '../model/json.ts';
import type { Facts } from '../model/request.ts';
import type { ReadValue, TracedRule } from '../model/trace.ts';
import type { Slot } from '../model/type.ts';
import { childrenOf } from '../program/children.ts';
import { plainNumber } from '../program/plain.ts';
import { printRead } from '../program/print.ts';
import type { ActionProgram, Condition, Read, RequestFact, Term } from '../program/program.ts';
import { placeOf } from '../program/slot.ts';
import { formatDecimal } from '../value/decimal.ts';
import { createBindings } from './bindings.ts';
import { isSatisfied } from './combine.ts';
import type { Decider } from './decide.ts';
import type { Emitted } from './emit.ts';
import { type Js, joinJs, js, render } from './js.ts';
import { exact, highEnd, isAmount, type Quantity, type Scalar, truths } from './quantity.ts';
import { own, readMeter, readNow } from './reading.ts';
import { safeText, show } from './show.ts';
import { commaJs } from './writer.ts';

/** Elements of a list that are shown at most. */
const shownElementsMax = 20;
const secretMark = '(secret)';

/** Turns generated text into its function. */
type Run = (emitted: Emitted) => ReadsBuilder;

/** What was read, by path, for each group of rules that read the same; of the values of all readings. */
type ReadsBuilder = (values: readonly ReadValue[]) => readonly TracedRule['reads'][];

/** So many groups are written out as code; a function of more would grow too long to be optimised. */
const groupsInCodeMax = 64;

/** A function that evaluates the action's rules and tells what became of each. */
export function createTracer(
  program: ActionProgram,
  decider: Decider,
  run: Run,
): (facts: Facts) => TracedRule[] {
  const readings = new Map<string, Reading>();
  const pathsOfRules = program.rules.map((rule) => {
    const found = new Map<string, Reading>();
    collect(rule.condition, { program, found });
    for (const [path, reading] of found) readings.set(path, reading);
    return [...found.keys()].sort();
  });
  const paths = [...readings.keys()];
  const places = new Map(paths.map((path, place) => [path, place] as const));
  // Rules that read the same share what was read.
  const groups = new Map<string, number>();
  const groupPlaces: (readonly number[])[] = [];
  const groupOfRule = pathsOfRules.map((own) => {
    const key = JSON.stringify(own);
    const group = groups.get(key) ?? groupPlaces.push(own.map((path) => places.get(path)!)) - 1;
    groups.set(key, group);
    return group;
  });
  const build: ReadsBuilder =
    groupPlaces.length <= groupsInCodeMax
      ? run(emitReads(paths, groupPlaces))
      : (values) => groupPlaces.map((own) => readsOf(own, paths, values));
  const read = [...readings.values()];
  return (facts) => {
    const { truths: results } = decider.evaluate(facts);
    const risk = decider.risk();
    const values = read.map((reading) => reading(facts, risk));
    const reads = build(values);
    return program.rules.map((rule, at) => ({
      rule: rule.id,
      effect: rule.effect,
      truth: truths[results[at]!]!,
      points: rule.points,
      isShadow: rule.isShadow,
      isSatisfied: isSatisfied(rule, facts.satisfied),
      reads: reads[groupOfRule[at]!]!,
    }));
  };
}

/** The body of a function that returns the builder. */
function emitReads(paths: readonly string[], groups: readonly (readonly number[])[]): Emitted {
  const entry = (place: number): Js => js`${paths[place]!}: v[${place}]`;
  const records = groups.map((own) => js`{ ${joinJs(own.map(entry), commaJs)} }`);
  const text = render(js`"use strict";\nreturn (v) => [${joinJs(records, commaJs)}];`);
  return { text, bindings: createBindings() };
}

/** Paths begin with words of the language, so none of them can be a name of a prototype. */
function readsOf(
  places: readonly number[],
  paths: readonly string[],
  values: readonly ReadValue[],
): TracedRule['reads'] {
  const reads: Record<string, ReadValue> = {};
  for (const place of places) reads[paths[place]!] = values[place]!;
  return reads;
}

/** What stands at a path in one request. */
type Reading = (facts: Facts, risk: Quantity) => ReadValue;

interface Collection {
  readonly program: ActionProgram;
  readonly found: Map<string, Reading>;
}

function collect(node: Condition | Term, into: Collection): void {
  const { program, found } = into;
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
      found.set(node.fact, factReading(node.fact));
      break;
    case 'meter': {
      const { meter, currency } = node;
      found.set(`meters.${meter}`, ({ meters }) => quantityValue(readMeter(meters, meter, currency)));
      break;
    }
    case 'now':
      found.set('now', ({ nowMs }) => ({ value: shownNow(nowMs) }));
      break;
    case 'risk':
      found.set('risk', (_, risk) => quantityValue(risk));
      break;
    case 'let':
      collect(program.lets[node.index]!.value, into);
      break;
    default:
      for (const child of childrenOf(node)) collect(child, into);
  }
}

/** What a variable reads is shown by its source. */
function collectRead(read: Read, { program, found }: Collection): void {
  if (read.root !== 'payload') return;
  const slot = placeOf(program.shape, read.steps)?.slot;
  if (slot !== undefined) found.set(printRead(read), payloadReading(read, slot));
}

function payloadReading(read: Read, slot: Slot): Reading {
  const [first = '', ...rest] = read.steps;
  return ({ payload, request }) => {
    if (read.isSigned && request.signed !== true) return { missing: 'unsigned' };
    const value = rest.length === 0 ? own(payload, first) : rest.reduce<unknown>(own, own(payload, first));
    if (value === undefined) return { missing: 'absent' };
    return read.isSecret || slot.isSecret ? { missing: 'secret' } : { value: shownJson(value as Json, slot) };
  };
}

/** JSON for people: texts and lists bounded, secrets marked, only what the shape declares. */
function shownJson(value: Json, slot: Slot): Json {
  if (slot.isSecret) return secretMark;
  const { type } = slot;
  if (typeof value === 'string') return safeText(value);
  if (typeof value !== 'object' || value === null) return value;
  if (type.kind === 'list') {
    const elements = value as readonly Json[];
    const shown = elements.slice(0, shownElementsMax).map((element) => shownJson(element, type.element));
    const rest = elements.length - shown.length;
    return rest > 0 ? [...shown, `and ${rest} more`] : shown;
  }
  return type.kind === 'record' ? shownRecord(value as JsonObject, type.shape.fields) : type.kind;
}

function shownRecord(record: JsonObject, fields: readonly (Slot & { readonly name: string })[]): Json {
  const present = fields.filter((field) => own(record, field.name) !== undefined);
  return Object.fromEntries(
    present.map((field) => [field.name, shownJson(own(record, field.name) as Json, field)]),
  );
}

/** The first and the last millisecond of the years 1 to 9999, whose ISO form has four digits for the year. */
const isoMs = { first: -62_135_596_800_000, last: 253_402_300_799_999 };

/** As `show` writes a timestamp. */
function shownNow(nowMs: number): string {
  if (!(nowMs >= isoMs.first && nowMs <= isoMs.last && Number.isInteger(nowMs))) {
    return show(readNow(nowMs), 'timestamp', null);
  }
  return new Date(nowMs).toISOString().replace(/\.?0*Z$/, 'Z');
}

function factReading(fact: RequestFact): Reading {
  const [part, name] = fact.split('.') as ['agent' | 'request', string];
  return (facts) => {
    const value = own(facts[part], name) as Json | undefined;
    if (value === undefined) return { missing: 'unknown' };
    if (typeof value === 'string') return { value: safeText(value) };
    return { value: Array.isArray(value) ? value.slice(0, shownElementsMax) : value };
  };
}

/** A number where one JavaScript number is exact, else text; an interval as its two ends. */
function quantityValue(value: Quantity | undefined): ReadValue {
  if (value === undefined) return { missing: 'unknown' };
  if (typeof value === 'object' && 'low' in value) {
    return { value: [scalarValue(value.low), scalarValue(value.high)] };
  }
  return { value: scalarValue(highEnd(value)) };
}

function scalarValue(value: Scalar): Json {
  const decimal = exact(isAmount(value) ? value.amount : value);
  return plainNumber(decimal) ?? formatDecimal(decimal);
}
