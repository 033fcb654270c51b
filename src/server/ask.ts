// A request for a decision whose sender is known and whose body has been read, into its reply: whatever brought it
// here, the same checks in the same order. INVARIANT: a body that fails never reaches a policy, and no reply leaves
// before its record.

import { hash } from 'node:crypto';
import type { IncomingHttpHeaders } from 'node:http';
import { performance } from 'node:perf_hooks';
import type { VerifySignature } from '../agents/signature.ts';
import { jsonLimits, readJson } from '../json/read.ts';
import { stoppedText } from '../requests/approvals/change-request.ts';
import type { AuthorizeResult, Authorizer } from '../requests/authorize.ts';
import type { NotAllowedNow } from '../requests/identify-again.ts';
import type { RecordRefusal } from '../requests/refusal.ts';
import type { RequestView } from '../requests/reply.ts';
import { type Envelope, readEnvelope } from './envelope.ts';
import type { Identity } from './identify.ts';
import type { Metrics } from './metrics.ts';
import { ProblemError, problems } from './problem.ts';
import type { TracedExchange, Tracing } from './tracing.ts';

/** A request that has passed `identify`. */
export interface Asked {
  readonly identity: Identity;
  readonly headers: IncomingHttpHeaders;
  /** As it was sent. */
  readonly url: string;
  /** Made by `createRequestId`. */
  readonly id: string;
  readonly clientAddress: string;
  /** On the clock of `performance.now`. */
  readonly startedAtMs: number;
}

export interface Ask {
  /** Decided and on disk. Rejects with what `toProblem` takes. */
  decide(asked: Asked, body: Buffer): Promise<RequestView>;
  /** Counts and records a refusal, before its reply; `body` is null where it was not read. */
  refuse(problem: ProblemError, asked: Asked, body: Buffer | null): Promise<void>;
}

export interface AskOptions {
  readonly verifySignature: VerifySignature;
  readonly authorizer: Authorizer;
  readonly recordRefusal: RecordRefusal;
  readonly bodyBytesMax: number;
  readonly clock: () => number;
  readonly metrics: Metrics;
  /** Null where no collector is configured. */
  readonly tracing: Tracing | null;
}

export function createAsk(options: AskOptions): Ask {
  const { verifySignature, authorizer, recordRefusal, bodyBytesMax, clock, metrics, tracing } = options;

  async function decide(asked: Asked, body: Buffer): Promise<RequestView> {
    // 3. What the body is, and what it says (400).
    const readAtMs = tracing === null ? 0 : performance.now();
    const { actionKey, payload } = readBody(body, bodyBytesMax);
    // 4. Its signature (401).
    const isSigned = checkSignature(asked, body);
    // 5. Headers that belong to the request (400).
    const idempotencyKey = readHeader(asked, 'idempotency-key');
    const session = readHeader(asked, 'x-agent-session');
    const checkedAtMs = tracing === null ? 0 : performance.now();
    // 6. Whether an operator has stopped it (403), and the decision, on disk before it is known here: only where agent, key
    // and switches are as they were seen, else all of it is judged anew.
    const result = await authorizer.authorize({
      agent: asked.identity.agent,
      key: asked.identity.key,
      actionKey,
      payload,
      isSigned,
      session,
      clientAddress: asked.clientAddress,
      idempotencyKey,
      bodyDigest: idempotencyKey === null ? null : sha256(body),
      requestId: asked.id,
    });
    // 7. The reply.
    const { request: view, by, decideMicroseconds } = decidedOf(result);
    const recordedAtMs = performance.now();
    metrics.decided(view.decision, view.matched_policy, decideMicroseconds);
    metrics.took(recordedAtMs - asked.startedAtMs);
    if (tracing !== null) {
      tracing.answered({
        ...tracedOf(asked, { httpStatus: 200, errorCode: null }),
        decided: {
          ...{ decision: view.decision, policy: view.matched_policy, rule: by, risk: view.risk_score },
          ...{ status: view.status, readAtMs, checkedAtMs, recordedAtMs },
          decideMs: (decideMicroseconds ?? 0) / 1000,
        },
      });
    }
    return view;
  }

  function checkSignature({ identity, headers, url }: Asked, body: Uint8Array): boolean {
    const header = headers['x-service-signature'];
    const state = verifySignature({
      agent: identity.agent,
      header: typeof header === 'string' ? header : undefined,
      path: pathOf(url),
      body,
      nowMs: clock(),
    });
    if (typeof state === 'object') throw new ProblemError('invalid_signature', state.invalid);
    return state === 'valid';
  }

  async function refuse(problem: ProblemError, asked: Asked, body: Buffer | null): Promise<void> {
    const { status } = problems[problem.code];
    tracing?.answered({ ...tracedOf(asked, { httpStatus: status, errorCode: problem.code }), decided: null });
    // A flood must not fill the disk, and what the store refused cannot be stored.
    if (status === 429 || status >= 500) return;
    const { id, clientAddress, identity } = asked;
    await recordRefusal({
      ...{ id, agentId: identity.agent.id, keyId: identity.key.id, atMs: Math.trunc(clock()) },
      ...{ httpStatus: status, code: problem.code, detail: problem.message, clientAddress },
      bodyDigest: body === null ? null : sha256(body),
    });
  }

  return { decide, refuse };
}

