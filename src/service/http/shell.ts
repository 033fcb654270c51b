// Fastify as this service sets it up, and what every route of it shares: ids, error replies, bodies as bytes, the reply
// headers of a service that stops.

import SerializerSelector from '@fastify/fast-json-stringify-compiler';
import Fastify, { type FastifyError, type FastifyInstance, LogController } from 'fastify';
import { pino } from 'pino';
import { createRequestId } from '../requests/record/id.ts';
import type { LogLevel } from './config.ts';
import { addErrorReplies, sendProblem, toProblem } from './connection/error-replies.ts';
import type { ServerFactory } from './connection/http-server.ts';
import { addRequestId } from './connection/request-id.ts';
import { RequestLog } from './connection/request-log.ts';
import type { Metrics } from './telemetry/metrics.ts';

export interface LogOptions {
  readonly level: LogLevel;
  /** Takes one line of JSON at a time. */
  readonly stream: { write(line: string): void };
}

export interface ShellOptions {
  readonly log: LogOptions;
  readonly bodyBytesMax: number;
  /** Networks (CIDR) of proxies, whose `X-Forwarded-For` is believed. */
  readonly trustedProxies: readonly string[];
  readonly serverFactory: ServerFactory;
}

/** The longest part of an address, as it is sent: a key of a table with each of its characters encoded. */
const paramLengthMax = 6_000;

export function createShell({
  log,
  bodyBytesMax,
  trustedProxies,
  serverFactory,
}: ShellOptions): FastifyInstance {
  const app = Fastify({
    logController: new LogController({ disableRequestLogging: true }),
    genReqId: () => createRequestId(Date.now()),
    bodyLimit: bodyBytesMax,
    routerOptions: { maxParamLength: paramLengthMax },
    trustProxy: trustedProxies.length === 0 ? false : [...trustedProxies],
    // What a body holds is never changed to fit. That the schemas are schemas is tested, not looked at in each start.
    ajv: {
      customOptions: {
        removeAdditional: false,
        coerceTypes: false,
        useDefaults: false,
        allErrors: true,
        validateSchema: false,
      },
    },
    schemaController: { compilersFactory: { buildSerializer: buildWhenUsed } },
    serverFactory,
    // Handled where the server is made, for each address alike.
    clientErrorHandler: () => undefined,
    forceCloseConnections: 'idle',
    // While it stops, what is already under way is answered like any other request.
    return503OnClosing: false,
    frameworkErrors: (error, request, reply) => {
      reply.header('x-request-id', request.id).header('cache-control', 'no-store');
      void sendProblem(toProblem(error satisfies FastifyError), request, reply);
    },
  });
  useLog(app, log);
  return app;
}

const selectSerializer = SerializerSelector();

/** The serializer of a reply is made when it is first sent: all of them take a third of a start, and few are ever used. */
const buildWhenUsed: typeof selectSerializer = (shared, options) => {
  const build = selectSerializer(shared, options);
  return (route) => {
    let serialize: ReturnType<typeof build> | null = null;
    return (body) => {
      serialize ??= build(route);
      return serialize(body);
    };
  };
};

/** Fastify's own way costs each request a logger and two listeners, though next to none of them says anything. */
function useLog(app: FastifyInstance, { level, stream }: LogOptions): void {
  const log = pino({ level, redact: secretHeaders, formatters: { log: withoutNullError } }, stream);
  app.log = log;
  app.setChildLoggerFactory((_none, bindings) => new RequestLog(log, bindings));
}

/** What routes find on every request; call it before routes are added. */
export function addCommon(app: FastifyInstance, metrics: Metrics, shutdown: AbortController): void {
  app.decorate('metrics', metrics);
  app.addHook('onClose', async () => metrics.close());
  addRequestId(app);
  addErrorReplies(app);
  app.decorateRequest('identity', null);
  app.decorateRequest('pointAlone', null);
  // A signature covers the bytes as they were sent, and JSON is read strictly: bodies stay bytes until a route reads them.
  app.removeAllContentTypeParsers();
  app.addContentTypeParser('*', { parseAs: 'buffer' }, (_request, body, done) => done(null, body));
  app.addHook('preClose', (done) => {
    shutdown.abort();
    done();
  });
  // A connection that stays open for more requests would hold up the stop.
  app.addHook('onSend', (_request, reply, payload, done) => {
    if (shutdown.signal.aborted) reply.header('connection', 'close');
    done(null, payload);
  });
}

/** What ends without an error, such as a thread at its time limit, has none to show. */
function withoutNullError(fields: Record<string, unknown>): Record<string, unknown> {
  if (fields.err !== null) return fields;
  const { err: _, ...others } = fields;
  return others;
}

/** Should a request ever be logged, these stay out. */
const secretHeaders = ['x-agent-api-key', 'x-service-signature', 'authorization', 'cookie'].flatMap(
  (name) => [`req.headers["${name}"]`, `headers["${name}"]`],
);
