// A request's headers into the agent that sent it, active and within its rate; and the same agent again, once the whole
// request is there. INVARIANT: only an active agent with a good key leaves here; `request.identity` is set as soon as the
// key is good, so that refusals after it are recorded.

import { performance } from 'node:perf_hooks';
import type { FastifyRequest } from 'fastify';
import { createAgentCache } from '../../agents/agent-cache.ts';
import type { Moment } from '../../agents/found-keys.ts';
import {
  type ActingAs,
  type ActingPoint,
  type PointAuthentication,
  pointKeyPrefix,
} from '../../agents/points/point.ts';
import { createPointCache } from '../../agents/points/point-cache.ts';
import type { Authentication } from '../../agents/registry.ts';
import type { AgentRow, KeyRow } from '../../store/contract/records.ts';
import type { Store } from '../../store/contract/store.ts';
import { ProblemError } from '../contract/problem.ts';
import { checkNamed, createPointIdentifier } from './identify-point.ts';
import { createRateLimiter, type RateLimit } from './rate-limit.ts';

export interface Identity {
  readonly agent: AgentRow;
  readonly key: KeyRow;
  /** The enforcement point whose key it is, and which asks for the agent; absent where the key is the agent's own. */
  readonly point?: ActingPoint;
}

declare module 'fastify' {
  interface FastifyRequest {
    /** Null until the API key has been found good. */
    identity: Identity | null;
    /** The enforcement point that calls for no agent; null for anybody else. */
    pointAlone: ActingPoint | null;
  }
}

export interface IdentifyOptions {
  readonly store: Store;
  readonly rate: RateLimit;
  readonly clock: () => number;
}

/** At once, and then null, where the key was looked up a moment ago. Throws or rejects with a ProblemError: 401, 403 or 429. */
export type Identify = (request: FastifyRequest) => Promise<void> | null;

/**
 * Who it is now: the same object where nothing has changed, and then at once. Throws or rejects with a ProblemError
 * (401, 403) where the agent may not ask any more.
 */
export type IdentifyAgain = (headerText: string, before: Identity) => Identity | Promise<Identity>;

export interface Identifier {
  /** Before the body is read. */
  readonly identify: Identify;
  /** The enforcement point whose key a request carries, within the rate of agents. Rejects with a ProblemError: 401, 403 or 429. */
  readonly identifyPoint: (request: FastifyRequest) => Promise<void>;
  /** As if the agent had sent so many more requests. Throws a ProblemError (429). */
  readonly takeMore: (request: FastifyRequest, count: number) => void;
  readonly identifyAgain: IdentifyAgain;
}

/** How often the log says again of a key that it was replaced and is in use. */
const toldEveryMs = 60_000;
const toldMax = 1_000;

/** Requests with a missing or bad key that one client address may send before the answer becomes 429. */
const failureLimit: RateLimit = { perMinute: 60, burst: 100 };

export function createIdentifier({ store, rate, clock }: IdentifyOptions): Identifier {
  const cache = createAgentCache(store);
  const agents = createRateLimiter('agent', rate);
  const { refuseStranger, takeFailure } = createStrangers();
  const acting = createPointIdentifier({
    cache: createPointCache(store),
    checkActive,
    refuseStranger,
    takeFailure,
  });
  const flagReplacedKey = createKeyFlag();

  function identify(request: FastifyRequest): Promise<void> | null {
    const header = request.headers['x-agent-api-key'];
    const headerText = typeof header === 'string' ? header : undefined;
    const moment: Moment = { nowMs: clock(), steadyMs: request.startedAtMs };
    if (headerText?.startsWith(pointKeyPrefix) === true) return identifyPoint(headerText, moment, request);
    const cached = headerText === undefined ? null : cache.cached(headerText, moment);
    if (cached === null) return lookUp(headerText, moment, request);
    admit(cached, request);
    return null;
  }

  async function identifyPointAlone(request: FastifyRequest): Promise<void> {
    const header = request.headers['x-agent-api-key'];
    const moment: Moment = { nowMs: clock(), steadyMs: request.startedAtMs };
    const point = await acting.find(typeof header === 'string' ? header : '', request, moment);
    const reading = agents.take(`point ${point.id}`, request.startedAtMs);
    Object.assign(request.replyHeaders, agents.headers(reading));
    if (!reading.isWithin) throw new ProblemError('rate_limited', 'wait as long as `Retry-After` says');
    request.pointAlone = point;
  }

  function identifyPoint(keyText: string, moment: Moment, request: FastifyRequest): Promise<void> | null {
    const cached = acting.cached(keyText, request, moment);
    if (cached === null) return lookUpPoint(keyText, moment, request);
    admit(cached, request);
    return null;
  }

  async function lookUp(
    headerText: string | undefined,
    moment: Moment,
    request: FastifyRequest,
  ): Promise<void> {
    const result = await cache.look(headerText, moment);
    if (!('agent' in result)) return refuseStranger(result.kind, request.clientAddress);
    request.identity = result;
    checkActive(result);
    admit(result, request);
  }

  async function lookUpPoint(keyText: string, moment: Moment, request: FastifyRequest): Promise<void> {
    const result = await acting.identify(keyText, request, moment);
    request.identity = result;
    checkActive(result);
    admit(result, request);
  }

  /** An active agent, within its rate. */
  function admit(identity: Identity, request: FastifyRequest): void {
    request.identity = identity;
    if (identity.point === undefined) checkNamed(request, identity.agent);
    checkRate(identity, request);
  }

  function checkRate(identity: Identity, request: FastifyRequest): void {
    flagReplacedKey(identity, request);
    const reading = agents.take(identity.agent.id, request.startedAtMs, identity.agent);
    Object.assign(request.replyHeaders, agents.headers(reading));
    if (!reading.isWithin) throw new ProblemError('rate_limited', 'wait as long as `Retry-After` says');
  }

  function takeMore(request: FastifyRequest, count: number): void {
    const { identity } = request;
    for (let taken = 0; identity !== null && taken < count; taken += 1) checkRate(identity, request);
  }

  function identifyAgain(headerText: string, before: Identity): Identity | Promise<Identity> {
    const moment: Moment = { nowMs: clock(), steadyMs: performance.now() };
    if (isByPoint(before)) return acting.identifyAgain(headerText, before, moment);
    return cache.isCurrent(headerText, before, moment) ? before : lookAgain(headerText, moment);
  }

  async function lookAgain(headerText: string, moment: Moment): Promise<Identity> {
    const result = await cache.look(headerText, moment);
    if (!('agent' in result)) throw notKnown(result.kind);
    checkActive(result);
    return result;
  }

  return { identify, identifyPoint: identifyPointAlone, identifyAgain, takeMore };
}

