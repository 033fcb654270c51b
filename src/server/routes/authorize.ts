// POST /v1/authorize: may this agent do this now? Every check of a request stands here in its order; the first that
// fails is the reply. INVARIANT: a body that fails never reaches a policy, and no reply leaves before its record.

import { hash } from 'node:crypto';
import { performance } from 'node:perf_hooks';
import type { FastifyError, FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import type { VerifySignature } from '../../agents/signature.ts';
import { jsonLimits, readJson } from '../../json/read.ts';
import type { Authorizer } from '../../requests/authorize.ts';
import { requestRecord } from '../../requests/record.ts';
import type { RecordRefusal } from '../../requests/refusal.ts';
import { type RequestView, replyView } from '../../requests/reply.ts';
import type { RequestStore } from '../../store/store.ts';
import { actionKeyLengthMax, type Envelope, readEnvelope } from '../envelope.ts';
import type { Identify, Identity } from '../identify.ts';
import type { Metrics } from '../metrics.ts';
import type { Operation, Parameter } from '../operation.ts';
import { sendProblem, toProblem } from '../plugins/errors.ts';
import { ProblemError, problems } from '../problem.ts';
import { viewExample, viewSchema } from '../request-view.ts';
import { preferHeader, waitAsAsked } from '../wait.ts';

export interface AuthorizeRouteOptions {
  readonly identify: Identify;
  readonly verifySignature: VerifySignature;
  readonly authorizer: Authorizer;
  readonly recordRefusal: RecordRefusal;
  readonly bodyBytesMax: number;
  readonly clock: () => number;
  readonly metrics: Metrics;
  /** Where a request that waits for people is looked up again. */
  readonly requests: Pick<RequestStore, 'find'>;
  /** Ends every wait, so that the service can stop. */
  readonly stopping: AbortSignal;
}

export async function authorizeRoute(app: FastifyInstance, options: AuthorizeRouteOptions): Promise<void> {
  const { identify, verifySignature, authorizer, recordRefusal, bodyBytesMax, clock, metrics } = options;

  app.route({
    method: 'POST',
    url: '/v1/authorize',
    config: { operation: describeOperation(bodyBytesMax) },
    schema: { response: { 200: viewSchema } },
    // 1. Who: the key (401), the agent's state (403), its rate (429).
    onRequest: identify,
    // 2. The size of the body (400), while it is being read.
    bodyLimit: bodyBytesMax,
    handler: async (request, reply) => {
      const { agent } = identityOf(request);
      const body = bodyOf(request);
      // 3. What the body claims to be, what it is, and what it says (400).
      checkContentType(request);
      const { actionKey, payload } = readBody(body, bodyBytesMax);
      // 4. Its signature (401).
      const isSigned = checkSignature(request, body);
      // 5. Headers that belong to the request (400).
      const idempotencyKey = readHeader(request, 'idempotency-key');
      const session = readHeader(request, 'x-agent-session');
      // 6. The decision, on disk before it is known here.
      const { clientAddress, id: requestId } = request;
      const result = await metrics.whileRecording(() =>
        authorizer.authorize({
          ...{ agent, actionKey, payload, isSigned, session, idempotencyKey },
          ...{ clientAddress, requestId },
          // Read only where there is an idempotency key.
          get bodyDigest() {
            return sha256(body);
          },
        }),
      );
      // 7. The reply.
      switch (result.kind) {
        case 'idempotency-mismatch':
          throw new ProblemError('idempotency_mismatch', 'the key was sent before with another body');
        case 'too-many-open':
          throw new ProblemError('too_many_open_requests', 'wait until people have decided earlier requests');
        case 'decided':
          metrics.decided(result.request.decision, result.request.matched_policy);
          metrics.took(performance.now() - request.startedAtMs);
          return result.request.status === 'pending'
            ? await whilePending(result.request, { request, reply })
            : result.request;
      }
    },
  });

  /** 8. For a pending request, where it stands; at once, or after the wait that the client asks for. */
  async function whilePending(
    view: RequestView,
    exchange: { readonly request: FastifyRequest; readonly reply: FastifyReply },
  ): Promise<RequestView> {
    const look = async () => {
      const row = await options.requests.find(view.request_id);
      return row === null ? null : replyView(requestRecord(row), clock());
    };
    const latest = await waitAsAsked(view, exchange, { look, stopping: options.stopping });
    if (latest.status === 'pending') exchange.reply.header('location', `/v1/requests/${view.request_id}`);
    return latest;
  }

  function checkSignature(request: FastifyRequest, body: Uint8Array): boolean {
    const header = request.headers['x-service-signature'];
    const state = verifySignature({
      agent: identityOf(request).agent,
      header: typeof header === 'string' ? header : undefined,
      path: pathOf(request),
      body,
      nowMs: clock(),
    });
    if (typeof state === 'object') throw new ProblemError('invalid_signature', state.invalid);
    return state === 'valid';
  }

  // A request of a known agent that is refused is recorded too, before the reply.
  app.setErrorHandler<FastifyError>(async (error, request, reply) => {
    const problem = toProblem(error);
    metrics.took(performance.now() - request.startedAtMs);
    await recordIfKnown(problem, request);
    return sendProblem(problem, request, reply);
  });

  async function recordIfKnown(problem: ProblemError, request: FastifyRequest): Promise<void> {
    const { identity } = request;
    const { status } = problems[problem.code];
    // A flood must not fill the disk, and what the store refused cannot be stored.
    if (identity === null || status === 429 || status >= 500) return;
    await recordRefusal({
      ...{ id: request.id, agentId: identity.agent.id, keyId: identity.key.id, atMs: Math.trunc(clock()) },
      ...{
        httpStatus: status,
        code: problem.code,
        detail: problem.message,
        clientAddress: request.clientAddress,
      },
      bodyDigest: Buffer.isBuffer(request.body) ? sha256(request.body) : null,
    });
  }
}

function identityOf(request: FastifyRequest): Identity {
  if (request.identity === null) throw new Error('identify comes before the handler');
  return request.identity;
}

function bodyOf(request: FastifyRequest): Buffer {
  return Buffer.isBuffer(request.body) ? request.body : Buffer.alloc(0);
}

const jsonType = /^application\/json\s*(?:;\s*charset\s*=\s*"?utf-8"?\s*)?;?\s*$/i;

function checkContentType({ headers }: FastifyRequest): void {
  if (!jsonType.test(headers['content-type'] ?? '')) {
    throw new ProblemError('unsupported_content_type', 'send `Content-Type: application/json`');
  }
  if ((headers['content-encoding'] ?? 'identity').toLowerCase() !== 'identity') {
    throw new ProblemError('unsupported_content_type', 'send the body without `Content-Encoding`');
  }
}

function readBody(body: Uint8Array, bytesMax: number): Envelope {
  const json = readJson(body, { ...jsonLimits, bytesMax });
  if (!json.ok) throw new ProblemError('invalid_json', json.issue.detail, { errors: [json.issue] });
  const read = readEnvelope(json.value);
  if (read.ok) return read.envelope;
  throw new ProblemError('invalid_envelope', read.errors[0]?.detail ?? '', { errors: read.errors });
}

const headerForm = /^[\x21-\x7e](?:[\x20-\x7e]{0,253}[\x21-\x7e])?$/;

/** Null where it is not sent. */
function readHeader({ headers }: FastifyRequest, name: string): string | null {
  const value = headers[name];
  if (value === undefined) return null;
  if (typeof value === 'string' && headerForm.test(value)) return value;
  throw new ProblemError('invalid_header', `\`${name}\` takes 1 to 255 printable ASCII characters`);
}

function pathOf({ url }: FastifyRequest): string {
  const end = url.indexOf('?');
  return end < 0 ? url : url.slice(0, end);
}

function sha256(bytes: Uint8Array): string {
  return hash('sha256', bytes, 'hex');
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
      'A DENY is an answer and not an error. Checks run in this order, and the first that fails is the reply: key, state of the agent, rate, size, content type, JSON, envelope, signature, headers, idempotency. Whatever fails inside is 500, and nothing was granted.',
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
      ...(['invalid_signature', 'agent_disabled', 'agent_revoked', 'rate_limited'] as const),
      ...(['too_many_failures', 'too_many_open_requests', 'internal_error', 'record_failed'] as const),
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
