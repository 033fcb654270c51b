// POST /v1/authorize: may this agent do this now? Every check of a request stands here and in ask.ts in its order; the
// first that fails is the reply. INVARIANT: a body that fails never reaches a policy, and no reply leaves before its
// record.

import { performance } from 'node:perf_hooks';
import type { FastifyError, FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { type RequestView, replyView } from '../../requests/reply.ts';
import { requestStateOf } from '../../requests/request-state.ts';
import type { RequestStore } from '../../store/store.ts';
import { type Ask, type Asked, contentTypeFault } from '../ask.ts';
import { actionKeyLengthMax } from '../envelope.ts';
import type { Identify } from '../identify.ts';
import type { Metrics } from '../metrics.ts';
import type { Operation, Parameter } from '../operation.ts';
import { sendProblem, toProblem } from '../plugins/errors.ts';
import { ProblemError } from '../problem.ts';
import { viewExample, viewSchema } from '../request-view.ts';
import { preferHeader, waitAsAsked } from '../wait.ts';

export const authorizePath = '/v1/authorize';

export interface AuthorizeRouteOptions {
  readonly identify: Identify;
  readonly ask: Ask;
  readonly bodyBytesMax: number;
  readonly clock: () => number;
  readonly metrics: Metrics;
  /** Where a request that waits for people is looked up again. */
  readonly requests: Pick<RequestStore, 'history'>;
  /** Ends every wait, so that the service can stop. */
  readonly stopping: AbortSignal;
}

export async function authorizeRoute(app: FastifyInstance, options: AuthorizeRouteOptions): Promise<void> {
  const { identify, ask, bodyBytesMax, clock, metrics } = options;

  app.route({
    method: 'POST',
    url: authorizePath,
    config: { operation: describeOperation(bodyBytesMax) },
    schema: { response: { 200: viewSchema } },
    // 1. Who: the key (401), the agent's state (403), its rate (429).
    onRequest: identify,
    // 2. The size of the body (400), while it is being read.
    bodyLimit: bodyBytesMax,
    handler: async (request, reply) => {
      const asked = askedOf(request);
      // 3. What the body claims to be (400).
      const fault = contentTypeFault(request.headers);
      if (fault !== null) throw new ProblemError('unsupported_content_type', fault);
      // 3. to 8. What it is and says, its signature, whether it is stopped, the decision on disk.
      const view = await ask.decide(asked, bodyOf(request) ?? Buffer.alloc(0));
      return view.status === 'pending' ? await whilePending(view, { request, reply }) : view;
    },
  });

  /** 9. For a pending request, where it stands; at once, or after the wait that the client asks for. */
  async function whilePending(
    view: RequestView,
    exchange: { readonly request: FastifyRequest; readonly reply: FastifyReply },
  ): Promise<RequestView> {
    const look = async () => {
      const history = await options.requests.history(view.request_id);
      return history === null ? null : replyView(requestStateOf(history), clock());
    };
    const latest = await waitAsAsked(view, exchange, { look, stopping: options.stopping });
    if (latest.status === 'pending') exchange.reply.header('location', locationOf(view));
    return latest;
  }

  // A request of a known agent that is refused is recorded too, before the reply.
  app.setErrorHandler<FastifyError>(async (error, request, reply) => {
    const problem = toProblem(error);
    metrics.took(performance.now() - request.startedAtMs);
    if (request.identity !== null) await ask.refuse(problem, askedOf(request), bodyOf(request));
    return sendProblem(problem, request, reply);
  });
}

/** Where a request is looked up again. */
export function locationOf(view: RequestView): string {
  return `/v1/requests/${view.request_id}`;
}

function askedOf(request: FastifyRequest): Asked {
  const { identity, headers, url, id, clientAddress, startedAtMs } = request;
  if (identity === null) throw new Error('identify comes before the handler');
  return { identity, headers, url, id, clientAddress, startedAtMs };
}

function bodyOf({ body }: FastifyRequest): Buffer | null {
  return Buffer.isBuffer(body) ? body : null;
}

const headerText = { type: 'string', minLength: 1, maxLength: 255, pattern: '^[\\x21-\\x7e][\\x20-\\x7e]*$' };

function header(name: string, example: string, description: string): Parameter {
  return { name, in: 'header', isRequired: false, description, schema: headerText, example };
}

const headers: readonly Parameter[] = [
  header('Idempotency-Key', 'order-4711', 'The same key and body yield the same request, as it stands then.'),
  header(
    'X-Request-ID',
    'call-17',
    'Echoed where it is 1 to 128 letters, digits, `.`, `_`, `~`, `:` or `-`.',
  ),
  header(
    'traceparent',
    '00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01',
    'Where the service sends traces, the span of the caller (W3C Trace Context); what is none is ignored.',
  ),
  header('X-Agent-Session', 'session-1', 'What `request.session` and meters per session read.'),
  header(
    'X-Service-Signature',
    't=1779192000,n=4f2a9c0d1e,v1=<64 hexadecimal digits>',
    "HMAC-SHA256 with the agent's signing secret over `v1:<t>:<n>:POST:<path>:<raw body>`; required of agents set so.",
  ),
  preferHeader,
];

function describeOperation(bodyBytesMax: number): Operation {
  return {
    id: 'authorize',
    summary: 'May this agent do this now?',
    description:
      'A DENY is an answer and not an error. Checks run in this order, and the first that fails is the reply: key, state of the agent, rate, size, content type, JSON, envelope, signature, headers, kill switch, idempotency. Whatever fails inside is 500, and nothing was granted.',
    security: 'agentKey',
    parameters: headers,
    body: {
      description: `Strict JSON (RFC 7493), at most ${bodyBytesMax} bytes: no member twice, no number with more than 15 significant digits, no lone surrogates, no byte order mark, at most 32 deep.`,
      schema: bodySchema,
      examples: {
        payment: {
          action_key: 'payment.create',
          payload: { amount: 120, currency: 'USD', vendor: 'Staples', description: 'paper' },
        },
      },
    },
    replies: {
      200: {
        description: 'The decision, on record',
        schema: viewSchema,
        example: viewExample,
        headers: [
          ...(['RateLimit-Policy', 'RateLimit', 'X-Agent-API-Key-Expires'] as const),
          ...(['Location', 'Preference-Applied'] as const),
        ],
      },
    },
    problems: [
      ...(['body_too_large', 'unsupported_content_type', 'invalid_json', 'invalid_envelope'] as const),
      ...(['invalid_header', 'idempotency_mismatch', 'missing_api_key', 'invalid_api_key'] as const),
      ...(['invalid_signature', 'agent_disabled', 'agent_revoked', 'stopped'] as const),
      ...([
        'rate_limited',
        'too_many_failures',
        'too_many_open_requests',
        'internal_error',
        'record_failed',
      ] as const),
    ],
  };
}

const bodySchema = {
  type: 'object',
  additionalProperties: false,
  required: ['action_key', 'payload'],
  properties: {
    action_key: { type: 'string', minLength: 1, maxLength: actionKeyLengthMax },
    payload: { type: 'object', additionalProperties: true },
  },
} as const;
