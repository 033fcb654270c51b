// The table of error codes, and the body of the error reply for a code (RFC 9457). Each code has a page under
// docs/errors; a test keeps table and pages equal. INVARIANT: no error reply carries a stack, a path of this
// machine, SQL or a value that was sent.

/** HTTP status and title of each error code. */
export const problems = {
  body_too_large: { status: 400, title: 'The body is too large' },
  incomplete_body: { status: 400, title: 'The body is incomplete' },
  unsupported_content_type: { status: 400, title: 'The body is not sent as JSON' },
  invalid_json: { status: 400, title: 'The body is not strict JSON' },
  invalid_envelope: { status: 400, title: 'The body is not an authorization request' },
  invalid_header: { status: 400, title: 'A header value is not valid' },
  idempotency_mismatch: { status: 400, title: 'The idempotency key was used with another body' },
  not_requestable: { status: 400, title: 'People cannot grant this request' },
  invalid_denial_binding: { status: 400, title: 'The access request does not match the denial' },
  malformed_request: { status: 400, title: 'The request is not valid HTTP' },
  invalid_body: { status: 400, title: 'Some fields of the body are missing or invalid' },
  invalid_query: { status: 400, title: 'A query parameter is not valid' },
  missing_api_key: { status: 401, title: 'The request has no API key' },
  invalid_api_key: { status: 401, title: 'The API key is not valid' },
  invalid_token: { status: 401, title: 'The token is not valid' },
  invalid_dpop_proof: { status: 401, title: 'The proof of possession is not valid' },
  invalid_signature: { status: 401, title: 'The signature is not valid' },
  not_signed_in: { status: 401, title: 'Not signed in' },
  wrong_credentials: { status: 401, title: 'The address, password or code is wrong' },
  code_used: { status: 401, title: 'The one-time code was used before' },
  code_needed: { status: 401, title: 'A one-time code is required' },
  cross_site_request: { status: 403, title: 'The request may come from another site' },
  not_allowed: { status: 403, title: 'Not allowed for this person' },
  session_needed: { status: 403, title: 'A session is required' },
  proof_needed: { status: 403, title: 'Confirm that it is you' },
  second_factor_new: { status: 403, title: 'The second factor was set up too recently' },
  second_factor_missing: { status: 403, title: 'No second factor has been set up' },
  stopped: { status: 403, title: 'A kill switch is active' },
  agent_disabled: { status: 403, title: 'The agent is disabled' },
  agent_revoked: { status: 403, title: 'The agent is revoked' },
  identity_not_mapped: { status: 403, title: 'The token belongs to no agent' },
  agent_not_assigned: { status: 403, title: 'The agent is not assigned to this enforcement point' },
  point_not_active: { status: 403, title: 'The enforcement point is not active' },
  delegation_ended: { status: 403, title: 'The delegation has ended' },
  delegated_key: { status: 403, title: 'A delegated key cannot do this' },
  sso_only: { status: 403, title: 'Sign in with single sign-on' },
  link_not_valid: { status: 404, title: 'The link is not valid or has expired' },
  not_found: { status: 404, title: 'Not found' },
  request_not_found: { status: 404, title: 'No such request' },
  unknown_task: { status: 404, title: 'No such access request' },
  unknown_route: { status: 404, title: 'Unknown address' },
  method_not_allowed: { status: 405, title: 'The method is not allowed' },
  request_timeout: { status: 408, title: 'The request took too long to arrive' },
  conflict: { status: 409, title: 'Changed by someone else in the meantime' },
  duplicate_request: { status: 409, title: 'The idempotency key was used for another access request' },
  invalid_task_state: { status: 409, title: 'The state of the access request does not permit this' },
  expired_denial: { status: 410, title: 'The denial is too old' },
  invalid_proposal: { status: 422, title: 'The proposed policies cannot be used' },
  too_many_proposals: { status: 429, title: 'Too many proposals' },
  too_many_attempts: { status: 429, title: 'Too many attempts' },
  rate_limited: { status: 429, title: 'The agent sends too many requests' },
  too_many_streams: { status: 429, title: 'Too many streams are open' },
  too_many_failures: { status: 429, title: 'Too many requests without a valid API key' },
  too_many_open_requests: { status: 429, title: 'Too many pending requests' },
  too_many_in_flight: { status: 429, title: 'Too many requests of the agent are in progress' },
  too_many_waits: { status: 429, title: 'Too many waiting calls' },
  headers_too_large: { status: 431, title: 'The headers are too large' },
  playground_busy: { status: 429, title: 'The playground is busy' },
  internal_error: { status: 500, title: 'Internal error' },
  record_failed: { status: 500, title: 'The request could not be recorded' },
  issuer_keys_unknown: { status: 503, title: 'The keys of the issuer are unknown' },
  store_busy: { status: 503, title: 'The store is busy' },
  too_many_connections: { status: 503, title: 'Too many connections are open' },
  playground_failed: { status: 503, title: 'The playground did not answer' },
} as const satisfies Readonly<Record<string, { readonly status: number; readonly title: string }>>;

