// Requests without any restriction: any JSON as payload, mostly under the keys that an action declares, any
// text for the facts of the agent, any time that a clock can show.

import type { Json, JsonObject } from '../../src/language/model/json.ts';
import type { PolicySet } from '../../src/language/model/policy.ts';
import {
  type AgentFacts,
  type Facts,
  type RequestFacts,
  riskTiers,
  type UserFacts,
} from '../../src/language/model/request.ts';
import type { Field, Range, Shape, TextKind, Type } from '../../src/language/model/type.ts';
import { fromNumber, toNumber } from '../../src/language/value/decimal.ts';
import type { RandomSource } from '../../src/language/value/random.ts';
import { randomRows } from './requests.ts';

const texts = [
  '',
  'alpha',
  'a@b.de',
  'https://a.example.com/x',
  '10.0.0.1',
  '::1',
  '/workspace/a',
  '2026-03-01',
  'USD',
  'ls -l; (cat <a)',
  '2026-03-01T12:00:00Z',
  '2026-03-01 12:00',
  '0001-01-01',
  '9999-12-31',
  '9999-12-31T23:59:59.999Z',
  ...['\u0000', '\ud800', '\u202e', 'ﬀ', 'İ', '🎫'.repeat(300), 'a'.repeat(5_000), '../..', '\\', 'xn--a'],
];
const numbers = [
  ...[0, -0, 1, -1, 0.1, 3, 20, 1e15, 123456789012345, 1e-9, 1e300, -1e300, 5e-324, 1.7e308],
  // Sixteen and seventeen digits: sums and averages of fractions, coordinates, whole numbers beyond 2^53.
  ...[
    0.30000000000000004,
    0.7999999999999999,
    52.520006599999995,
    9007199254740994,
    2 ** 64,
    Number.MAX_VALUE,
  ],
];
const keys = ['__proto__', 'constructor', 'toString', '', 'a', 'then', '\u0000'];
const timesMs = [
  0,
  -1,
  Date.UTC(2026, 2, 8, 7),
  Date.UTC(9999, 11, 31, 23, 59, 59, 999),
  Date.UTC(1900, 0, 1),
];

/** Any facts for a request to the set; `ruleIds` are the ids of the set's rules. */
export function anyFacts(random: RandomSource, set: PolicySet, ruleIds: readonly string[]): Facts {
  const actions = [...set.actions.values()];
  const action = actions.length === 0 || random.chance(0.05) ? null : random.pick(actions);
  const text = (): string => random.pick(texts);
  const agent: AgentFacts = {
    id: text(),
    name: text(),
    control_owner: text(),
    risk_tier: random.pick(riskTiers),
    tags: Array.from({ length: random.below(4) }, text),
  };
  const list = (): readonly string[] => Array.from({ length: random.below(3) }, text);
  const user: UserFacts = { id: text(), email: text(), roles: list(), groups: list() };
  const request: RequestFacts = {
    ip: text(),
    signed: random.chance(0.5),
    session: text(),
    point: text(),
    ...(random.chance(0.5) ? { chain: list() } : {}),
    user: partly(random, user),
  };
  const meters = [...set.meters.keys()].map((name) => {
    const low = random.pick(numbers);
    return [name, { low: fromNumber(low), high: fromNumber(Math.max(low, random.pick(numbers))) }] as const;
  });
  return {
    action: action?.key ?? text(),
    payload: action === null ? (anyRecord(random, 2) as JsonObject) : shaped(random, action.shape),
    agent: partly(random, agent),
    request: partly(random, request),
    nowMs: random.pick([...timesMs, random.below(2 ** 41)]),
    meters: partly(random, Object.fromEntries(meters)),
    satisfied: { escalate: random.some(ruleIds, 0.2), reauth: random.some(ruleIds, 0.2) },
    ...(random.chance(0.8) ? { rows: randomRows(random) } : {}),
  };
}

