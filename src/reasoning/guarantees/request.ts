// Makes random requests of an action's shape from the constants of the policy set and their neighbours, so
// that both sides of every threshold are met. At times facts are missing, and at times requirements are
// satisfied.

import type { Json, JsonObject } from '../../language/model/json.ts';
import { isMeterRestart } from '../../language/model/metering.ts';
import type { Action, Meter, PolicySet } from '../../language/model/policy.ts';
import { rowsKnown } from '../../language/model/pushed-row.ts';
import {
  type AgentFacts,
  type Facts,
  type MeterReading,
  nothingSatisfied,
  riskTiers,
  type UserFacts,
} from '../../language/model/request.ts';
import type { Field, Quantity, Range, Shape, Slot, TextKind, TextType } from '../../language/model/type.ts';
import { meterShare } from '../../language/spec/meters.ts';
import { checkPayload } from '../../language/spec/payload.ts';
import {
  absolute,
  add,
  compare,
  type Decimal,
  fromNumber,
  parseDecimal,
  toNumber,
  zero,
} from '../../language/value/decimal.ts';
import { windowMsMax } from '../../language/value/meter-window.ts';
import { createRandom, type RandomSource } from '../../language/value/random.ts';
import { formatDate, formatDatetime, formatTimestamp } from '../../language/value/time.ts';
import { textVectors } from '../cells/text-vectors.ts';
import { inUnits } from '../cells/units.ts';
import { countsWithin } from '../cells/windows.ts';
import { type Constants, constantsOf } from './constants.ts';

export interface RequestSource {
  readonly set: PolicySet;
  readonly constants: Constants;
  readonly random: RandomSource;
  /** Ids of the rules that ask for people or a step-up. */
  readonly requirements: readonly string[];
  /** Ids of the rules that grant. */
  readonly allows: ReadonlySet<string>;
}

export function requestSource(set: PolicySet, seed: number): RequestSource {
  const rules = set.policies.flatMap((policy) => policy.rules);
  return {
    set,
    constants: constantsOf(set),
    random: createRandom(seed),
    requirements: rules.flatMap(({ id, requirement }) => (requirement ? [id] : [])),
    allows: new Set(rules.filter(({ effect }) => effect === 'allow').map(({ id }) => id)),
  };
}

const around2026Ms = Date.UTC(2026, 0, 1);
const yearMinutes = 365 * 24 * 60;

/**
 * A random request, mostly but not always of the declared shape. Readings are possible ones: a meter has
 * counted the request itself.
 */
export function randomRequest(source: RequestSource, action: Action): Facts {
  const { random, set, requirements } = source;
  const unknowns = random.chance(0.3) ? 0.5 : 0;
  const withoutUnknown = <T extends object>(facts: T): Partial<T> =>
    Object.fromEntries(Object.entries(facts).filter(() => !random.chance(unknowns))) as Partial<T>;
  const satisfied = (): readonly string[] => (random.chance(0.5) ? random.some(requirements, 0.7) : []);
  const facts: Facts = {
    action: action.key,
    payload: inUnits(action.shape, record(source, action.shape)),
    agent: withoutUnknown(agent(source)) as AgentFacts,
    request: withoutUnknown({
      ip: random.pick(['10.0.0.1', '203.0.113.9', '2001:db8::1']),
      signed: random.chance(0.5),
      session: random.pick(['s-1', ...source.constants.texts]),
      point: random.pick(['p-1', ...source.constants.texts]),
      chain: random.some(['sub-1', ...source.constants.texts], random.pick([0, 0.3])),
      user: withoutUnknown(user(source)),
    }),
    nowMs: around2026Ms + random.below(yearMinutes) * 60_000,
    meters: {},
    satisfied: nothingSatisfied,
    ...rowsKnown(set, {}),
  };
  const isOfShape = checkPayload(action.shape, facts.payload).length === 0;
  const meters = isOfShape ? withoutUnknown(readings(source, set, facts)) : {};
  return {
    ...facts,
    meters: meters as Facts['meters'],
    satisfied: { escalate: satisfied(), reauth: satisfied() },
  };
}

function user({ random, constants }: RequestSource): Required<UserFacts> {
  const texts = ['u-1', 'ann@example.com', ...constants.texts];
  return {
    id: random.pick(texts),
    email: random.pick(texts),
    roles: random.some(texts, 0.3),
    groups: random.some(texts, 0.3),
  };
}

