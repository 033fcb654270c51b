// POST /v1/authorize: may this agent do this now? Every check of a request stands here in its order; the first that
// fails is the reply. INVARIANT: a body that fails never reaches a policy, and no reply leaves before its record.

import { createHash } from 'node:crypto';
import type { FastifyError, FastifyInstance, FastifyRequest } from 'fastify';
import type { VerifySignature } from '../../agents/signature.ts';
import { jsonLimits, readJson } from '../../json/read.ts';
import type { Authorizer } from '../../requests/authorize.ts';
import type { RecordRefusal } from '../../requests/refusal.ts';
import { type Envelope, readEnvelope } from '../envelope.ts';
import type { Identify, Identity } from '../identify.ts';
import { sendProblem, toProblem } from '../plugins/errors.ts';
import { ProblemError, problems } from '../problem.ts';

export interface AuthorizeRouteOptions {
  readonly identify: Identify;
  readonly verifySignature: VerifySignature;
  readonly authorizer: Authorizer;
  readonly recordRefusal: RecordRefusal;
  readonly bodyBytesMax: number;
  readonly clock: () => number;
}

export async function authorizeRoute(app: FastifyInstance, options: AuthorizeRouteOptions): Promise<void> {
  const { identify, verifySignature, authorizer, recordRefusal, bodyBytesMax, clock } = options;

  app.route({
    method: 'POST',
    url: '/v1/authorize',
    schema: { response: { 200: replySchema } },
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
      const result = await authorizer.authorize({
        ...{ agent, actionKey, payload, isSigned, session, idempotencyKey },
        ...{ clientAddress: request.clientAddress, bodyDigest: sha256(body), requestId: request.id },
      });
      // 7. The reply.
      switch (result.kind) {
        case 'idempotency-mismatch':
          throw new ProblemError('idempotency_mismatch', 'the key was sent before with another body');
        case 'too-many-open':
          throw new ProblemError('too_many_open_requests', 'wait until people have decided earlier requests');
        case 'decided':
          if (result.request.status === 'pending') {
            reply.header('location', `/v1/requests/${result.request.request_id}`);
          }
          return result.request;
      }
    },
  });

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

/** The eight fields: whatever else the view may come to hold stays here. */
const replySchema = {
  type: 'object',
  additionalProperties: false,
  properties: {
    request_id: { type: 'string' },
    decision: { type: 'string' },
    reason: { type: 'string' },
    matched_policy: { type: 'string' },
    risk_score: { type: 'integer' },
    status: { type: 'string' },
    message: { type: 'string' },
    expires_at: { type: 'string' },
  },
} as const;

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
  return createHash('sha256').update(bytes).digest('hex');
}
