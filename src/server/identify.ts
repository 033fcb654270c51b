// A request's headers into the agent that sent it, active and within its rate. INVARIANT: only an active agent with a
// good key leaves here; `request.identity` is set as soon as the key is good, so that refusals after it are recorded.

import type { FastifyReply, FastifyRequest } from 'fastify';
import { authenticate } from '../agents/registry.ts';
import type { AgentRow, KeyRow } from '../store/records.ts';
import type { Store } from '../store/store.ts';
import { ProblemError } from './problem.ts';
import { createRateLimiter, type RateLimit } from './rate-limit.ts';

export interface Identity {
  readonly agent: AgentRow;
  readonly key: KeyRow;
}

declare module 'fastify' {
  interface FastifyRequest {
    /** Null until the API key has been found good. */
    identity: Identity | null;
  }
}

export interface IdentifyOptions {
  readonly store: Store;
  readonly rate: RateLimit;
  readonly clock: () => number;
}

export type Identify = (request: FastifyRequest, reply: FastifyReply) => Promise<void>;

/** Requests with a missing or bad key that one client address may send before the answer becomes 429. */
const failureLimit: RateLimit = { perMinute: 60, burst: 100 };

/** An `onRequest` hook with its own counters. Throws a ProblemError: 401, 403 or 429. */
export function createIdentify({ store, rate, clock }: IdentifyOptions): Identify {
  const agents = createRateLimiter('agent', rate);
  const failures = createRateLimiter('failures', failureLimit);

  return async function identify(request, reply) {
    const nowMs = clock();
    const header = request.headers['x-agent-api-key'];
    const result = await authenticate(store, typeof header === 'string' ? header : undefined, nowMs);
    switch (result.kind) {
      case 'missing':
      case 'malformed':
      case 'unknown':
      case 'expired':
        return refuse(result.kind, request.clientAddress);
      case 'disabled':
        request.identity = result;
        throw new ProblemError('agent_disabled', 'an operator has disabled this agent');
      case 'revoked':
        request.identity = result;
        throw new ProblemError('agent_revoked', 'this agent has been revoked for good');
      case 'ok':
        request.identity = result;
    }
    flagReplacedKey(result.key, reply);
    const reading = agents.take(result.agent.id, request.startedAtMs);
    reply.headers(agents.headers(reading));
    if (!reading.isWithin) throw new ProblemError('rate_limited', 'wait as long as `Retry-After` says');
  };

  /** Good keys behind the same address are never slowed down by this. */
  function refuse(kind: keyof typeof refusals, address: string): never {
    const reading = failures.take(address, performance.now());
    if (!reading.isWithin) {
      const detail = 'this address has sent too many requests without a valid key';
      throw new ProblemError('too_many_failures', detail, { headers: failures.headers(reading) });
    }
    const { code, detail } = refusals[kind];
    throw new ProblemError(code, detail, { headers: { 'www-authenticate': 'ApiKey realm="writ"' } });
  }
}

/** An unknown key and a wrong secret read the same. */
const refusals = {
  missing: { code: 'missing_api_key', detail: 'send a key in the header `X-Agent-API-Key`' },
  malformed: { code: 'invalid_api_key', detail: 'this is not an API key, or it was mistyped' },
  unknown: { code: 'invalid_api_key', detail: 'no agent has this key' },
  expired: { code: 'invalid_api_key', detail: 'this key was replaced and has ended' },
} as const;

/** A key that has been rotated still works for a while; its holder is told until when. */
function flagReplacedKey({ notAfterMs }: KeyRow, reply: FastifyReply): void {
  if (notAfterMs !== null) reply.header('x-agent-api-key-expires', new Date(notAfterMs).toISOString());
}
