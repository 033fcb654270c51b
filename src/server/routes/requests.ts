// GET /v1/requests/{id}: a request as it stands now, for the agent that made it. `Prefer: wait=N` holds the answer
// while the request is pending. INVARIANT: another agent's request and none at all look the same.

import type { FastifyInstance } from 'fastify';
import type { Authorizer } from '../../requests/authorize.ts';
import type { Identify } from '../identify.ts';
import type { Operation } from '../operation.ts';
import { ProblemError } from '../problem.ts';
import { detailExample, detailSchema } from '../request-view.ts';
import { preferHeader, waitAsAsked } from '../wait.ts';

export interface RequestRouteOptions {
  readonly identify: Identify;
  readonly authorizer: Authorizer;
  /** Ends every wait, so that the service can stop. */
  readonly stopping: AbortSignal;
}

export async function requestRoute(app: FastifyInstance, options: RequestRouteOptions): Promise<void> {
  const { identify, authorizer, stopping } = options;

  app.get<{ Params: { id: string } }>(
    '/v1/requests/:id',
    { onRequest: identify, config: { operation } },
    async (request, reply) => {
      const agentId = request.identity?.agent.id ?? '';
      const look = () => authorizer.find(request.params.id, agentId);
      const found = await look();
      if (found === null) {
        throw new ProblemError('request_not_found', 'this agent has made no request with this id');
      }
      return waitAsAsked(found, { request, reply }, { look, stopping });
    },
  );
}

const operation: Operation = {
  id: 'getRequest',
  summary: 'How a request stands now, and why',
  description: 'For the agent that made it; the request of another agent and none at all look the same.',
  security: 'agentKey',
  parameters: [
    {
      ...{ name: 'id', in: 'path', isRequired: true, description: 'The `request_id` of the reply.' },
      ...{ schema: { type: 'string' }, example: detailExample.request_id },
    },
    preferHeader,
  ],
  replies: {
    200: {
      description: 'The request',
      schema: detailSchema,
      example: detailExample,
      headers: ['RateLimit-Policy', 'RateLimit', 'X-Agent-API-Key-Expires', 'Preference-Applied'],
    },
  },
  problems: [
    ...(['missing_api_key', 'invalid_api_key', 'agent_disabled', 'agent_revoked', 'rate_limited'] as const),
    ...([
      'too_many_failures',
      'request_not_found',
      'unknown_route',
      'internal_error',
      'record_failed',
    ] as const),
  ],
};
