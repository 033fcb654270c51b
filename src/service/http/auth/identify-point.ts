// Authenticates an enforcement point by its key, and finds the agent for which it asks. INVARIANT: a point
// acts only for its assigned agents; an agent's own key acts for no other agent.

import type { FastifyRequest } from 'fastify';
import type { Instant } from '../../agents/key-cache.ts';
import type { ActingAs, ActingPoint, PointAuthentication, SentByPoint } from '../../agents/points/point.ts';
import type { PointCache } from '../../agents/points/point-cache.ts';
import type { AgentRow } from '../../store/contract/records.ts';
import { ProblemError } from '../contract/problem.ts';

type AgentAuthentication = Extract<PointAuthentication, { readonly agent: AgentRow }>;
type UnknownCaller = Extract<PointAuthentication, { readonly kind: 'malformed' | 'unknown' | 'expired' }>;
type NotActing = Exclude<PointAuthentication, AgentAuthentication | UnknownCaller>;

interface PointIdentifierOptions {
  readonly cache: PointCache;
  /** Throws when the agent is not active. */
  readonly checkActive: (acting: AgentAuthentication) => void;
  readonly refuseUnknownCaller: (kind: UnknownCaller['kind'], address: string) => never;
  /** Counts a failure of the address; throws when the address has failed too often. */
  readonly takeFailure: (address: string) => void;
}

interface PointIdentifier {
  /** The point and its agent, if they were looked up a moment ago; else null. */
  cached(keyText: string, request: FastifyRequest, now: Instant): ActingAs | null;
  /**
   * The point and the agent that it acts for; the agent may be disabled or revoked. Rejects with a
   * ProblemError: 400, 401, 403 or 429.
   */
  identify(keyText: string, request: FastifyRequest, now: Instant): Promise<AgentAuthentication>;
  /** The point that sent the key, apart from any agent. Rejects with a ProblemError: 401, 403 or 429. */
  find(keyText: string, request: FastifyRequest, now: Instant): Promise<ActingPoint>;
  /** Identifies the same point and agent once more; returns `before` at once when nothing has changed. */
  identifyAgain(keyText: string, before: ActingAs, now: Instant): ActingAs | Promise<ActingAs>;
}

export function createPointIdentifier(options: PointIdentifierOptions): PointIdentifier {
  const { cache, checkActive, refuseUnknownCaller, takeFailure } = options;
  return {
    cached: (keyText, request, now) => cache.cached({ keyText, agentName: namedAgent(request) }, now),
    async identify(keyText, request, now) {
      const result = await cache.authenticate({ keyText, agentName: namedAgent(request) }, now);
      if ('agent' in result) return result;
      if (!('name' in result)) return refuseUnknownCaller(result.kind, request.clientAddress);
      request.log.warn({ point: result.name, why: result.kind }, 'an enforcement point was refused');
      if (result.kind === 'not-assigned') takeFailure(request.clientAddress);
      throw refusalOf(result);
    },
    async find(keyText, request, now) {
      const lookup = await cache.find(keyText, now.nowMs);
      if (lookup.kind === 'ok')
        return { id: lookup.value.id, name: lookup.value.name, version: lookup.version };
      if (!('name' in lookup)) return refuseUnknownCaller(lookup.kind, request.clientAddress);
      throw refusalOf(lookup);
    },
    identifyAgain: (keyText, before, now) =>
      cache.isCurrent(keyText, before, now)
        ? before
        : lookAgain({ keyText, agentName: before.agent.id }, now),
  };

  async function lookAgain(sent: SentByPoint, now: Instant): Promise<AgentAuthentication> {
    const result = await cache.authenticate(sent, now);
    if ('name' in result) throw refusalOf(result);
    if (!('agent' in result))
      throw new ProblemError('invalid_api_key', 'this key was rotated and has expired');
    checkActive(result);
    return result;
  }
}

const namedHeader = 'x-writ-agent';

/** The agent that an enforcement point asks for; null when the request names none. */
function namedAgent({ headers }: FastifyRequest): string | null {
  const value = headers[namedHeader];
  return typeof value === 'string' && value !== '' ? value : null;
}

/**
 * Throws when a request with an agent's own key names another agent, so that a person who sets up an
 * enforcement point with such a key learns of the mistake at once.
 */
export function checkNamed(request: FastifyRequest, { id, name }: AgentRow): void {
  const named = namedAgent(request);
  if (named === null || named === id || named === name) return;
  const detail = 'this is the key of an agent: only an enforcement point can act for another agent';
  throw new ProblemError('agent_not_assigned', detail);
}

function refusalOf({ kind, name }: NotActing): ProblemError {
  switch (kind) {
    case 'point-disabled':
    case 'point-revoked':
      return pointNotActive(`the enforcement point \`${name}\` is ${kind.slice('point-'.length)}`);
    case 'not-named':
      return new ProblemError('invalid_header', 'name the agent in the header `X-Writ-Agent`, by name or id');
    case 'not-assigned':
      return new ProblemError(
        'agent_not_assigned',
        'the agent that `X-Writ-Agent` names is not assigned to this enforcement point',
      );
  }
}

export function pointNotActive(detail: string): ProblemError {
  return new ProblemError('point_not_active', detail);
}
