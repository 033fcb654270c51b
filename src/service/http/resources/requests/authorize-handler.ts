// Produces the reply to an authorization request, after its caller is identified and its body read. INVARIANT:
// an invalid body never reaches a policy, the caller is identified again after the last byte of the body, and
// no reply leaves before its record.

import { hash } from 'node:crypto';
import type { IncomingHttpHeaders } from 'node:http';
import { performance } from 'node:perf_hooks';
import { jsonLimits, readJson } from '../../../../language/json/read-json.ts';
import type { ActingChain } from '../../../agents/delegations/delegation.ts';
import { keptNonce, type VerifySignature } from '../../../agents/signature.ts';
import { stoppedText } from '../../../requests/approvals/change-request.ts';
import type { AuthorizeInput, AuthorizeResult, Authorizer } from '../../../requests/authorize.ts';
import type { IdentityRefusal } from '../../../requests/identify-again.ts';
import type { RequestView } from '../../../requests/record/reply.ts';
import type { RecordRefusal } from '../../../requests/refusal.ts';
import type { CountedRefusal } from '../../../store/contract/statistics.ts';
import type { OnBehalf, TokenReader } from '../../../users/on-behalf.ts';
import type { FairShares } from '../../auth/fair-shares.ts';
import { type IdentifyAgain, type Identity, inactiveAgent, invalidKey } from '../../auth/identify-agent.ts';
import { delegationEnded } from '../../auth/identify-delegate.ts';
import { pointNotActive } from '../../auth/identify-point.ts';
import { invalidToken } from '../../auth/identify-workload.ts';
import { callerText } from '../../auth/sent-token.ts';
import { type Envelope, readEnvelope } from '../../contract/envelope.ts';
import { ProblemError, problems } from '../../contract/problem.ts';
import type { Metrics } from '../../telemetry/metrics.ts';
import type { TracedExchange } from '../../telemetry/otlp.ts';
import { toolName } from '../../telemetry/tool-names.ts';
import type { RequestTracing } from '../../telemetry/tracing.ts';
import { preferencesOf } from './preferences.ts';

/**
 * The checks of a request for a decision, in order. The first check that fails gives the reply, with this
 * status.
 */
export const checksInOrder = [
  { check: 'key', status: 401 },
  { check: 'agent disabled or revoked', status: 403 },
  { check: 'rate', status: 429 },
  { check: 'size', status: 400 },
  { check: 'content type', status: 400 },
  { check: 'requests in flight', status: 429 },
  { check: 'JSON', status: 400 },
  { check: 'envelope', status: 400 },
  { check: 'current state of key and agent', status: '401, 403' },
  { check: 'signature', status: 401 },
  { check: 'headers', status: 400 },
  { check: 'kill switch', status: 403 },
  { check: 'idempotency', status: 400 },
  { check: 'open requests', status: 429 },
] as const;

/** A request for a decision that has passed `identify`. */
export interface AuthorizeCall {
  /** The caller as identified when the headers had arrived. */
  readonly identity: Identity;
  readonly headers: IncomingHttpHeaders;
  /** The path and query as sent. */
  readonly url: string;
  /** The id of the request, made by `createRequestId`. */
  readonly id: string;
  readonly clientAddress: string;
  /** When the request's headers had arrived, on the clock of `performance.now`. */
  readonly startedAtMs: number;
}

export interface AuthorizeHandler {
  /**
   * Decides a request and stores its record before it resolves. Rejects with an error that `toProblem` takes.
   */
  decide(call: AuthorizeCall, body: Buffer, more?: ExtraInput): Promise<Answer>;
  /**
   * Takes what people have approved meanwhile; when another call has taken it, returns how the request
   * stands.
   */
  take(answer: Answer): Promise<RequestView>;
  /** Counts and records a refusal before its reply is sent; `body` is null when it was not read. */
  refuse(problem: ProblemError, call: AuthorizeCall, body: Buffer | null): Promise<void>;
  /** Counts a refusal of a caller that was not recognised. */
  refuseUnknown(problem: ProblemError, startedAtMs: number): void;
}

/** Input that a route sets itself, in place of headers. */
type ExtraInput = Partial<Pick<AuthorizeInput, 'evaluation' | 'isAttaching' | 'awaitedId'>>;

/** A decision, with the input that it was made on. */
export interface Answer {
  readonly view: RequestView;
  readonly input: AuthorizeInput;
}

type SignatureOptions = Pick<AuthorizeHandlerOptions, 'verifySignature' | 'clock'>;