interface Strangers {
  /** Throws the refusal of a key that is not good. */
  readonly refuseStranger: (kind: keyof typeof refusals, address: string) => never;
  /** Counts a failure of this address; throws a ProblemError (429) where it has had too many. */
  readonly takeFailure: (address: string) => void;
}

/** Good keys behind the same address are never slowed down by this. */
function createStrangers(): Strangers {
  const failures = createRateLimiter('failures', failureLimit);
  function takeFailure(address: string): void {
    const reading = failures.take(address, performance.now());
    if (reading.isWithin) return;
    const detail = 'this address has sent too many requests without a valid key';
    throw new ProblemError('too_many_failures', detail, { headers: failures.headers(reading) });
  }
  return {
    takeFailure,
    refuseStranger(kind, address) {
      takeFailure(address);
      throw notKnown(kind);
    },
  };
}

/** A key that has been rotated still works for a while; its holder is told until when, and the log who it is. */
function createKeyFlag(): (identity: Identity, request: FastifyRequest) => void {
  /** By key, on the clock of `performance.now`. */
  const toldAtMs = new Map<string, number>();
  return ({ agent, key }, request) => {
    if (key.notAfterMs === null) return;
    const ends = new Date(key.notAfterMs).toISOString();
    request.replyHeaders['x-agent-api-key-expires'] = ends;
    if (request.startedAtMs - (toldAtMs.get(key.id) ?? -Infinity) < toldEveryMs) return;
    toldAtMs.set(key.id, request.startedAtMs);
    if (toldAtMs.size > toldMax) toldAtMs.delete(toldAtMs.keys().next().value ?? '');
    request.log.warn({ agent: agent.name, key: key.id, ends }, 'an agent uses a key that has been replaced');
  };
}

function isByPoint(identity: Identity): identity is ActingAs {
  return identity.point !== undefined;
}

function checkActive({ kind }: Extract<Authentication | PointAuthentication, Identity>): void {
  switch (kind) {
    case 'ok':
      return;
    case 'disabled':
    case 'revoked':
      throw notActive(kind);
  }
}

/** The refusal of an agent that has a good key and may not ask. */
export function notActive(kind: 'disabled' | 'revoked'): ProblemError {
  return kind === 'disabled'
    ? new ProblemError('agent_disabled', 'an operator has disabled this agent')
    : new ProblemError('agent_revoked', 'this agent has been revoked for good');
}

/** The refusal of a key that is not good. */
export function notKnown(kind: keyof typeof refusals): ProblemError {
  const { code, detail } = refusals[kind];
  return new ProblemError(code, detail, { headers: { 'www-authenticate': 'ApiKey realm="writ"' } });
}

/** An unknown key and a wrong secret read the same. */
const refusals = {
  missing: { code: 'missing_api_key', detail: 'send a key in the header `X-Agent-API-Key`' },
  malformed: { code: 'invalid_api_key', detail: 'this is not an API key, or it was mistyped' },
  unknown: { code: 'invalid_api_key', detail: 'no agent has this key' },
  expired: { code: 'invalid_api_key', detail: 'this key was replaced and has ended' },
} as const;