function agent({ random, constants }: RequestSource): Required<AgentFacts> {
  const text = (): string => random.pick(['agent-1', ...constants.texts]);
  return {
    id: text(),
    name: text(),
    risk_tier: random.pick(riskTiers),
    control_owner: text(),
    tags: random.some(constants.texts, 0.3),
  };
}

function readings(source: RequestSource, set: PolicySet, facts: Facts): Record<string, MeterReading> {
  const drawn: Record<string, MeterReading> = {};
  for (const { meter, inner } of metersInOrder(set)) {
    const one = reading(source, meter, facts);
    const within = inner.flatMap((name) => drawn[name] ?? []);
    if (one !== null) drawn[meter.name] = within.reduce(atLeast, one);
  }
  return drawn;
}

interface MeterInOrder {
  readonly meter: Meter;
  /** Names of earlier meters that count nothing which this meter does not count. */
  readonly inner: readonly string[];
}

const orders = new WeakMap<PolicySet, readonly MeterInOrder[]>();

/** The meters of the set, shorter windows first: what a short window holds, a longer one holds too. */
function metersInOrder(set: PolicySet): readonly MeterInOrder[] {
  const cached = orders.get(set);
  if (cached !== undefined) return cached;
  const meters = [...set.meters.values()].toSorted(shorterFirst);
  const order = meters.map((meter, at) => ({
    meter,
    inner: meters.slice(0, at).flatMap((one) => (countsWithin(one, meter) ? [one.name] : [])),
  }));
  orders.set(set, order);
  return order;
}

/**
 * Orders meters by window. If both windows may be equally long, the calendar window goes first, since it may
 * be the shorter one.
 */
function shorterFirst({ over: a }: Meter, { over: b }: Meter): number {
  return windowMsMax(a) - windowMsMax(b) || Number(a.kind === 'last') - Number(b.kind === 'last');
}

function atLeast(a: MeterReading, b: MeterReading): MeterReading {
  return { low: larger(a.low, b.low), high: larger(a.high, b.high) };
}

function larger(a: Decimal, b: Decimal): Decimal {
  return compare(a, b) < 0 ? b : a;
}

/**
 * A random reading of a meter; null if it is not known what the request adds, since then the reading is
 * unknown too.
 */
function reading(source: RequestSource, meter: Meter, facts: Facts): MeterReading | null {
  const { random } = source;
  const { key, contribution: entered } = meterShare(source.set, meter, facts);
  const contribution = entered === null || isMeterRestart(entered) || meter.readsResult ? null : entered;
  if (key === null || contribution?.value === null) return null;
  const share = contribution === null ? zero : amountAdded(meter, contribution.value);
  const others = otherRequests(source, meter);
  const pending = add(others, random.chance(0.7) ? zero : otherRequests(source, meter)) ?? others;
  const low = contribution?.isCertain === false ? others : add(others, share);
  const high = add(pending, share);
  return low === null || high === null ? null : { low, high };
}

function amountAdded({ aggregate }: Meter, value: Decimal | string): Decimal {
  return aggregate === 'sum' && typeof value === 'object' ? value : fromNumber(1);
}

/**
 * What the meter has counted besides the request: a number around a constant, or a small one. A count is
 * whole.
 */
function otherRequests({ random, constants }: RequestSource, { aggregate }: Meter): Decimal {
  const some = absolute(neighbour(random, constants.quantities.number, [zero, zero, fromNumber(1)]));
  return aggregate === 'sum' ? some : fromNumber(Math.trunc(toNumber(some)));
}

function record(source: RequestSource, shape: Shape): JsonObject {
  const fields = shape.fields.filter((field) => !(field.isOptional && source.random.chance(0.4)));
  const entries = fields.map((field): [string, Json] => [field.name, slot(source, field, field)]);
  return Object.fromEntries(entries);
}

function slot(source: RequestSource, place: Slot, field: Field | null): Json {
  const { random } = source;
  const { type } = place;
  if (place.isNullable && random.chance(0.3)) return null;
  switch (type.kind) {
    case 'boolean':
      return random.chance(0.5);
    case 'text':
      if (type.values !== null) return random.pick(type.values);
      return text(source, place, field);
    case 'ip':
      return random.pick(['10.0.0.1', '192.168.1.1', '203.0.113.9', '2001:db8::1']);
    case 'list': {
      const least = type.length.low === null ? 0 : toNumber(type.length.low);
      const length = least + random.below(4);
      return Array.from({ length }, () => slot(source, type.element, null));
    }
    case 'record':
      return record(source, type.shape);
    case 'any':
      return random.pick([1, 'text', null]);
    case 'money':
      return amount(source, 'number', type.range);
    case 'number':
      return amount(source, 'number', type.range);
    case 'integer':
      return Math.trunc(amount(source, 'integer', type.range));
    case 'date':
      return formatDate(quantity(source, 'date', type.range));
    case 'timestamp':
      return formatTimestamp(quantity(source, 'timestamp', type.range));
    case 'datetime':
      return formatDatetime(quantity(source, 'datetime', type.range));
    case 'duration':
      return null;
  }
}

