// Random requests of an action's shape, made from the constants of the policy set and their neighbours, so that both
// sides of every threshold are met. Facts are missing now and then, and requirements are satisfied now and then.

import type { Json, JsonObject } from '../../language/model/json.ts';
import type { Action, PolicySet } from '../../language/model/policy.ts';
import { type AgentFacts, type Facts, type Reading, riskTiers } from '../../language/model/request.ts';
import type { Field, Quantity, Range, Shape, Slot, TextKind } from '../../language/model/type.ts';
import { add, type Decimal, fromNumber, parseDecimal, toNumber } from '../../language/value/decimal.ts';
import type { Random } from '../../language/value/random.ts';
import { formatDate, formatDatetime, formatTimestamp } from '../../language/value/time.ts';
import type { Constants } from './constants.ts';

export interface RequestSource {
  readonly set: PolicySet;
  readonly constants: Constants;
  readonly random: Random;
  /** Ids of the rules that ask for people or a step-up. */
  readonly requirements: readonly string[];
}

const around2026Ms = Date.UTC(2026, 0, 1);
const yearMinutes = 365 * 24 * 60;

/** Mostly, but not always, of the shape: patterns of text are hit by constants only. */
export function randomRequest(source: RequestSource, action: Action): Facts {
  const { random, set, requirements } = source;
  const unknowns = random.chance(0.3) ? 0.5 : 0;
  const known = <T extends object>(facts: T): Partial<T> =>
    Object.fromEntries(Object.entries(facts).filter(() => !random.chance(unknowns))) as Partial<T>;
  const satisfied = (): readonly string[] => (random.chance(0.5) ? random.some(requirements, 0.7) : []);
  return {
    action: action.key,
    payload: record(source, action.shape),
    agent: known(agent(source)) as AgentFacts,
    request: known({
      ip: random.pick(['10.0.0.1', '203.0.113.9', '2001:db8::1']),
      signed: random.chance(0.5),
      session: random.pick(['s-1', ...source.constants.texts]),
    }),
    nowMs: around2026Ms + random.below(yearMinutes) * 60_000,
    meters: known(
      Object.fromEntries([...set.meters.keys()].map((name) => [name, reading(source)])),
    ) as Facts['meters'],
    satisfied: { escalate: satisfied(), reauth: satisfied() },
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

function reading({ random, constants }: RequestSource): Reading {
  const low = random.pick([...neighbours(constants.quantities.number), fromNumber(0)]);
  const more = add(low, fromNumber(random.pick([0, 0, 1, 1000])));
  return { low, high: more ?? low };
}

function record(source: RequestSource, shape: Shape): JsonObject {
  const fields = shape.fields.filter((field) => !(field.isOptional && source.random.chance(0.4)));
  const entries = fields.map((field): [string, Json] => [field.name, slot(source, field, field)]);
  return Object.fromEntries(entries);
}

function slot(source: RequestSource, place: Slot, field: Field | null): Json {
  const { random, constants } = source;
  const { type } = place;
  if (place.isNullable && random.chance(0.3)) return null;
  switch (type.kind) {
    case 'boolean':
      return random.chance(0.5);
    case 'text':
      if (type.values !== null) return random.pick(type.values);
      return random.pick([...textSamples[type.of], ...constants.texts, ...currenciesFor(source, field)]);
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

const textSamples: Readonly<Record<TextKind, readonly string[]>> = {
  string: ['text', 'x', '', 'two words', 'a-1'],
  email: ['ann@example.com', 'bob@example.org'],
  url: ['https://www.example.com/a', 'http://example.org:8080/'],
  web_address: ['www.example.com/a', 'https://example.org'],
  host: ['www.example.com', '192.0.2.1'],
  path: ['/workspace/a', '/b', 'c.txt'],
  'path ignoring case': ['/workspace/a', '/b', 'c.txt'],
};

/** A free text may be the currency of an amount beside it. */
function currenciesFor({ constants }: RequestSource, field: Field | null): readonly string[] {
  return field === null ? [] : [...constants.currencies, 'USD'];
}

function amount(source: RequestSource, kind: Quantity, range: Range): number {
  const number = toNumber(quantity(source, kind, range));
  return Number(number.toPrecision(15));
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
  return random.pick([...neighbours([...constants.quantities[kind], ...ends]), defaults[kind]]);
}

/** Each value, and one small and one large step to both sides. */
function neighbours(values: readonly Decimal[]): readonly Decimal[] {
  const steps = ['-1', '-0.01', '0', '0.01', '1'].map((text) => parseDecimal(text) as Decimal);
  return values.flatMap((value) => steps.map((step) => add(value, step) ?? value));
}
