// Turns a request's headers into the agent that sent it, active and within its rate, and identifies the agent
// again once the whole request has arrived. INVARIANT: only an active agent with a good key or token passes;
// `request.identity` is set as soon as either is good, so that later refusals are recorded.

import { performance } from 'node:perf_hooks';
import type { FastifyRequest } from 'fastify';
import { createAgentCache } from '../../agents/agent-cache.ts';
import {
  type ActingChain,
  type ActingDelegate,
  type DelegateAuthentication,
  delegatedKeyPrefix,
} from '../../agents/delegations/delegation.ts';
import type { ActingWorkload } from '../../agents/identities/identity.ts';
import type { Instant } from '../../agents/key-cache.ts';
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
import type { ProofChecker } from '../../workloads/proof.ts';
import type { WorkloadTokenReader } from '../../workloads/read-token.ts';
import { ProblemError } from '../contract/problem.ts';
import { createDelegateIdentifier } from './identify-delegate.ts';
import { checkNamed, createPointIdentifier } from './identify-point.ts';
import {
  createWorkloadIdentifier,
  type WorkloadAuthentication,
  type WorkloadCaller,
} from './identify-workload.ts';
import { createRateLimiter, type OwnRate, type RateLimit } from './rate-limit.ts';
import { sentToken } from './sent-token.ts';

export interface Identity {
  readonly agent: AgentRow;
  readonly key: KeyRow;
  /**
   * The enforcement point whose key was sent, and which asks for the agent; absent when the key is the
   * agent's own.
   */
  readonly point?: ActingPoint;
  /** The delegations by which a sub-agent asks; absent when the agent asks itself. */
  readonly chain?: ActingChain;
  /** The workload whose token was sent; absent when a key was sent. */
  readonly workload?: ActingWorkload;
}

declare module 'fastify' {
  interface FastifyRequest {
    /** The agent that calls; null until its API key or token has been found good. */
    identity: Identity | null;
    /** The enforcement point that calls for no agent; null for any other caller. */
    pointAlone: ActingPoint | null;
  }
}

export interface IdentifyOptions {
  readonly store: Store;
  readonly rate: RateLimit;
  readonly clock: () => number;
  /** Loads what deciding delegated requests needs. */
  readonly readyForDelegates: () => Promise<void>;
  readonly workloadTokens: WorkloadTokenReader;
  readonly proofs: ProofChecker;
}

/**
 * Identifies the caller of a request. Returns null at once when the key was looked up a moment ago. Throws or
 * rejects with a ProblemError: 401, 403 or 429.
 */
export type Identify = (request: FastifyRequest) => Promise<void> | null;

/**
 * The caller as it is now; returns `before` at once when nothing has changed. Throws or rejects with a
 * ProblemError (401, 403) when the agent may no longer ask.
 */
export type IdentifyAgain = (headerText: string, before: Identity) => Identity | Promise<Identity>;

export interface Identifier {
  /** Called before the body is read. */
  readonly identify: Identify;
  /**
   * Identifies the enforcement point whose key a request carries, within the rate limit of agents. Rejects
   * with a ProblemError: 401, 403 or 429.
   */
  readonly identifyPoint: (request: FastifyRequest) => Promise<void>;
  /**
   * Takes `count` more requests from the agent's rate. Throws a ProblemError (429) when the rate is used up.
   */
  readonly takeMore: (request: FastifyRequest, count: number) => void;
  readonly identifyAgain: IdentifyAgain;
}

/** How often the log repeats that a key which was replaced is still in use. */
const warnEveryMs = 60_000;
const warnedMax = 1_000;

/** Requests with a missing or bad key that one client address may send before the answer becomes 429. */
const failureLimit: RateLimit = { perMinute: 60, burst: 100 };

