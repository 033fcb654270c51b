// Random requests for a random policy set: payloads mostly of the declared shape, facts of which some are missing.

import type { Json, JsonObject } from '../../src/model/json.ts';
import { type AgentFacts, type Facts, type Reading, riskTiers } from '../../src/model/request.ts';
import type { Random } from '../../src/prove/random.ts';
import { fromNumber } from '../../src/value/decimal.ts';
import type { RandomAction, RandomSet } from './policies.ts';

const earliestMs = Date.UTC(2026, 2, 1);

/** `ruleIds` are those of the set, from which satisfied requirements are drawn. */
export function randomFacts(random: Random, set: RandomSet, ruleIds: readonly string[]): Facts {
  const action = random.pick(set.actions);
  const isDegraded = random.chance(0.4);
  const known = <T extends object>(facts: T): T =>
    isDegraded ? (Object.fromEntries(Object.entries(facts).filter(() => random.chance(0.6))) as T) : facts;
  return {
    action: random.chance(0.01) ? 'no.such_action' : action.key,
    payload: randomPayload(random, action),
    agent: known(randomAgent(random)),
    request: known({
      ip: random.pick(['10.0.0.7', '203.0.113.9', '::1', 'not an address']),
      signed: random.chance(0.7),
      session: random.pick(['s-1', 's-2']),
    }),
    nowMs: earliestMs + random.below(7 * 24 * 60) * 60_000 + random.pick([0, 1, 999]),
    meters: known(Object.fromEntries(set.meters.map((name) => [name, randomReading(random)]))),
    satisfied: { escalate: random.some(ruleIds, 0.2), reauth: random.some(ruleIds, 0.2) },
  };
}

function randomPayload(random: Random, { fields, isOpen }: RandomAction): JsonObject {
  const payload: Record<string, Json> = {};
  for (const field of fields) {
    if (field.isOptional ? random.chance(0.4) : random.chance(0.005)) continue;
    const isBad = field.bad.length > 0 && random.chance(0.01);
    payload[field.name] = random.pick(isBad ? field.bad : field.good);
  }
  if (isOpen ? random.chance(0.5) : random.chance(0.01)) payload.undeclared = 1;
  return payload;
}

function randomAgent(random: Random): Required<AgentFacts> {
  return {
    id: random.pick(['agt-1', 'agt-2']),
    name: random.pick(['buyer-1', 'alpha', 'bob']),
    risk_tier: random.pick(riskTiers),
    control_owner: random.pick(['ops@example.com', 'root@evil.test']),
    tags: random.some(['trusted', 'alpha', 'eu'], 0.5),
  };
}

function randomReading(random: Random): Reading {
  const low = random.pick([0, 4.5, 5, 19, 20]);
  return { low: fromNumber(low), high: fromNumber(random.chance(0.7) ? low : low + random.pick([1, 15])) };
}
