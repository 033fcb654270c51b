// GET /v1/requests/{id}: a request as it stands now, for the agent that made it. `Prefer: wait=N` holds the answer
// while the request is pending. INVARIANT: another agent's request and none at all look the same.

import { setTimeout as sleep } from 'node:timers/promises';
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import type { Authorizer } from '../../requests/authorize.ts';
import type { RequestDetail } from '../../requests/reply.ts';
import type { Identify } from '../identify.ts';
import { ProblemError } from '../problem.ts';

export interface RequestRouteOptions {
  readonly identify: Identify;
  readonly authorizer: Authorizer;
  /** Ends every wait, so that the service can stop. */
  readonly stopping: AbortSignal;
}

const waitSecondsMax = 55;
/** People take minutes; another process may have taken their decision, so only the store knows. */
const pollMs = 500;

export async function requestRoute(app: FastifyInstance, options: RequestRouteOptions): Promise<void> {
  const { identify, authorizer, stopping } = options;

  app.get<{ Params: { id: string } }>('/v1/requests/:id', { onRequest: identify }, async (request, reply) => {
    const agentId = request.identity?.agent.id ?? '';
    const look = () => authorizer.find(request.params.id, agentId);
    const found = await look();
    if (found === null)
      throw new ProblemError('request_not_found', 'this agent has made no request with this id');
    const seconds = waitSeconds(request);
    if (seconds === 0) return found;
    reply.header('preference-applied', `wait=${seconds}`);
    return settle(found, { look, seconds, signal: AbortSignal.any([stopping, gone(reply)]) });
  });
}

interface Wait {
  readonly look: () => Promise<RequestDetail | null>;
  readonly seconds: number;
  readonly signal: AbortSignal;
}

/** The request once it is no longer pending, or as it is when the wait is over. */
async function settle(found: RequestDetail, { look, seconds, signal }: Wait): Promise<RequestDetail> {
  const deadline = performance.now() + seconds * 1000;
  let latest = found;
  while (latest.status === 'pending' && !signal.aborted) {
    const leftMs = deadline - performance.now();
    if (leftMs <= 0) break;
    // Being woken is the purpose of the signal, not a fault.
    await sleep(Math.min(pollMs, leftMs), undefined, { signal }).catch(() => undefined);
    latest = (await look()) ?? latest;
  }
  return latest;
}

/** Of `Prefer: wait=N` (RFC 7240); 0 where it is not asked for. */
function waitSeconds({ headers }: FastifyRequest): number {
  const asked = /(?:^|,)\s*wait\s*=\s*"?(\d{1,6})"?\s*(?=[,;]|$)/i.exec(String(headers.prefer ?? ''))?.[1];
  return Math.min(Number(asked ?? 0), waitSecondsMax);
}

/** Fires when nobody is there to read the answer. */
function gone(reply: FastifyReply): AbortSignal {
  const controller = new AbortController();
  reply.raw.once('close', () => controller.abort());
  return controller.signal;
}
