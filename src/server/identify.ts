// A request's headers into the agent that sent it, active and within its rate. INVARIANT: only an active agent with a
// good key leaves here; `request.identity` is set as soon as the key is good, so that refusals after it are recorded.

import type { FastifyReply, FastifyRequest } from 'fastify';
import { createAgentMemory } from '../agents/memory.ts';
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

export interface Identifier {
  /** An `onRequest` hook. Throws a ProblemError: 401, 403 or 429. */
  readonly identify: Identify;
  /** The same for a request that passes beyond doubt and at once; null where it is for `identify` to say. */
  readonly recall: (keyText: string, startedAtMs: number) => Recalled | null;
}

export interface Recalled {
  readonly identity: Identity;
  /** What the reply is to carry. */
  readonly headers: Readonly<Record<string, string>>;
}

interface Exchange {
  readonly request: FastifyRequest;
  readonly reply: FastifyReply;
}

/** So often the log says again that a replaced key is in use, of so many keys. */
const toldEveryMs = 60_000;
const toldMax = 1_000;

/** Requests with a missing or bad key that one client address may send before the answer becomes 429. */
const failureLimit: RateLimit = { perMinute: 60, burst: 100 };

/** Both ways share the counters and the memory of who has asked lately. */
export function createIdentifier({ store, rate, clock }: IdentifyOptions): Identifier {
  const memory = createAgentMemory(store);
  const agents = createRateLimiter('agent', rate);
  const failures = createRateLimiter('failures', failureLimit);
  /** By key, on the clock of `performance.now`. */
  const toldAtMs = new Map<string, number>();

  async function identify(request: FastifyRequest, reply: FastifyReply): Promise<void> {
    const header = request.headers['x-agent-api-key'];
    const result = await memory.look(typeof header === 'string' ? header : undefined, {
      nowMs: clock(),
      steadyMs: request.startedAtMs,
    });
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
    flagReplacedKey(result, { request, reply });
    const reading = agents.take(result.agent.id, request.startedAtMs, result.agent);
    reply.headers(agents.headers(reading));
    if (!reading.isWithin) throw new ProblemError('rate_limited', 'wait as long as `Retry-After` says');
  }

  function recall(keyText: string, startedAtMs: number): Recalled | null {
    const identity = memory.recall(keyText, { nowMs: clock(), steadyMs: startedAtMs });
    // A key that has been replaced is flagged where it is looked up.
    if (identity === null || identity.key.notAfterMs !== null) return null;
    const reading = agents.take(identity.agent.id, startedAtMs, identity.agent);
    // What is not within takes nothing, so that it can be asked again.
    return reading.isWithin ? { identity, headers: agents.headers(reading) } : null;
  }

  return { identify, recall };

  /** A key that has been rotated still works for a while; its holder is told until when, and the log who it is. */
  function flagReplacedKey({ agent, key }: Identity, { request, reply }: Exchange): void {
    if (key.notAfterMs === null) return;
    const ends = new Date(key.notAfterMs).toISOString();
    reply.header('x-agent-api-key-expires', ends);
    if (request.startedAtMs - (toldAtMs.get(key.id) ?? -Infinity) < toldEveryMs) return;
    toldAtMs.set(key.id, request.startedAtMs);
    if (toldAtMs.size > toldMax) toldAtMs.delete(toldAtMs.keys().next().value ?? '');
    request.log.warn({ agent: agent.name, key: key.id, ends }, 'an agent uses a key that has been replaced');
  }

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