/** A random text, of the form that the slot requires if such a text can be found. */
function text(source: RequestSource, slot: Slot, field: Field | null): string {
  const { random, constants } = source;
  const isOfForm = formOf(slot);
  const drawn = (): string =>
    random.pick([
      ...textSamples[(slot.type as TextType).of],
      ...constants.texts,
      ...currenciesFor(source, field),
    ]);
  for (let attempt = 0; attempt < textAttempts; attempt += 1) {
    const one = drawn();
    if (isOfForm(one)) return one;
  }
  const made = wordsOf(slot.type as TextType).filter(isOfForm);
  return made.length > 0 ? random.pick(made) : drawn();
}

const forms = new WeakMap<Slot, (text: string) => boolean>();

/**
 * Returns whether the slot admits a text. Answers are kept, since the same few texts are tested again and
 * again.
 */
function formOf(slot: Slot): (text: string) => boolean {
  const cached = forms.get(slot);
  if (cached !== undefined) return cached;
  const shape = { fields: [{ ...slot, name: 'text', isOptional: false }], isOpen: false };
  const answers = new Map<string, boolean>();
  const isOfForm = (text: string): boolean => {
    const answer = answers.get(text) ?? checkPayload(shape, { text }).length === 0;
    answers.set(text, answer);
    return answer;
  };
  forms.set(slot, isOfForm);
  return isOfForm;
}

const textAttempts = 4;
const longWord = 20;

/** Words that match the patterns of a type, and longer words for types that require a length. */
function wordsOf({ patterns, length: { low } }: TextType): readonly string[] {
  const least = low === null ? 0 : Math.min(toNumber(low), 1_000);
  const plain = 'x'.repeat(Math.max(least, 1));
  if (patterns.length === 0) return [plain, plain.padEnd(longWord, 'x')];
  const longer = [...patterns, `(?s:.{${Math.max(least, 1)},})`];
  return [patterns, longer].flatMap(
    (tests) => textVectors(tests)?.find(({ answers }) => !answers.includes(false))?.texts ?? [],
  );
}

const textSamples: Readonly<Record<TextKind, readonly string[]>> = {
  string: ['text', 'x', '', 'two words', 'a-1'],
  email: ['ann@example.com', 'bob@example.org'],
  url: ['https://www.example.com/a', 'http://example.org:8080/'],
  web_address: ['www.example.com/a', 'https://example.org'],
  host: ['www.example.com', '192.0.2.1'],
  network: ['192.0.2.0/24'],
  path: ['/workspace/a', '/b', 'c.txt'],
  'path ignoring case': ['/workspace/a', '/b', 'c.txt'],
};

/** Currencies to use as a text, since a free text may be the currency of an amount beside it. */
function currenciesFor({ constants }: RequestSource, field: Field | null): readonly string[] {
  return field === null ? [] : [...constants.currencies, 'USD'];
}

function amount(source: RequestSource, kind: Quantity, range: Range): number {
  return toNumber(quantity(source, kind, range));
}

const defaults: Readonly<Record<Quantity, Decimal>> = {
  number: fromNumber(1),
  integer: fromNumber(1),
  duration: fromNumber(60),
  date: fromNumber(20_500),
  timestamp: fromNumber(1_771_200_000),
  datetime: fromNumber(1_771_200_000),
};

function quantity({ random, constants }: RequestSource, kind: Quantity, { low, high }: Range): Decimal {
  const ends = [low, high].filter((end) => end !== null);
  return neighbour(random, [...constants.quantities[kind], ...ends], [defaults[kind]]);
}

const steps = ['-1', '-0.01', '0', '0.01', '1'].map((text) => parseDecimal(text) as Decimal);

/** One of the values, or a small or large step to either side of it; or one of `others`. */
function neighbour(random: RandomSource, values: readonly Decimal[], others: readonly Decimal[]): Decimal {
  const at = random.below(steps.length * values.length + others.length);
  const value = values[Math.floor(at / steps.length)];
  if (value === undefined) return others[at - steps.length * values.length]!;
  return add(value, steps[at % steps.length]!) ?? value;
}
