// Estimates how much a change of policies allows besides one request: how many generated requests get a milder
// decision. Three in four resemble the request, so that a change that is a little wider counts a little more.
// INVARIANT: the same request and set give the same sample.

import { isDeepStrictEqual } from 'node:util';
import { type Decision, outcomes } from '../../language/model/decision.ts';
import type { Json } from '../../language/model/json.ts';
import type { PolicySet } from '../../language/model/policy.ts';
import type { Facts } from '../../language/model/request.ts';
import { checkPayload } from '../../language/spec/payload.ts';
import { type RequestSource, randomRequest, requestSource } from '../../reasoning/guarantees/request.ts';

/** Requests of one action, each with its decision by the unchanged policies. */
export interface RequestSample {
  readonly requests: readonly Facts[];
  readonly decisions: readonly Decision[];
}

const requestsMax = 1_000;
const attemptsMax = 4_000;
const keptShare = 0.7;
const nearShare = 0.2;

export function sampleAround(
  set: PolicySet,
  facts: Facts,
  decide: (facts: Facts) => Decision,
): RequestSample {
  const source = requestSource(set, 1);
  const action = set.actions.get(facts.action);
  const requests: Facts[] = [];
  for (
    let attempt = 0;
    action !== undefined && attempt < attemptsMax && requests.length < requestsMax;
    attempt += 1
  ) {
    const drawn = randomRequest(source, action);
    const request = attempt % 4 === 0 ? drawn : mixed(source, facts, drawn);
    const isElse = !isDeepStrictEqual(request.payload, facts.payload);
    if (isElse && checkPayload(action.shape, request.payload).length === 0) requests.push(request);
  }
  return { requests, decisions: requests.map(decide) };
}

/** The request with some of its values replaced by drawn ones. */
function mixed({ random }: RequestSource, facts: Facts, drawn: Facts): Facts {
  const keeps = (): boolean => random.chance(keptShare);
  const pick = <T extends object>(own: T, other: T): T => {
    const entries = [...Object.keys(own), ...Object.keys(other)].flatMap((key) => {
      const from = keeps() ? own : other;
      return Object.hasOwn(from, key) ? [[key, (from as Record<string, unknown>)[key]]] : [];
    });
    return Object.fromEntries(entries) as T;
  };
  const near = Object.entries(facts.payload).map(([name, value]) => {
    return [name, random.chance(nearShare) ? neighbour(value) : value] as const;
  });
  return {
    ...facts,
    payload: pick(Object.fromEntries(near), drawn.payload),
    agent: pick(facts.agent, drawn.agent),
    request: pick(facts.request, drawn.request),
    meters: pick(facts.meters, drawn.meters),
    nowMs: keeps() ? facts.nowMs : drawn.nowMs,
  };
}

/** Another value of the same kind: in the same folder, of the same domain, or one more. */
function neighbour(value: Json): Json {
  if (typeof value === 'number') return value + 1;
  if (Array.isArray(value)) return value.map(neighbour);
  if (typeof value !== 'string') return value;
  if (value.includes('@')) return value.replace(/^[^@]*/, 'another');
  return value.includes('/') ? value.replace(/[^/]*$/, 'another') : `${value}2`;
}

/** How many requests of the sample get a milder decision. */
export function milderIn({ requests, decisions }: RequestSample, decide: (facts: Facts) => Decision): number {
  const rank = ({ outcome }: Decision): number => outcomes.indexOf(outcome);
  return requests.filter((request, at) => rank(decide(request)) < rank(decisions[at]!)).length;
}
