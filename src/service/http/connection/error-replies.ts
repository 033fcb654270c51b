// Turns every error of a request into its error reply. INVARIANT: for a fault of the service, the reply is
// only `internal_error`; the details are in the log under the request's id.

import type { FastifyError, FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { isUncertain, StoreError } from '../../store/contract/store-error.ts';
import { type ProblemCode, ProblemError, problemBody, problems, problemType } from '../contract/problem.ts';
import type { Metrics } from '../telemetry/metrics.ts';
import { createBodyDiscarder } from './discard-body.ts';

declare module 'fastify' {
  interface FastifyInstance {
    readonly metrics: Metrics;
  }
}

const discardBody = createBodyDiscarder();

/** Discards the rest of a body, so that its sender gets to read the reply. */
export async function discardRest(request: FastifyRequest, reply: FastifyReply): Promise<void> {
  if (!(await discardBody(request.raw))) reply.header('connection', 'close');
}

/**
 * Sets the handlers for thrown errors and for addresses that no route has. Must be called before routes are
 * added.
 */
export function addErrorReplies(app: FastifyInstance): void {
  const routes = new Map<string, Set<string>>();
  app.addHook('onRoute', ({ url, method }) => {
    const methods = routes.get(url) ?? new Set();
    routes.set(url, methods);
    for (const name of [method].flat()) methods.add(name);
  });
  app.setErrorHandler<FastifyError>((error, request, reply) => sendProblem(toProblem(error), request, reply));
  app.setNotFoundHandler((request, reply) => {
    const allowed = methodsAt(routes, request.url);
    const isUnknown = allowed === null || allowed.has(request.method);
    return sendProblem(isUnknown ? unknownRoute() : methodNotAllowed(allowed), request, reply);
  });
}

/** Logs a fault of the service, waits for the rest of the body, and replies. */
export async function sendProblem(
  problem: ProblemError,
  request: FastifyRequest,
  reply: FastifyReply,
): Promise<FastifyReply> {
  const { status } = problems[problem.code];
  request.server.metrics.refused(problem.code);
  if (status >= 500)
    request.log.error({ err: problem.cause ?? problem, code: problem.code }, 'request failed');
  await discardRest(request, reply);
  return reply
    .code(status)
    .headers(problem.options.headers ?? {})
    .type(problemType)
    .send(JSON.stringify(problemBody(problem, request.id)));
}

/** What the client may know of a thrown error. */
export function toProblem(thrown: unknown): ProblemError {
  const error: Error & { readonly code?: unknown } =
    thrown instanceof Error ? thrown : new Error(String(thrown));
  if (error instanceof ProblemError) return error;
  if (error instanceof StoreError && error.code === 'zero-byte')
    return new ProblemError(
      'malformed_request',
      'the request contains a NUL character, which cannot be stored',
    );
  if (error instanceof StoreError && error.code === 'overloaded')
    return withCause(new ProblemError('store_busy', busyDetail, { headers: { 'retry-after': '1' } }), error);
  if (error instanceof StoreError) {
    const detail = isUncertain(error) ? uncertainDetail : 'nothing was decided or granted';
    return withCause(new ProblemError('record_failed', detail), error);
  }
  const frameworkCode = frameworkCodes[String(error.code)];
  if (frameworkCode !== undefined) return new ProblemError(...frameworkCode);
  return withCause(new ProblemError('internal_error', 'nothing was decided or granted'), error);
}

const busyDetail = 'the store is overloaded: nothing was decided or granted, try again in a moment';

const uncertainDetail =
  'it is unknown whether the request was recorded, so do not act on it: send it again with the same `Idempotency-Key`';

/** Errors of Fastify and of the connection that the client has caused. */
const frameworkCodes: Readonly<Record<string, readonly [ProblemCode, string]>> = {
  FST_ERR_CTP_BODY_TOO_LARGE: ['body_too_large', 'the body exceeds the limit of this service'],
  FST_ERR_CTP_INVALID_MEDIA_TYPE: ['unsupported_content_type', 'send `Content-Type: application/json`'],
  FST_ERR_CTP_INVALID_CONTENT_LENGTH: [
    'incomplete_body',
    'the length of the body differs from `Content-Length`',
  ],
  ECONNRESET: ['incomplete_body', 'the connection ended before the end of the body'],
  FST_ERR_BAD_URL: ['malformed_request', 'the address has an invalid percent escape'],
  FST_ERR_MAX_PARAM_LENGTH: ['unknown_route', 'a part of the address is too long'],
};

function withCause(problem: ProblemError, cause: Error): ProblemError {
  problem.cause = cause;
  return problem;
}

function unknownRoute(): ProblemError {
  return new ProblemError('unknown_route', 'the documentation lists the addresses of this service');
}

function methodNotAllowed(allowed: ReadonlySet<string>): ProblemError {
  const headers = { allow: [...allowed].sort().join(', ') };
  return new ProblemError('method_not_allowed', `this address allows ${headers.allow}`, { headers });
}

/** The methods of the route that an address matches; null when it matches none. */
function methodsAt(
  routes: ReadonlyMap<string, ReadonlySet<string>>,
  url: string,
): ReadonlySet<string> | null {
  const segments = url.replace(/\?.*$/s, '').split('/');
  for (const [pattern, methods] of routes) {
    const expected = pattern.split('/');
    const isMatch =
      expected.length === segments.length &&
      expected.every((part, index) =>
        part.startsWith(':') ? segments[index] !== '' : part === segments[index],
      );
    if (isMatch) return methods;
  }
  return null;
}