export type ProblemCode = keyof typeof problems;

/** Codes of access requests that AuthZEN defines. */
const accessRequestCodes: ReadonlySet<ProblemCode> = new Set([
  'not_requestable',
  'invalid_denial_binding',
  'unknown_task',
  'duplicate_request',
  'invalid_task_state',
  'expired_denial',
]);

function problemUrn(code: ProblemCode): string {
  return accessRequestCodes.has(code)
    ? `urn:openid:authzen:access-request:error:${code}`
    : `urn:writ:error:${code}`;
}

/** The body of an error reply, sent as `application/problem+json`. */
export interface Problem {
  readonly type: string;
  readonly title: string;
  readonly status: number;
  readonly detail: string;
  /** The id of the HTTP request, under which it is logged and, once authenticated, recorded. */
  readonly instance: string;
  readonly errors?: readonly ProblemLocation[];
}

/** One place in the body where something is wrong. */
export interface ProblemLocation {
  /** JSON pointer (RFC 6901) from the root of the body. */
  readonly pointer: string;
  /** What is wrong, as one sentence in lower case without a final period. */
  readonly detail: string;
  /** The place in bytes from the start of the body, when known. */
  readonly offset?: number;
}

/** The schema of `Problem` for the OpenAPI document. */
export const problemSchema = {
  type: 'object',
  description: 'An error reply (RFC 9457).',
  required: ['type', 'title', 'status', 'detail', 'instance'],
  additionalProperties: false,
  properties: {
    type: { type: 'string', enum: (Object.keys(problems) as ProblemCode[]).map(problemUrn) },
    title: { type: 'string' },
    status: { type: 'integer', minimum: 400, maximum: 599 },
    detail: { type: 'string' },
    instance: { type: 'string', format: 'uuid', description: 'The id under which this request is logged.' },
    errors: {
      type: 'array',
      description: 'The locations of the errors in the body.',
      items: {
        type: 'object',
        required: ['pointer', 'detail'],
        additionalProperties: false,
        properties: {
          pointer: { type: 'string', description: 'RFC 6901, from the root of the body.' },
          detail: { type: 'string' },
          offset: { type: 'integer', minimum: 0, description: 'In bytes from the start of the body.' },
        },
      },
    },
  },
} as const;

export const problemType = 'application/problem+json; charset=utf-8';

export interface ProblemOptions {
  readonly errors?: readonly ProblemLocation[];
  readonly headers?: Readonly<Record<string, string>>;
}

/**
 * Ends a request with an error reply. It is a class because Fastify takes a thrown error at any stage of a
 * request.
 */
export class ProblemError extends Error {
  readonly code: ProblemCode;
  readonly options: ProblemOptions;

  constructor(code: ProblemCode, detail: string, options: ProblemOptions = {}) {
    // A client's mistake needs no stack, which costs more than the rest of a refusal.
    const { stackTraceLimit } = Error;
    if (problems[code].status < 500) Error.stackTraceLimit = 0;
    super(detail);
    Error.stackTraceLimit = stackTraceLimit;
    this.name = 'ProblemError';
    this.code = code;
    this.options = options;
  }
}

export function problemBody(error: ProblemError, instance: string): Problem {
  const { status, title } = problems[error.code];
  const base = {
    type: problemUrn(error.code),
    title,
    status,
    detail: error.message,
    instance,
  } as const;
  return error.options.errors === undefined ? base : { ...base, errors: error.options.errors };
}
