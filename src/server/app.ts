// THE OTHER PAGE: the service, apart from listening. A request passes, in this order:
//
//   connection      not HTTP, too long in coming            plugins/connection-errors   400 408 431
//   request id      on every reply                          plugins/request-id
//   route           unknown address or method               plugins/errors              404 405
//   identify        key, state of the agent, rate           identify                    401 403 429
//     (an ordinary request of an agent that is remembered takes the straight way from the connection: direct)
//   body            size, then what the route makes of it   routes/*                    400 401
//   kill switch     before any policy is asked              ask, ../people/switches     403
//   decide, record  one step, durable before the reply      ask, ../requests            200 400 429
//   error           whatever was thrown on the way          plugins/errors              500
//
// INVARIANT: every error but those of /plants is `application/problem+json` with a code of the table in problem.ts.

import type { RequestListener, Server } from 'node:http';
import Fastify, { type FastifyError, type FastifyInstance, LogController } from 'fastify';
import { createSignatureVerifier } from '../agents/signature.ts';
import { createAttempts } from '../people/attempts.ts';
import { createChallenges } from '../people/challenges.ts';
import { createDirectory } from '../people/directory.ts';
import { createSwitchBoard } from '../people/switches.ts';
import { createPlayground, type PlaygroundOptions } from '../playground/playground.ts';
import { createAuthorizer, openRequestsMaxDefault } from '../requests/authorize.ts';
import { createDecisions } from '../requests/decisions.ts';
import { createRequestNews, type RequestNewsDesk } from '../requests/events.ts';
import { createRequestId } from '../requests/id.ts';
import { createMetering, type Metering } from '../requests/metering.ts';
import { createRefusalRecorder } from '../requests/refusal.ts';
import type { PolicyHost } from '../sources/policy-host.ts';
import { createStatistics } from '../statistics/statistics.ts';
import type { Store } from '../store/store.ts';
import { createAsk, stoppedText } from './ask.ts';
import { type Clock, createClock } from './clock.ts';
import type { LogLevel } from './config.ts';
import { createDirect, type Direct } from './direct.ts';
import { createHints, type HintTiming } from './hints.ts';
import { createIdentifier } from './identify.ts';
import { createMetrics } from './metrics.ts';
import { collectOperations } from './openapi.ts';
import { createOutgoing, type Outgoing, type SmtpOptions } from './outgoing.ts';
import { createConnectionErrors } from './plugins/connection-errors.ts';
import { addErrorReplies, sendProblem, toProblem } from './plugins/errors.ts';
import { addRequestId } from './plugins/request-id.ts';
import type { RateLimit } from './rate-limit.ts';
import { authorizeRoute } from './routes/authorize.ts';
import { dashboardRoutes } from './routes/dashboard.ts';
import { healthRoutes } from './routes/health.ts';
import { type ManagementDeps, managementRoutes } from './routes/management.ts';
import { metricsRoute } from './routes/metrics.ts';
import { openApiRoute } from './routes/openapi.ts';
import { plantRoute } from './routes/plants.ts';
import { requestRoutes } from './routes/requests.ts';
import type { Tracing } from './tracing.ts';

export interface AppDeps {
  readonly store: Store;
  readonly policies: Pick<PolicyHost, 'current' | 'state' | 'onChange' | 'reload'>;
  /** SHA-256. */
  readonly sandboxTokenDigest: Uint8Array;
  readonly rate: RateLimit;
  readonly bodyBytesMax: number;
  /** How many requests of one agent may wait for people at the same time. */
  readonly openRequestsMax?: number;
  readonly log: LogOptions;
  /** Must not go back. */
  readonly clock?: Clock;
  /** Whether a signature may be over the body alone; true unless said otherwise. */
  readonly isCompatibilityAllowed?: boolean;
  /** Whether an agent's own word that it did not use a grant takes it out of the meters; false unless said otherwise. */
  readonly areAgentReportsTrusted?: boolean;
  /** Where people reach the service; passkeys and the session's cookie belong to it. */
  readonly publicUrl?: string;
  /** Where the meters stand; its own unless said otherwise. */
  readonly metering?: Metering;
  /** What becomes of requests is told here; nobody listens elsewhere unless said otherwise. */
  readonly requestNews?: RequestNewsDesk;
  /** Whether webhooks may be sent to addresses that are not public; false unless said otherwise. */
  readonly areWebhooksPrivate?: boolean;
  /** Sends no e-mail unless said otherwise. */
  readonly smtp?: SmtpOptions | null;
  /** Takes what becomes of requests for decisions; none unless said otherwise. */
  readonly tracing?: Tracing | null;
  /** How often readers of news hear something; as it is documented unless said otherwise. */
  readonly hintTiming?: Partial<HintTiming>;
  /** How long a request may take to arrive, in milliseconds. */
  readonly requestTimeoutMs?: number;
  /** Of the thread in which policies are tried. */
  readonly playground?: Omit<PlaygroundOptions, 'onFailure'>;
  /** False sends every request the framework's way, with all of its hooks. */
  readonly isDirect?: boolean;
}

