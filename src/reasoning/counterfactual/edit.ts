// Changes one place of the facts. A reading of a meter includes the request itself, so it changes along with the request.
// If the new reading cannot be computed it becomes unknown, which opens nothing.

import { isJsonObject, type Json, type JsonObject } from '../../language/model/json.ts';
import type { Meter, PolicySet } from '../../language/model/policy.ts';
import type { Facts, MeterReading } from '../../language/model/request.ts';
import type { Slot, TextKind, Type } from '../../language/model/type.ts';
import { type UnknownValue, unknown, type Value } from '../../language/model/value.ts';
import { type EvaluationScope, evaluate, evaluateCondition } from '../../language/spec/evaluate.ts';
import { resolveFacts } from '../../language/spec/payload.ts';
import { add, type Decimal, fromNumber, subtract, toNumber, zero } from '../../language/value/decimal.ts';
import { formatDate, formatDatetime, formatTimestamp } from '../../language/value/time.ts';

/** The path to a place in the payload: names of fields, and indexes in lists, which count from 0. */
export type Steps = readonly (string | number)[];

/** The facts with `value` at a place of the payload; `undefined` removes the field. */
export function putField(set: PolicySet, steps: Steps, value: Json | undefined): (facts: Facts) => Facts {
  return (facts) => {
    const shape = set.actions.get(facts.action)?.shape ?? { fields: [], isOpen: false };
    const payload = setIn({ ...plainSlot, type: { kind: 'record', shape } }, facts.payload, { steps, value });
    const changed = { ...facts, payload: payload as JsonObject };
    return { ...changed, meters: settledMeters(set, facts, changed) };
  };
}

/** The value at a place of the payload; `undefined` if there is none. */
export function jsonAt(payload: Json, steps: Steps): Json | undefined {
  return steps.reduce<Json | undefined>((json, step) => {
    if (Array.isArray(json)) return json[Number(step)];
    return isJsonObject(json) && Object.hasOwn(json, step) ? json[step] : undefined;
  }, payload);
}

/** A small value of the type. It fits the declared shape unless a pattern requires more. */
export function sampleJson(type: Type): Json {
  switch (type.kind) {
    case 'boolean':
      return false;
    case 'text': {
      const least = type.length.low === null ? 0 : toNumber(type.length.low);
      return type.values?.[0] ?? textSamples[type.of].padEnd(Math.min(least, sampleLengthMax), 'x');
    }
    case 'ip':
      return '192.0.2.1';
    case 'list': {
      const least = type.length.low === null ? 0 : toNumber(type.length.low);
      return Array.from({ length: Math.min(least, sampleLengthMax) }, () => sampleJson(type.element.type));
    }
    case 'record':
      return Object.fromEntries(
        type.shape.fields
          .filter(({ isOptional }) => !isOptional)
          .map((field) => [field.name, field.isNullable ? null : sampleJson(field.type)]),
      );
    case 'any':
      return 1;
    case 'date':
      return formatDate(type.range.low ?? type.range.high ?? fromNumber(20_454));
    case 'timestamp':
      return formatTimestamp(type.range.low ?? type.range.high ?? fromNumber(1_767_225_600));
    case 'datetime':
      return formatDatetime(type.range.low ?? type.range.high ?? fromNumber(1_767_225_600));
    default:
      return toNumber(type.range.low ?? type.range.high ?? fromNumber(1));
  }
}

export const textSamples: Readonly<Record<TextKind, string>> = {
  string: 'other',
  email: 'other@example.org',
  url: 'https://other.example.org/',
  web_address: 'https://other.example.org/',
  host: 'other.example.org',
  network: '198.51.100.0/24',
  path: 'other',
  'path ignoring case': 'other',
};

const sampleLengthMax = 1_000;
const plainSlot = { isNullable: false, isSecret: false, isSigned: false } as const;

interface Assignment {
  readonly steps: Steps;
  readonly value: Json | undefined;
}

/**
 * The value with another value at a place inside it. Records that are missing on the path are made from
 * samples.
 */
