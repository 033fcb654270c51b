// Random requests to a random policy set: payloads mostly of the declared shape, facts of which some are
// missing, and times around midnights, weekends and both changes of the clock.

import type { Json, JsonObject } from '../../src/language/model/json.ts';
import {
  type AgentFacts,
  type Facts,
  type MeterReading,
  type PushedRows,
  riskTiers,
  type UserFacts,
} from '../../src/language/model/request.ts';
import { fromNumber } from '../../src/language/value/decimal.ts';
import type { RandomSource } from '../../src/language/value/random.ts';
import { pushedRows } from './declarations.ts';
import type { RandomAction, RandomSet } from './policies.ts';
import type { DeclaredField } from './scope.ts';

const anchorsMs = [
  '2026-03-01T00:00Z',
  '2026-03-03T12:00Z',
  '2026-03-08T07:00Z',
  '2026-03-29T01:00Z',
  '2026-10-25T01:00Z',
  '2026-11-01T06:00Z',
  '2026-12-25T00:00Z',
].map((text) => Date.parse(text));
const aroundMinutes = 3 * 24 * 60;

/** Random facts; satisfied requirements are drawn from `ruleIds`, the ids of the set's rules. */
export function randomFacts(random: RandomSource, set: RandomSet, ruleIds: readonly string[]): Facts {
  const action = random.pick(set.actions);
  const isDegraded = random.chance(0.4);
  const known = <T extends object>(facts: T): T =>
    isDegraded ? (Object.fromEntries(Object.entries(facts).filter(() => random.chance(0.6))) as T) : facts;
  return {
    action: random.chance(0.01) ? random.pick(['no.such_action', '__proto__', 'a\u0000b']) : action.key,
    payload: randomPayload(random, action),
    agent: known(randomAgent(random)),
    request: known({
      ip: random.pick(['10.0.0.7', '203.0.113.9', '::1', 'not an address', '10.1.2.3']),
      signed: random.chance(0.7),
      session: random.pick(['s-1', 'alpha', '']),
      point: random.pick(['gateway', 'alpha', 'bob']),
      user: known(randomUser(random)),
      ...(random.chance(0.4) ? { chain: random.some(['alpha', 'bob', 'low'], 0.5) } : {}),
    }),
    nowMs: random.pick(anchorsMs) + random.below(aroundMinutes) * 60_000 + random.pick([0, 1, 999]),
    meters: known(Object.fromEntries(set.meters.map((name) => [name, randomReading(random)]))),
    satisfied: { escalate: random.some(ruleIds, 0.2), reauth: random.some(ruleIds, 0.2) },
    ...(random.chance(0.6) ? { result: randomResult(random) } : {}),
    ...(random.chance(0.9) ? { rows: randomRows(random) } : {}),
  };
}

/** Some rows of each pushed table, under keys that conditions name. */
export function randomRows(random: RandomSource): PushedRows {
  const keys = {
    parcels: ['alpha', 'USD', 'low', 'buyer-1', 'bob', '__proto__'],
    lots: ['3', '1000', '-2', '0'],
    desks: ['alpha', 'USD', 'low', 'buyer-1', 'bob'],
  };
  const given = Object.entries(keys).map(([table, all]) => [
    table,
    Object.fromEntries(
      random.some(all, 0.6).map((key) => [key, random.chance(0.1) ? null : random.pick(pushedRows[table]!)]),
    ),
  ]);
  return { given: Object.fromEntries(given), areAll: random.chance(0.5) };
}

/** A result of a call, sometimes not of the declared shape. */
function randomResult(random: RandomSource): JsonObject {
  const words = random.some(['a', 'b', 'c'], 0.5);
  const whole = { hits: random.below(19) - 9, words, ok: random.chance(0.5), name: random.pick(['a', 'b']) };
  const stray: JsonObject = random.chance(0.1) ? { hits: 'many' } : {};
  const note: JsonObject = random.chance(0.5) ? { note: random.pick(['a', 'x', null]) } : {};
  return { ...whole, ...note, ...stray };
}

function randomPayload(random: RandomSource, { fields, isOpen }: RandomAction): JsonObject {
  const entries = fields.flatMap((field): readonly (readonly [string, Json])[] =>
    (field.isOptional ? random.chance(0.4) : random.chance(0.003))
      ? []
      : [[field.kind.key, randomValue(random, field)]],
  );
  const isStray = isOpen ? random.chance(0.5) : random.chance(0.01);
  // Made from entries, so that a key such as `__proto__` is a key.
  return Object.fromEntries(isStray ? [...entries, ['undeclared', 1]] : entries);
}

function randomValue(random: RandomSource, { form }: DeclaredField): Json {
  return random.pick(form.bad.length > 0 && random.chance(0.006) ? form.bad : form.good);
}

function randomAgent(random: RandomSource): Required<AgentFacts> {
  return {
    id: random.pick(['agt-1', 'alpha']),
    name: random.pick(['buyer-1', 'alpha', 'bob']),
    risk_tier: random.pick(riskTiers),
    control_owner: random.pick(['ops@example.com', 'root@evil.test']),
    tags: random.some(['trusted', 'alpha', 'X-', 'see www.example.com'], 0.5),
  };
}

function randomUser(random: RandomSource): Required<UserFacts> {
  return {
    id: random.pick(['u-1', 'alpha']),
    email: random.pick(['ann@example.com', 'ann@evil.test']),
    roles: random.some(['deployer', 'alpha'], 0.5),
    groups: random.some(['X-', 'alpha', 'bob'], 0.5),
  };
}

function randomReading(random: RandomSource): MeterReading {
  const low = random.pick([0, 0.1, 3, 4.5, 5, 19, 20, 100]);
  return { low: fromNumber(low), high: fromNumber(random.chance(0.7) ? low : low + random.pick([1, 15])) };
}