interface LogOptions {
  readonly level: LogLevel;
  /** Takes one line of JSON at a time. */
  readonly stream: { write(line: string): void };
}

const defaultRequestTimeoutMs = 30_000;
const defaultPublicUrl = 'http://localhost';

/** The service with all its plugins and routes; `listen` and `close` are the caller's. */
export function createApp(deps: AppDeps): FastifyInstance {
  const { store, policies, rate, bodyBytesMax } = deps;
  const clock = deps.clock ?? createClock();
  const stopping = new AbortController();
  const metrics = createMetrics({ store, policies, clock });
  const connectionErrors = createConnectionErrors((code) => metrics.refused(code));
  const app = createShell(deps, connectionErrors.handle);
  connectionErrors.follow(app.server);
  // An expectation that we do not know may be ignored (RFC 9110); Node would answer it without a body.
  app.server.on('checkExpectation', (message, response) => app.server.emit('request', message, response));

  const { identify, recall } = createIdentifier({ store, rate, clock });
  const verifySignature = createSignatureVerifier({
    masterKey: store.masterKey,
    isCompatibilityAllowed: deps.isCompatibilityAllowed ?? true,
    nonces: store.nonces,
  });
  const recordRefusal = createRefusalRecorder(store);
  const requestNews =
    deps.requestNews ??
    createRequestNews((err) => app.log.error({ err }, 'what became of a request was not told'));
  const inForce = () => policies.current();
  const metering =
    deps.metering ??
    createMetering({
      ...{ meters: store.meters, clock },
      onFailure: (err) => app.log.error({ err }, 'the past of a meter was not filled in; it stays unknown'),
    });
  const statistics = createStatistics({
    ...{ store: store.statistics, clock },
    onFailure: (err) => app.log.warn({ err }, 'statistics could not be kept; trying again'),
  });
  const hints = createHints({
    ...{ chain: store.chain, statistics: store.statistics, clock, timing: deps.hintTiming ?? {} },
    onFailure: (err) => app.log.warn({ err }, 'what has changed was not looked at; trying again'),
  });
  requestNews.onNews(() => {
    hints.tell('requests');
    hints.tell('approvals');
  });
  policies.onChange(() => hints.tell('policies'));
  const authorizer = createAuthorizer({
    ...{ store, policies: inForce, clock, metering, news: requestNews },
    openRequestsMax: deps.openRequestsMax ?? openRequestsMaxDefault,
    onRecorded: (record) => {
      statistics.decided(record);
      hints.tell('requests');
    },
  });
  const switches = createSwitchBoard({
    directory: createDirectory(store.documents, clock),
    steadyMs: () => performance.now(),
  });
  const decisions = createDecisions({
    ...{ store, policies: inForce, clock, metering, news: requestNews },
    stopped: async (asked) => {
      const found = await switches.stopping(asked);
      return found === null ? null : stoppedText(found);
    },
  });

  app.decorate('metrics', metrics);
  app.addHook('onClose', async () => metrics.close());
  app.addHook('onReady', () => statistics.start());
  app.addHook('onClose', () => statistics.close());
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

  const tracing = deps.tracing ?? null;
  const ask = createAsk({
    verifySignature,
    authorizer,
    recordRefusal: async (refusal) => {
      await recordRefusal(refusal);
      statistics.refused(refusal.atMs);
    },
    stopping: switches.stopping,
    bodyBytesMax,
    clock,
    metrics,
    tracing,
  });
  app.register(authorizeRoute, {
    ...{ identify, ask, bodyBytesMax, clock, metrics },
    ...{ requests: store.requests, stopping: stopping.signal },
  });
  if (deps.isDirect ?? true) {
    goDirect(
      app.server,
      createDirect({ recall, ask, bodyBytesMax, metrics, log: app.log, stopping: stopping.signal }),
    );
  }
  const outgoing = createOutgoing({
    ...{ store, policies, clock, publicUrl: deps.publicUrl ?? defaultPublicUrl, smtp: deps.smtp ?? null },
    ...{ arePrivateAddressesAllowed: deps.areWebhooksPrivate ?? false, requests: requestNews, log: app.log },
  });
  app.addHook('onListen', async () => outgoing.start());
  app.addHook('onClose', async () => outgoing.close());
  const playground = createPlayground({
    ...deps.playground,
    onFailure: (err, summary) => app.log.error({ err }, summary),
  });
  app.addHook('preClose', async () => playground.close());
  const management = {
    ...managementDeps(deps, { clock, outgoing }),
    playground,
    switches,
    decisions,
    statistics,
    hints,
  };
  app.register(requestRoutes, {
    ...{ ...management, identify, authorizer, stopping: stopping.signal },
    areAgentReportsTrusted: deps.areAgentReportsTrusted ?? false,
  });
  app.register(managementRoutes, management);
  app.register(plantRoute, { plants: store.plants, tokenDigest: deps.sandboxTokenDigest });
  app.register(healthRoutes, { store, policies, stopping: stopping.signal });
  app.register(metricsRoute, { metrics });
  app.register(openApiRoute, { document });
  app.register(dashboardRoutes);
  return app;
}