export interface AuthorizeHandlerOptions {
  readonly identifyAgain: IdentifyAgain;
  readonly verifySignature: VerifySignature;
  readonly tokenReader: Pick<TokenReader, 'read'>;
  readonly authorizer: Pick<Authorizer, 'authorize'>;
  readonly recordRefusal: RecordRefusal;
  /** Called with each refusal, recorded or not. */
  readonly onRefused: (refusal: CountedRefusal) => void;
  /** Places for decisions that are under way, shared among agents. */
  readonly shares: FairShares;
  readonly bodyBytesMax: number;
  readonly clock: () => number;
  readonly metrics: Metrics;
  /** Traces requests; null when no collector is configured. */
  readonly tracing: RequestTracing | null;
}

export function createAuthorizeHandler(options: AuthorizeHandlerOptions): AuthorizeHandler {
  const { authorizer, recordRefusal, onRefused, bodyBytesMax, clock, metrics, tracing, shares } = options;
  const { identifyAgain } = options;

  async function decide(call: AuthorizeCall, body: Buffer, more?: ExtraInput): Promise<Answer> {
    const holder = call.identity.agent.id;
    if (!shares.enter(holder)) throw tooManyInFlight();
    try {
      const readAtMs = tracing === null ? 0 : performance.now();
      const envelope = readBody(body, bodyBytesMax);
      const reading = readOnBehalf(call, options);
      const onBehalf = reading instanceof Promise ? await reading : reading;
      // The decision is about the agent as it is now. What is stored rests on agent, key and kill switches as
      // the decision saw them.
      const again = identifyAgain(callerText(call.headers), call.identity);
      const identity = again instanceof Promise ? await again : again;
      const checked = checkedInput({ call, body, envelope, onBehalf }, identity, options);
      const input = more === undefined ? checked : { ...checked, ...more };
      const checkedAtMs = tracing === null ? 0 : performance.now();
      const result = decidedOf(await authorizer.authorize(input));
      return answered(call, { input, result }, { readAtMs, checkedAtMs });
    } finally {
      shares.leave(holder);
    }
  }

  function answered(
    call: AuthorizeCall,
    { input, result }: { readonly input: AuthorizeInput; readonly result: DecidedResult },
    { readAtMs, checkedAtMs }: Times,
  ): Answer {
    const recordedAtMs = performance.now();
    const { request: view, by, decideMicroseconds } = result;
    const { decision, matched_policy: matchedPolicy } = view;
    const { actionKey } = input;
    metrics.decided({ decision, matchedPolicy, actionKey }, decideMicroseconds);
    metrics.took(recordedAtMs - call.startedAtMs);
    tracing?.answered({
      ...tracedOf(call, { httpStatus: 200, errorCode: null }),
      decided: {
        decision,
        tool: toolName(actionKey, matchedPolicy),
        session: sessionOf(call),
        policy: matchedPolicy,
        rule: by,
        risk: view.risk_score,
        status: view.status,
        readAtMs,
        checkedAtMs,
        recordedAtMs,
        decideMs: (decideMicroseconds ?? 0) / 1000,
      },
    });
    return { view, input };
  }

  async function refuse(problem: ProblemError, call: AuthorizeCall, body: Buffer | null): Promise<void> {
    const { status } = problems[problem.code];
    metrics.took(performance.now() - call.startedAtMs);
    tracing?.answered({ ...tracedOf(call, { httpStatus: status, errorCode: problem.code }), decided: null });
    const { id, clientAddress, identity } = call;
    const counted = { agentId: identity.agent.id, atMs: Math.trunc(clock()), code: problem.code };
    // Counted but not recorded: a flood (429) must not fill the disk, and what the store refused (500 and
    // above) cannot be stored.
    if (status === 429 || status >= 500) return onRefused(counted);
    await recordRefusal({
      ...counted,
      id,
      keyId: identity.key.id,
      httpStatus: status,
      detail: problem.message,
      clientAddress,
      bodyDigest: body === null ? null : sha256(body),
    });
    onRefused(counted);
  }

  function refuseUnknown({ code }: ProblemError, startedAtMs: number): void {
    metrics.took(performance.now() - startedAtMs);
    onRefused({ agentId: null, atMs: Math.trunc(clock()), code });
  }

  async function take({ view, input }: Answer): Promise<RequestView> {
    const again = { ...input, isAttaching: true, awaitedId: view.request_id };
    return decidedOf(await authorizer.authorize(again)).request;
  }

  return { decide, take, refuse, refuseUnknown };
}