function setIn(slot: Slot, json: Json | undefined, { steps, value }: Assignment): Json | undefined {
  const [step, ...rest] = steps;
  const { type } = slot;
  if (step === undefined) return value;
  if (type.kind === 'list' && Array.isArray(json)) {
    const inner = setIn(type.element, json[Number(step)], { steps: rest, value });
    return json.map((element, index) => (index === step ? (inner ?? null) : element));
  }
  if (type.kind !== 'record') return json;
  const record = isJsonObject(json) ? json : (sampleJson(type) as JsonObject);
  const field = type.shape.fields.find(({ name }) => name === step);
  if (field === undefined) return json;
  const old = Object.hasOwn(record, field.name) ? record[field.name] : undefined;
  const inner = setIn(field, old, { steps: rest, value });
  const others = Object.entries(record).filter(([name]) => name !== step);
  return Object.fromEntries(inner === undefined ? others : [...others, [field.name, inner]]);
}

function settledMeters(set: PolicySet, before: Facts, after: Facts): Facts['meters'] {
  const settled = Object.entries(before.meters).flatMap(([name, reading]): [string, MeterReading][] => {
    const meter = set.meters.get(name);
    if (meter?.actions.includes(before.action) !== true || meter.readsResult) return [[name, reading]];
    const moved = settle(reading, [share(set, meter, before), share(set, meter, after)]);
    return moved === null ? [] : [[name, moved]];
  });
  return Object.fromEntries(settled);
}

/** The reading after a request's share of the meter has changed; null if it cannot be computed. */
function settle(reading: MeterReading, [before, after]: readonly [Share, Share]): MeterReading | null {
  if (before.of === after.of) return reading;
  if (before.amount === null || after.amount === null || before.window !== after.window) return null;
  const difference = subtract(after.amount, before.amount);
  const [low, high] = [reading.low, reading.high].map((end) => difference && add(end, difference));
  return low && high ? { low, high } : null;
}

/** The part that a request adds to a meter. */
interface Share {
  /** A text that is equal for requests which the meter cannot tell apart. */
  readonly of: string;
  /** What the request adds to the meter; null if that is unknown or not a number. */
  readonly amount: Decimal | null;
  /** The values of the payload that select the meter's window. */
  readonly window: string;
}

function share(set: PolicySet, meter: Meter, requestFacts: Facts): Share {
  const facts = resolveFacts(set, requestFacts);
  const scope: EvaluationScope = { set, facts, risk: { low: 0, high: 100 }, variables: new Map() };
  const isCounted = meter.when === null ? true : evaluateCondition(meter.when, scope);
  const argument = meter.argument === null ? null : evaluate(meter.argument, scope);
  const keys = meter.per.map((key) =>
    key.kind === 'payload' ? jsonAt(facts.payload, key.read.steps) : key.kind,
  );
  const window = JSON.stringify(keys);
  const of = `${window} ${isCounted === false ? 'nothing' : `${textOf(isCounted)} ${textOf(argument)}`}`;
  const amount = isCounted === false ? zero : isCounted === unknown ? null : amountOf(meter, argument);
  return { of, amount, window };
}

function amountOf(meter: Meter, argument: Value | UnknownValue): Decimal | null {
  if (meter.aggregate === 'count') return fromNumber(1);
  if (meter.aggregate === 'distinct' || argument === unknown || argument === null) return null;
  if (typeof argument !== 'object' || 'low' in argument) return null;
  if (!('currency' in argument)) return 'coefficient' in argument ? (argument as Decimal) : null;
  const { amount, currency } = argument as Extract<Value, { readonly currency: string | null }>;
  // A sum of no amounts has no currency.
  return currency === null || currency === meter.currency ? amount : null;
}

function textOf(value: Value | UnknownValue): string {
  return JSON.stringify(value, (_, part: unknown) =>
    typeof part === 'bigint' ? String(part) : part === unknown ? { unknown: true } : part,
  );
}