/** The management API works on what people set up. */
function managementDeps(
  { store, policies, rate, areWebhooksPrivate = false, publicUrl = defaultPublicUrl }: AppDeps,
  { clock, outgoing }: { readonly clock: Clock; readonly outgoing: Outgoing },
): Omit<ManagementDeps, 'playground' | 'switches' | 'decisions' | 'statistics' | 'hints'> {
  const directory = createDirectory(store.documents, clock);
  return {
    signInDeps: { directory, attempts: createAttempts(), masterKey: store.masterKey },
    passkeyDeps: { directory, challenges: createChallenges(), origin: new URL(publicUrl).origin },
    isSecure: publicUrl.startsWith('https:'),
    applications: createAttempts(),
    ...{ store, policies, rate, steadyMs: () => performance.now() },
    arePrivateAddressesAllowed: areWebhooksPrivate,
    ...{ dispatcher: outgoing.dispatcher, accessNews: outgoing.access },
  };
}

/** Ordinary requests for a decision go past the framework; the rest goes on as before. */
function goDirect(server: Server, direct: Direct): void {
  const [framework, ...others] = server.listeners('request') as RequestListener[];
  if (framework === undefined) throw new Error('the framework listens to its server');
  server.removeAllListeners('request');
  for (const other of others) server.on('request', other);
  server.on('request', (message, response) => {
    if (!direct(message, response)) framework.call(server, message, response);
  });
}

/** Fastify as this service sets it up. */
function createShell(deps: AppDeps, clientErrorHandler: ReturnType<typeof createConnectionErrors>['handle']) {
  const requestTimeoutMs = deps.requestTimeoutMs ?? defaultRequestTimeoutMs;
  return Fastify({
    logger: { level: deps.log.level, stream: deps.log.stream, redact: secretHeaders },
    logController: new LogController({ disableRequestLogging: true }),
    genReqId: () => createRequestId(Date.now()),
    bodyLimit: deps.bodyBytesMax,
    // What a body holds is never changed to fit.
    ajv: {
      customOptions: { removeAdditional: false, coerceTypes: false, useDefaults: false, allErrors: true },
    },
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