/** A request for a decision whose body has passed its checks. */
interface ReadCall {
  readonly call: AuthorizeCall;
  readonly body: Buffer;
  readonly envelope: Envelope;
  /** On whose behalf the agent asks; null when no token was sent. */
  readonly onBehalf: OnBehalf | null;
}

/**
 * Reads on whose behalf the agent asks; null when no token was sent. The token is read before the agent is
 * looked up, so that nothing is awaited between the look-up and the decision.
 */
export function readOnBehalf(
  { headers }: AuthorizeCall,
  { tokenReader, clock }: Pick<AuthorizeHandlerOptions, 'tokenReader' | 'clock'>,
): OnBehalf | null | Promise<OnBehalf> {
  const token = headers['x-on-behalf-of'];
  return token === undefined ? null : tokenReader.read(String(token), clock());
}

/** Times on the clock of `performance.now`; 0 when nothing is traced. */
interface Times {
  readonly readAtMs: number;
  readonly checkedAtMs: number;
}

/**
 * Whether the agent, as it is now, has signed the request. Throws a ProblemError when the signature is
 * invalid.
 */
function checkSignature(
  read: ReadCall,
  { agent }: Identity,
  { verifySignature, clock }: SignatureOptions,
): boolean {
  const { call, body } = read;
  const state = verifySignature({
    agent,
    header: signatureOf(read),
    path: pathOf(call.url),
    body,
    nowMs: clock(),
  });
  if (typeof state === 'object') throw new ProblemError('invalid_signature', state.invalid);
  return state === 'valid';
}

function signatureOf({ call: { headers } }: ReadCall): string | undefined {
  const header = headers['x-service-signature'];
  return typeof header === 'string' ? header : undefined;
}

export function checkedInput(read: ReadCall, identity: Identity, options: SignatureOptions): AuthorizeInput {
  const isSigned = checkSignature(read, identity, options);
  const { call, body, envelope, onBehalf } = read;
  const idempotencyKey = idempotencyKeyOf(call, identity);
  // Rare fields are added to one object: spreading it into another object costs more than making it.
  const input: Draft<AuthorizeInput> = {
    agent: identity.agent,
    key: identity.key,
    actionKey: envelope.actionKey,
    payload: envelope.payload,
    isSigned,
    session: scopedHeader(call, identity, 'x-agent-session'),
    clientAddress: call.clientAddress,
    idempotencyKey,
    bodyDigest: idempotencyKey === null ? null : sameDigest(body, onBehalf),
    requestId: call.id,
  };
  if (identity.point !== undefined) input.point = identity.point;
  if (identity.chain !== undefined) addChain(input, identity.chain);
  if (identity.workload !== undefined) input.workload = identity.workload;
  if (onBehalf !== null) input.onBehalf = onBehalf;
  const nonce = isSigned ? keptNonce(identity.agent.id, signatureOf(read)) : undefined;
  if (nonce !== undefined) input.nonce = nonce;
  const { prefer } = call.headers;
  return prefer === undefined ? input : { ...input, ...preferencesOf(prefer) };
}

/** Adds the chain of a sub-agent, and the session to which the chain is bound. */
function addChain(input: Draft<AuthorizeInput>, chain: ActingChain): void {
  input.chain = chain;
  if (chain.session === null) return;
  if (input.session !== null && input.session !== chain.session)
    throw new ProblemError(
      'invalid_header',
      'the delegation is for another session than `X-Agent-Session` names',
    );
  input.session = chain.session;
}

type Draft<T> = { -readonly [Name in keyof T]: T[Name] };

type DecidedResult = Extract<AuthorizeResult, { readonly kind: 'decided' }>;

function decidedOf(result: AuthorizeResult): DecidedResult {
  switch (result.kind) {
    case 'idempotency-mismatch':
      throw new ProblemError('idempotency_mismatch', 'this key was used with another body');
    case 'too-many-open':
      throw new ProblemError('too_many_open_requests', 'wait until earlier requests are decided');
    case 'stopped':
      throw new ProblemError('stopped', stoppedText);
    case 'not-allowed-now':
      throw notAllowedNow(result);
    case 'decided':
      return result;
  }
}

export function tooManyInFlight(): ProblemError {
  const detail = 'the limit of concurrent requests of this agent is reached';
  return new ProblemError('too_many_in_flight', detail, { headers: { 'retry-after': '1' } });
}