function partly<T extends object>(random: RandomSource, facts: T): T {
  if (random.chance(0.5)) return facts;
  // Every attribute is optional, so a part of the attributes has the same type.
  return Object.fromEntries(Object.entries(facts).filter(() => random.chance(0.6))) as T;
}

/** A payload that mostly fits the shape, so that rules are reached. */
function shaped(random: RandomSource, { fields, isOpen }: Shape): JsonObject {
  const entries = fields
    .filter((field) => !random.chance(field.isOptional ? 0.3 : 0.02))
    .map((field): [string, Json] => [
      field.name,
      random.chance(0.03) ? anyJson(random, 2) : fitting(random, field),
    ]);
  if (isOpen || random.chance(0.03)) entries.push([random.pick(keys), anyJson(random, 2)]);
  return Object.fromEntries(entries);
}

function fitting(random: RandomSource, { type, isNullable }: Pick<Field, 'type' | 'isNullable'>): Json {
  return isNullable && random.chance(0.2) ? null : ofType(random, type);
}

function ofType(random: RandomSource, type: Type): Json {
  switch (type.kind) {
    case 'boolean':
      return random.chance(0.5);
    case 'text':
      return random.pick(type.values ?? textsOf[type.of]);
    case 'number':
    case 'money':
      return numberWithin(random, type.range, numbers);
    case 'integer':
      return numberWithin(random, type.range, numbers.filter(Number.isInteger));
    case 'list': {
      const least = type.length.low === null ? 0 : toNumber(type.length.low);
      return Array.from({ length: least + random.below(4) }, () => fitting(random, type.element));
    }
    case 'record':
      return shaped(random, type.shape);
    case 'ip':
      return random.pick(['10.0.0.1', '::1', '::ffff:1.2.3.4']);
    case 'date':
      return random.pick(['2026-03-01', '0001-01-01', '9999-12-31']);
    case 'timestamp':
      return random.pick(['2026-03-01T12:00:00Z', '9999-12-31T23:59:59.999Z', '0001-01-01T00:00:00Z']);
    case 'datetime':
      return random.pick(['2026-03-01 12:00', '9999-12-31T23:59:59']);
    case 'duration':
    case 'any':
      return anyJson(random, 2);
  }
}

/** One end of the range, or a candidate within the range. */
function numberWithin(random: RandomSource, { low, high }: Range, candidates: readonly number[]): number {
  const [least, most] = [low === null ? -Infinity : toNumber(low), high === null ? Infinity : toNumber(high)];
  const within = [least, most, ...candidates].filter(
    (one) => Number.isFinite(one) && least <= one && one <= most,
  );
  return random.pick(within);
}

const textsOf: Readonly<Record<TextKind, readonly string[]>> = {
  string: texts,
  email: ['a@b.de', 'A.B+c@Example.COM'],
  url: ['https://a.example.com/x', 'http://[::1]:8080/', 'x-y:opaque', 'http://1.2.3.4'],
  web_address: ['a.example.com', 'a.b:99/x?y', 'https://xn--a.example'],
  host: ['A.example.', '[::1]', '10.0.0.1', 'bücher.example'],
  network: [],
  'path ignoring case': ['/Workspace/./A', 'a/..', '/ſ'],
  path: ['/workspace/a', '../..', '', '//', 'a/./b', '/\ud800'],
};

function anyJson(random: RandomSource, depth: number): Json {
  const scalar = (): Json => random.pick([null, true, false, random.pick(numbers), random.pick(texts)]);
  if (depth === 0 || random.chance(0.4)) return scalar();
  if (random.chance(0.5)) return Array.from({ length: random.below(4) }, () => anyJson(random, depth - 1));
  return anyRecord(random, depth - 1);
}

function anyRecord(random: RandomSource, depth: number): Json {
  const chosen = random.some([...keys, ...texts.slice(0, 4)], 0.3);
  return Object.fromEntries(chosen.map((key) => [key, anyJson(random, depth)]));
}
