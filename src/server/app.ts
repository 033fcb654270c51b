// THE OTHER PAGE: the service, apart from listening. A request passes, in this order:
//
//   connection      not HTTP, too long in coming            plugins/connection-errors   400 408 431
//   request id      on every reply                          plugins/request-id
//   route           unknown address or method               plugins/errors              404 405
//   identify        key, state of the agent, rate           identify                    401 403 429
//   body            size, then what the route makes of it   routes/*                    400 401
//   decide, record  one step, durable before the reply      ../requests                 200 400 429
//   error           whatever was thrown on the way          plugins/errors              500
//
// INVARIANT: every error but those of /plants is `application/problem+json` with a code of the table in problem.ts.

import Fastify, { type FastifyError, type FastifyInstance, LogController } from 'fastify';
import { createSignatureVerifier } from '../agents/signature.ts';
import { createAuthorizer } from '../requests/authorize.ts';
import { createRequestId } from '../requests/id.ts';
import { createRefusalRecorder } from '../requests/refusal.ts';
import type { PolicyHost } from '../sources/live.ts';
import type { Store } from '../store/store.ts';
import type { LogLevel } from './config.ts';
import { createIdentify } from './identify.ts';
import { createMetrics } from './metrics.ts';
import { collectOperations } from './openapi.ts';
import { createConnectionErrors } from './plugins/connection-errors.ts';
import { addErrorReplies, sendProblem, toProblem } from './plugins/errors.ts';
import { addRequestId } from './plugins/request-id.ts';
import type { RateLimit } from './rate-limit.ts';
import { authorizeRoute } from './routes/authorize.ts';
import { healthRoutes } from './routes/health.ts';
import { metricsRoute } from './routes/metrics.ts';
import { openApiRoute } from './routes/openapi.ts';
import { plantRoute } from './routes/plants.ts';
import { requestRoute } from './routes/requests.ts';

export interface AppDeps {
  readonly store: Store;
  readonly policies: Pick<PolicyHost, 'current' | 'state' | 'onChange'>;
  /** SHA-256. */
  readonly sandboxTokenDigest: Uint8Array;
  readonly rate: RateLimit;
  readonly bodyBytesMax: number;
  readonly log: LogOptions;
  /** Milliseconds since 1970-01-01T00:00Z. */
  readonly clock?: () => number;
  /** How long a request may take to arrive, in milliseconds. */
  readonly requestTimeoutMs?: number;
}

interface LogOptions {
  readonly level: LogLevel;
  /** Takes one line of JSON at a time. */
  readonly stream: { write(line: string): void };
}

const defaultRequestTimeoutMs = 30_000;

/** The service with all its plugins and routes; `listen` and `close` are the caller's. */
export function createApp(deps: AppDeps): FastifyInstance {
  const { store, policies, rate, bodyBytesMax } = deps;
  const clock = deps.clock ?? Date.now;
  const stopping = new AbortController();
  const metrics = createMetrics({ store, policies });
  const connectionErrors = createConnectionErrors((code) => metrics.refused(code));
  const app = createShell(deps, connectionErrors.handle);
  connectionErrors.follow(app.server);
  // An expectation that we do not know may be ignored (RFC 9110); Node would answer it without a body.
  app.server.on('checkExpectation', (message, response) => app.server.emit('request', message, response));

  const identify = createIdentify({ store, rate, clock });
  const authorizer = createAuthorizer({ store, policies: () => policies.current(), clock });
  const verifySignature = createSignatureVerifier({
    masterKey: store.masterKey,
    isCompatibilityAllowed: true,
    nonces: store.nonces,
  });
  const recordRefusal = createRefusalRecorder(store);

  app.decorate('metrics', metrics);
  app.addHook('onClose', async () => metrics.close());
  const document = collectOperations(app);
  addRequestId(app);
  addErrorReplies(app);
  app.decorateRequest('identity', null);
  // A signature covers the bytes as they were sent, and JSON is read strictly: bodies stay bytes until a route reads them.
  app.removeAllContentTypeParsers();
  app.addContentTypeParser('*', { parseAs: 'buffer' }, (_request, body, done) => done(null, body));
  app.addHook('preClose', (done) => {
    stopping.abort();
    done();
  });
  // A connection that stays open for more requests would hold up the stop.
  app.addHook('onSend', (_request, reply, payload, done) => {
    if (stopping.signal.aborted) reply.header('connection', 'close');
    done(null, payload);
  });

  app.register(authorizeRoute, {
    ...{ identify, verifySignature, authorizer, recordRefusal, bodyBytesMax, clock, metrics },
    ...{ requests: store.requests, stopping: stopping.signal },
  });
  app.register(requestRoute, { identify, authorizer, stopping: stopping.signal });
  app.register(plantRoute, { plants: store.plants, tokenDigest: deps.sandboxTokenDigest });
  app.register(healthRoutes, { store, policies, stopping: stopping.signal });
  app.register(metricsRoute, { metrics });
  app.register(openApiRoute, { document });
  return app;
}

/** Fastify as this service sets it up. */
function createShell(deps: AppDeps, clientErrorHandler: ReturnType<typeof createConnectionErrors>['handle']) {
  const requestTimeoutMs = deps.requestTimeoutMs ?? defaultRequestTimeoutMs;
  return Fastify({
    logger: { level: deps.log.level, stream: deps.log.stream, redact: secretHeaders },
    logController: new LogController({ disableRequestLogging: true }),
    genReqId: () => createRequestId(Date.now()),
    bodyLimit: deps.bodyBytesMax,
    requestTimeout: requestTimeoutMs,
    // Node also derives the time for headers from the one given here, which must not be the longer of the two.
    http: {
      requestTimeout: requestTimeoutMs,
      connectionsCheckingInterval: Math.min(requestTimeoutMs, 5_000),
      // Looked for in plugins/request-id: Node's own answer has no body.
      requireHostHeader: false,
    },
    // While it stops, what is already under way is answered like any other request.
    return503OnClosing: false,
    clientErrorHandler,
    frameworkErrors: (error, request, reply) => {
      reply.header('x-request-id', request.id).header('cache-control', 'no-store');
      void sendProblem(toProblem(error satisfies FastifyError), request, reply);
    },
  });
}

/** Should a request ever be logged, these stay out. */
const secretHeaders = ['x-agent-api-key', 'x-service-signature', 'authorization', 'cookie'].flatMap(
  (name) => [`req.headers["${name}"]`, `headers["${name}"]`],
);