/** The refusal of an agent that may no longer ask, the same that `identify` gives. */
export function notAllowedNow({ why, detail }: IdentityRefusal): ProblemError {
  switch (why) {
    case 'disabled':
    case 'revoked':
      return inactiveAgent(why);
    case 'point-stopped':
      return pointNotActive('the enforcement point may no longer act for this agent');
    case 'delegation-ended':
      return delegationEnded(detail ?? 'the delegation has ended');
    case 'key-ended':
      return invalidKey('expired');
    case 'identity-ended':
      return invalidToken(detail ?? 'no longer identifies the agent', 'bearer');
    case 'nonce-used':
      return new ProblemError('invalid_signature', 'the nonce has been used');
    case 'not-signed':
      return new ProblemError(
        'invalid_signature',
        'the signing secret or the signing mode of the agent has changed',
      );
  }
}

function tracedOf(
  { headers, url, id: requestId, identity, startedAtMs }: AuthorizeCall,
  outcome: Pick<TracedExchange, 'httpStatus' | 'errorCode'>,
): Omit<TracedExchange, 'decided'> {
  const [path = ''] = url.split('?');
  const { id: agentId, name: agentName } = identity.agent;
  return { traceparent: headers.traceparent, path, requestId, agentId, agentName, startedAtMs, ...outcome };
}

function sessionOf({ headers }: Pick<AuthorizeCall, 'headers'>): string | null {
  const session = headers['x-agent-session'];
  return typeof session === 'string' ? session : null;
}

function readBody(body: Uint8Array, bytesMax: number): Envelope {
  const json = readJson(body, { bytesMax, depthMax: jsonLimits.depthMax });
  if (!json.ok) throw new ProblemError('invalid_json', json.issue.detail, { errors: [json.issue] });
  const read = readEnvelope(json.value);
  if (read.ok) return read.envelope;
  throw new ProblemError('invalid_envelope', read.errors[0]?.detail ?? '', { errors: read.errors });
}

const headerForm = /^[\x21-\x7e](?:[\x20-\x7e]{0,253}[\x21-\x7e])?$/;

/** The value of a header; null when it is not sent. Throws a ProblemError when it is malformed. */
function readHeader({ headers }: Pick<AuthorizeCall, 'headers'>, name: string): string | null {
  const value = headers[name];
  if (value === undefined) return null;
  if (typeof value === 'string' && headerForm.test(value)) return value;
  throw new ProblemError('invalid_header', `\`${name}\` must have 1 to 255 printable ASCII characters`);
}

/** The prefix of stored sessions and idempotency keys that enforcement points have sent. */
const pointScope = 'point:';

/**
 * The value of a header, in the scope of its sender. An enforcement point sends its sessions and idempotency
 * keys in its own name, which no agent can use. They differ from those of an agent, or of another point, that
 * sends the same text.
 */
export function scopedHeader(
  call: Pick<AuthorizeCall, 'headers'>,
  { point }: Pick<Identity, 'point'>,
  name: 'idempotency-key' | 'x-agent-session',
): string | null {
  const value = readHeader(call, name);
  if (value === null) return null;
  const scoped = scopedText(point, value);
  if (scoped !== null && !value.startsWith(chainScope)) return scoped;
  const reserved = scoped === null ? [pointScope, 'enforcement points'] : [chainScope, 'sub-agents'];
  throw new ProblemError(
    'invalid_header',
    `\`${name}\` starts with \`${reserved[0]}\`, which is reserved for ${reserved[1]}`,
  );
}

/** The prefix of stored idempotency keys that sub-agents have sent: a sub-agent never finds others' requests. */
const chainScope = 'delegation:';

function idempotencyKeyOf(call: AuthorizeCall, identity: Identity): string | null {
  const key = scopedHeader(call, identity, 'idempotency-key');
  const id = identity.chain?.links.at(-1)?.id;
  return key === null || id === undefined ? key : `${chainScope}${id}/${key}`;
}

/**
 * A text in the scope of the caller; null when an agent sends a text that only an enforcement point may send.
 */
export function scopedText(point: Identity['point'], text: string): string | null {
  if (point !== undefined) return `${pointScope}${point.id}/${text}`;
  return text.startsWith(pointScope) ? null : text;
}

function pathOf(url: string): string {
  const end = url.indexOf('?');
  return end < 0 ? url : url.slice(0, end);
}

/**
 * A digest of the body and the person that the agent asks for: the same body for another person is another
 * request.
 */
function sameDigest(body: Uint8Array, onBehalf: OnBehalf | null): string {
  const digest = sha256(body);
  if (onBehalf === null || !('user' in onBehalf)) return digest;
  return hash('sha256', `${digest} ${onBehalf.user.id}`, 'hex');
}

function sha256(bytes: Uint8Array): string {
  return hash('sha256', bytes, 'hex');
}