export function createIdentifier(options: IdentifyOptions): Identifier {
  const { store, rate, clock, readyForDelegates, workloadTokens: tokens, proofs } = options;
  const cache = createAgentCache(store);
  const rates = createCallerRates(rate);
  const { refuseUnknownCaller, takeFailure } = createStrangers();
  const points = createPointCache(store);
  const acting = createPointIdentifier({ cache: points, checkActive, refuseUnknownCaller, takeFailure });
  const delegates = createDelegateIdentifier({ store, ready: readyForDelegates, refuseUnknownCaller });
  const workloads = createWorkloadIdentifier({
    store,
    tokens,
    proofs,
    ready: readyForDelegates,
    takeFailure,
  });

  function identify(request: FastifyRequest): Promise<void> | null {
    const header = request.headers['x-agent-api-key'];
    const headerText = typeof header === 'string' ? header : undefined;
    const moment: Instant = { nowMs: clock(), steadyMs: request.startedAtMs };
    if (headerText === undefined) return identifyWithoutKey(request, moment);
    const cached = findCached(headerText, moment, request);
    if (cached === null) return lookUp(find(headerText, moment, request), request);
    admit(cached, request);
    return null;
  }

  function identifyWithoutKey(request: FastifyRequest, moment: Instant): Promise<void> | null {
    const cached = workloads.cached(request.headers.authorization, moment);
    if (cached !== null) {
      admit(cached, request);
      return null;
    }
    const token = sentToken(request.headers);
    const finding =
      token === null ? find(undefined, moment, request) : workloads.identify(token, request, moment);
    return lookUp(finding, request);
  }

  function findCached(keyText: string, moment: Instant, request: FastifyRequest): Identity | null {
    if (keyText.startsWith(pointKeyPrefix)) return acting.cached(keyText, request, moment);
    if (keyText.startsWith(delegatedKeyPrefix)) return delegates.cached(keyText, moment);
    return cache.cached(keyText, moment);
  }

  async function identifyPointAlone(request: FastifyRequest): Promise<void> {
    const header = request.headers['x-agent-api-key'];
    const moment: Instant = { nowMs: clock(), steadyMs: request.startedAtMs };
    const point = await acting.find(typeof header === 'string' ? header : '', request, moment);
    rates.take(`point ${point.id}`, request);
    request.pointAlone = point;
  }

  async function lookUp(finding: Promise<ActiveCheck & Identity>, request: FastifyRequest): Promise<void> {
    const result = await finding;
    request.identity = result;
    checkActive(result);
    admit(result, request);
  }

  async function find(headerText: string | undefined, moment: Instant, request: FastifyRequest) {
    if (headerText?.startsWith(pointKeyPrefix) === true)
      return await acting.identify(headerText, request, moment);
    if (headerText?.startsWith(delegatedKeyPrefix) === true)
      return await delegates.identify(headerText, request.clientAddress, moment);
    const result = await cache.authenticate(headerText, moment);
    return 'agent' in result ? result : refuseUnknownCaller(result.kind, request.clientAddress);
  }

  /**
   * Lets an active agent pass. Throws a ProblemError when it is over its rate, or when its own key names
   * another agent.
   */
  function admit(identity: Identity, request: FastifyRequest): void {
    request.identity = identity;
    if (identity.point === undefined) checkNamed(request, identity.agent);
    rates.check(identity, request);
  }

  function identifyAgain(headerText: string, before: Identity): Identity | Promise<Identity> {
    const moment: Instant = { nowMs: clock(), steadyMs: performance.now() };
    if (isByPoint(before)) return acting.identifyAgain(headerText, before, moment);
    if (isWorkload(before)) return activeCaller(workloads.identifyAgain(headerText, before, moment));
    if (isDelegate(before)) return activeCaller(delegates.identifyAgain(headerText, before, moment));
    return cache.isCurrent(headerText, before, moment) ? before : lookAgain(headerText, moment);
  }

  async function lookAgain(headerText: string, moment: Instant): Promise<Identity> {
    const result = await cache.authenticate(headerText, moment);
    if (!('agent' in result)) throw invalidKey(result.kind);
    checkActive(result);
    return result;
  }

  return { identify, identifyPoint: identifyPointAlone, identifyAgain, takeMore: rates.takeMore };
}

interface CallerRates {
  /** Takes a request from the rate of a holder. Throws a ProblemError (429) when it is used up. */
  readonly take: (holder: string, request: FastifyRequest, ownRate?: OwnRate) => void;
  /** The same for an agent, whose reply says when a key that was rotated ends. */
  readonly check: (identity: Identity, request: FastifyRequest) => void;
  readonly takeMore: Identifier['takeMore'];
}

