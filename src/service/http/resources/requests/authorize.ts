// POST /v1/authorize: may this agent do this now? `checksInOrder` lists the checks of a request. It is an
// ordinary Fastify route, except that it reads the body itself and writes the reply of a decision in one
// piece, because Fastify's ways cost too much. INVARIANT: a body that fails never reaches a policy, and no
// reply leaves before its record.

import type { FastifyError, FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import type { ActivePolicies } from '../../../../language/model/active-policies.ts';
import type { Receipts } from '../../../receipts/issue-receipt.ts';
import type { VoteEvaluator } from '../../../requests/approvals/effective-votes.ts';
import type { RequestView } from '../../../requests/record/reply.ts';
import type { Identify, IdentifyAgain } from '../../auth/identify-agent.ts';
import { createBodyReader, createDecisionReplies } from '../../connection/decision-exchange.ts';
import { sendProblem, toProblem } from '../../connection/error-replies.ts';
import { contentTypeFault } from '../../contract/content-type.ts';
import { actionKeyLengthMax } from '../../contract/envelope.ts';
import type { DescribedRoute, Operation, Parameter } from '../../contract/operation.ts';
import { ProblemError } from '../../contract/problem.ts';
import { namedAgentHeader } from '../../routing/route.ts';
import {
  type Answer,
  type AuthorizeCall,
  type AuthorizeHandler,
  checksInOrder,
} from './authorize-handler.ts';
import { changeHeader, type RefusalHints } from './refusal-hints.ts';
import { viewExample, viewSchema } from './request-view.ts';
import { preferHeader, type Waits } from './wait.ts';
import { whilePending } from './wait-for-decision.ts';

export interface AuthorizeRouteOptions {
  readonly identify: Identify;
  readonly identifyAgain: IdentifyAgain;
  readonly authorizeHandler: AuthorizeHandler;
  readonly refusalHintOf: RefusalHints;
  readonly waits: Waits;
  readonly receipts: Pick<Receipts, 'issue' | 'isOn'>;
  /** Counts the votes of requests as of now. */
  readonly evaluateVotes: VoteEvaluator['evaluateVotes'];
  readonly bodyBytesMax: number;
  readonly policies: () => Pick<ActivePolicies, 'resultShapeOf'>;
  readonly clock: () => number;
  readonly shutdown: AbortSignal;
}

export async function authorizeRoute(app: FastifyInstance, options: AuthorizeRouteOptions): Promise<void> {
  const { identify, authorizeHandler, refusalHintOf, waits, receipts, policies, bodyBytesMax } = options;
  const replyWith = createDecisionReplies(options.shutdown);
  const readBody = createBodyReader(bodyBytesMax);

  app.route({
    method: 'POST',
    url: '/v1/authorize',
    // The reply is made before the framework reads a body, so the handler is never reached.
    onRequest(request, reply) {
      const identifying = identify(request);
      if (identifying === null) return read(request, reply);
      identifying.then(
        () => read(request, reply),
        (error: unknown) => reply.send(error),
      );
    },
    handler: neverReached,
  });

  function read(request: FastifyRequest, reply: FastifyReply): void {
    readBody(request.raw, (body) => {
      if (body instanceof Error) {
        // The rest of what the client sends belongs to this body, not to a next request.
        reply.header('connection', 'close').send(body);
        return;
      }
      request.body = body;
      decide(request, reply).then(
        (view) => replyWith(view, reply),
        (error: unknown) => reply.send(error),
      );
    });
  }

  async function decide(request: FastifyRequest, reply: FastifyReply): Promise<RequestView> {
    const call = callOf(request);
    const fault = contentTypeFault(request.headers);
    if (fault !== null) throw new ProblemError('unsupported_content_type', fault);
    // The wait begins before the decision, so that a caller that may not wait is refused while nothing has
    // happened.
    const wait = waits.begin({ request, reply }, call.identity.agent.id);
    const answer = await authorizeHandler.decide(call, bodyOf(request) ?? Buffer.alloc(0));
    const latest = await whilePending(options, answer, { call, wait });
    if (call.headers.prefer !== undefined) await addReceipt({ view: latest, input: answer.input }, request);
    const worded = refusalHintOf({ view: latest, input: answer.input });
    const { view, change } = worded instanceof Promise ? await worded : worded;
    if (change !== null) request.replyHeaders['writ-change'] = changeHeader(change);
    if (view.status === 'auto_approved') addResultFields(answer.input.actionKey, request);
    return view;
  }

  /** Names the fields of the result that the caller should report before anyone reads what the call returned. */
  function addResultFields(actionKey: string, request: FastifyRequest): void {
    const shape = policies().resultShapeOf(actionKey);
    if (shape === null || shape.fields.length === 0) return;
    request.replyHeaders['writ-result'] = shape.fields.map(({ name }) => encodeURIComponent(name)).join(',');
  }

  /** Adds a receipt when the agent asks for one and its request is granted. */
  async function addReceipt({ view, input }: Answer, request: FastifyRequest): Promise<void> {
    if (typeof input.receiptFor !== 'string' || view.status !== 'auto_approved' || !receipts.isOn) return;
    const issued = await receipts.issue(view.request_id, input);
    // Otherwise the grant comes without a receipt: whoever asks for receipts does not act without one.
    if (issued.kind === 'issued') request.replyHeaders['writ-receipt'] = issued.receipt;
  }

  // A refused request of a known agent is recorded too, before the reply.
  app.setErrorHandler<FastifyError>(async (error, request, reply) => {
    const problem = toProblem(error);
    if (request.identity === null) authorizeHandler.refuseUnknown(problem, request.startedAtMs);
    else await authorizeHandler.refuse(problem, callOf(request), bodyOf(request));
    return sendProblem(problem, request, reply);
  });
}

function neverReached(): never {
  throw new Error('a request for a decision reached the fallback handler');
}

function callOf(request: FastifyRequest): AuthorizeCall {
  const { identity, headers, url, id, clientAddress, startedAtMs } = request;
  if (identity === null) throw new Error('the handler ran before the agent was identified');
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
  header(
    'Idempotency-Key',
    'order-4711',
    'The same key and body return the same request in its current state.',
  ),
  header(
    'X-Request-ID',
    'call-17',
    'Returned unchanged if it has 1 to 128 letters, digits, `.`, `_`, `~`, `:` or `-`.',
  ),
  header(
    'traceparent',
    '00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01',
    "The caller's span (W3C Trace Context), used when the service sends traces. An invalid value is ignored.",
  ),
  header(
    'X-Agent-Session',
    'session-1',
    'The session for `request.session` and for meters per session. The session of an enforcement point is read as `point:<its id>/<text>`, which no agent can send.',
  ),
  {
    name: 'X-On-Behalf-Of',
    in: 'header',
    isRequired: false,
    description:
      'The OpenID Connect token of the person for whom the agent acts. `request.user` is known if the configured issuer signed the token for this service and the token is valid now. With any other token the user is unknown, and the record has the reason.',
    schema: { type: 'string', minLength: 1 },
    example: 'eyJhbGciOiJFUzI1NiJ9.eyJzdWIiOiI4ZjNjIn0.c2lnbmF0dXJl',
  },
  header(
    'X-Service-Signature',
    't=1779192000,n=4f2a9c0d1e,v1=<64 hexadecimal digits>',
    "HMAC-SHA256 with the agent's signing secret over `v1:<t>:<n>:POST:<path>:<raw body>`. Required if signing is required for the agent.",
  ),
  preferHeader,
  namedAgentHeader,
];

const checksText = checksInOrder.map(({ check, status }) => `${check} (${status})`).join(', ');

/** The route as the OpenAPI document shows it, with the configured limit on the body. */
export function describeAuthorize(bodyBytesMax: number): DescribedRoute {
  return { method: 'POST', url: '/v1/authorize', operation: describeOperation(bodyBytesMax) };
}

function describeOperation(bodyBytesMax: number): Operation {
  return {
    id: 'authorize',
    summary: 'Decides whether an agent may perform an action now',
    description: `A DENY is an answer, not an error. Checks run in this order, and the first failed check is the reply: ${checksText}. An internal error is a 500, and nothing is granted.`,
    security: 'agentKey',
    parameters: headers,
    body: {
      description: `Strict JSON (RFC 7493), at most ${bodyBytesMax} bytes: no duplicate keys, no numbers that a double cannot represent, no lone surrogates, no byte order mark, at most 32 levels deep.`,
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
        description: 'The recorded decision',
        schema: viewSchema,
        example: viewExample,
        headers: [
          'RateLimit-Policy',
          'RateLimit',
          'X-Agent-API-Key-Expires',
          'Location',
          'Preference-Applied',
          'Writ-Receipt',
          'Writ-Change',
          'Writ-Result',
        ],
      },
    },
    problems: [
      'body_too_large',
      'unsupported_content_type',
      'invalid_json',
      'invalid_envelope',
      'invalid_header',
      'idempotency_mismatch',
      'missing_api_key',
      'invalid_api_key',
      'invalid_token',
      'invalid_dpop_proof',
      'identity_not_mapped',
      'issuer_keys_unknown',
      'invalid_signature',
      'agent_disabled',
      'agent_revoked',
      'agent_not_assigned',
      'point_not_active',
      'stopped',
      'rate_limited',
      'too_many_failures',
      'too_many_open_requests',
      'too_many_in_flight',
      'too_many_waits',
      'internal_error',
      'record_failed',
      'store_busy',
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