function tracedOf(
  { headers, id: requestId, identity, startedAtMs }: Asked,
  outcome: Pick<TracedExchange, 'httpStatus' | 'errorCode'>,
): Omit<TracedExchange, 'decided'> {
  return { traceparent: headers.traceparent, requestId, agentId: identity.agent.id, startedAtMs, ...outcome };
}

function decidedOf(result: AuthorizeResult): Extract<AuthorizeResult, { readonly kind: 'decided' }> {
  switch (result.kind) {
    case 'idempotency-mismatch':
      throw new ProblemError('idempotency_mismatch', 'the key was sent before with another body');
    case 'too-many-open':
      throw new ProblemError('too_many_open_requests', 'wait until people have decided earlier requests');
    case 'stopped':
      throw new ProblemError('stopped', stoppedText(result));
    case 'not-allowed-now':
      throw notAllowedNow(result);
    case 'decided':
      return result;
  }
}

/** As `identify` says it of who may not ask to begin with. */
function notAllowedNow({ why }: NotAllowedNow): ProblemError {
  switch (why) {
    case 'disabled':
      return new ProblemError('agent_disabled', 'an operator has disabled this agent');
    case 'revoked':
      return new ProblemError('agent_revoked', 'this agent has been revoked for good');
    case 'key-ended':
      return new ProblemError('invalid_api_key', 'this key was replaced and has ended', {
        headers: { 'www-authenticate': 'ApiKey realm="writ"' },
      });
    case 'not-signed':
      return new ProblemError('invalid_signature', 'the agent has another signing secret now, or must sign');
  }
}

export const jsonType = /^application\/json\s*(?:;\s*charset\s*=\s*"?utf-8"?\s*)?;?\s*$/i;

/** What is wrong with what the body claims to be; null where it claims to be JSON. */
export function contentTypeFault(headers: IncomingHttpHeaders): string | null {
  const type = headers['content-type'];
  // The one that nearly all send needs no pattern.
  if (type !== 'application/json' && !jsonType.test(type ?? ''))
    return 'send `Content-Type: application/json`';
  const encoding = headers['content-encoding'];
  return encoding === undefined || encoding.toLowerCase() === 'identity'
    ? null
    : 'send the body without `Content-Encoding`';
}

function readBody(body: Uint8Array, bytesMax: number): Envelope {
  const json = readJson(body, { bytesMax, depthMax: jsonLimits.depthMax });
  if (!json.ok) throw new ProblemError('invalid_json', json.issue.detail, { errors: [json.issue] });
  const read = readEnvelope(json.value);
  if (read.ok) return read.envelope;
  throw new ProblemError('invalid_envelope', read.errors[0]?.detail ?? '', { errors: read.errors });
}

const headerForm = /^[\x21-\x7e](?:[\x20-\x7e]{0,253}[\x21-\x7e])?$/;

/** Null where it is not sent. */
function readHeader({ headers }: Asked, name: string): string | null {
  const value = headers[name];
  if (value === undefined) return null;
  if (typeof value === 'string' && headerForm.test(value)) return value;
  throw new ProblemError('invalid_header', `\`${name}\` takes 1 to 255 printable ASCII characters`);
}

function pathOf(url: string): string {
  const end = url.indexOf('?');
  return end < 0 ? url : url.slice(0, end);
}

function sha256(bytes: Uint8Array): string {
  return hash('sha256', bytes, 'hex');
}