function createCallerRates(rate: RateLimit): CallerRates {
  const agents = createRateLimiter('agent', rate);
  const flagReplacedKey = createKeyFlag();
  const take: CallerRates['take'] = (holder, request, ownRate) => {
    const reading = agents.take(holder, request.startedAtMs, ownRate);
    Object.assign(request.replyHeaders, agents.headers(reading));
    if (!reading.isWithin) throw new ProblemError('rate_limited', 'wait for the time in `Retry-After`');
  };
  const check: CallerRates['check'] = (identity, request) => {
    flagReplacedKey(identity, request);
    take(identity.agent.id, request, identity.agent);
  };
  return {
    take,
    check,
    takeMore(request, count) {
      const { identity } = request;
      for (let taken = 0; identity !== null && taken < count; taken += 1) check(identity, request);
    },
  };
}

interface Strangers {
  /** Counts a failure and throws the refusal of a key that is not good. */
  readonly refuseUnknownCaller: (kind: keyof typeof refusals, address: string) => never;
  /** Counts a failure of this address; throws a ProblemError (429) when it has had too many. */
  readonly takeFailure: (address: string) => void;
}

/**
 * Limits the requests without a good key by their address. Good keys behind the same address are never slowed
 * down.
 */
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
    refuseUnknownCaller(kind, address) {
      takeFailure(address);
      throw invalidKey(kind);
    },
  };
}

/**
 * A key that has been rotated still works for a while. The reply tells its holder until when, and the log
 * names the agent.
 */
function createKeyFlag(): (identity: Identity, request: FastifyRequest) => void {
  /** When the log last named each key, on the clock of `performance.now`. */
  const warnedAtMs = new Map<string, number>();
  return ({ agent, key, chain, workload }, request) => {
    // A delegated key and a token have an end from the beginning.
    if (key.notAfterMs === null || chain !== undefined || workload !== undefined) return;
    const ends = new Date(key.notAfterMs).toISOString();
    request.replyHeaders['x-agent-api-key-expires'] = ends;
    if (request.startedAtMs - (warnedAtMs.get(key.id) ?? -Infinity) < warnEveryMs) return;
    warnedAtMs.set(key.id, request.startedAtMs);
    if (warnedAtMs.size > warnedMax) warnedAtMs.delete(warnedAtMs.keys().next().value ?? '');
    request.log.warn({ agent: agent.name, key: key.id, ends }, 'an agent used a rotated key');
  };
}

function isByPoint(identity: Identity): identity is ActingAs {
  return identity.point !== undefined;
}

/** The caller once its agent is found active; at once when nothing has changed. */
function activeCaller(found: Identity | Promise<ActiveCheck & Identity>): Identity | Promise<Identity> {
  if (!(found instanceof Promise)) return found;
  return found.then((caller) => {
    checkActive(caller);
    return caller;
  });
}

function isWorkload(identity: Identity): identity is WorkloadCaller {
  return identity.workload !== undefined;
}

function isDelegate(identity: Identity): identity is ActingDelegate {
  return identity.chain !== undefined;
}

type ActiveCheck = Pick<
  Extract<Authentication | PointAuthentication | DelegateAuthentication | WorkloadAuthentication, Identity>,
  'kind'
>;

function checkActive({ kind }: ActiveCheck): void {
  switch (kind) {
    case 'ok':
      return;
    case 'disabled':
    case 'revoked':
      throw inactiveAgent(kind);
  }
}

/** The refusal of an agent that has a good key but may not ask. */
export function inactiveAgent(kind: 'disabled' | 'revoked'): ProblemError {
  return kind === 'disabled'
    ? new ProblemError('agent_disabled', 'an operator has disabled this agent')
    : new ProblemError('agent_revoked', 'this agent has been revoked permanently');
}

/** The refusal of a missing or bad key. */
export function invalidKey(kind: keyof typeof refusals): ProblemError {
  const { code, detail } = refusals[kind];
  return new ProblemError(code, detail, { headers: { 'www-authenticate': 'ApiKey realm="writ"' } });
}

/** The refusals by kind; an unknown key and a wrong secret get the same text. */
const refusals = {
  missing: { code: 'missing_api_key', detail: 'send a key in the header `X-Agent-API-Key`' },
  malformed: { code: 'invalid_api_key', detail: 'this is not an API key, or it has a typing error' },
  unknown: { code: 'invalid_api_key', detail: 'no agent has this key' },
  expired: { code: 'invalid_api_key', detail: 'this key was rotated and has expired' },
} as const;
