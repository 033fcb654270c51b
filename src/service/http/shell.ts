// Sets up Fastify for this service, with what all routes share: ids, error replies, bodies as bytes, and the
// reply headers of a service that stops.

import SerializerSelector from '@fastify/fast-json-stringify-compiler';
import Fastify, { type FastifyError, type FastifyInstance, LogController } from 'fastify';
import { pino } from 'pino';
import { createRequestId } from '../requests/record/id.ts';
import type { LogLevel } from '../settings/settings.ts';
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
  /** Networks (CIDR) of proxies whose `X-Forwarded-For` is believed. */
  readonly trustedProxies: readonly string[];
  readonly serverFactory: ServerFactory;
}

/** The longest part of an address as sent: the key of a table with each of its characters encoded. */
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
    // A body is never changed to fit its schema. Tests check that the schemas are valid, so a start does not
    // check them.
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
    // Client errors are handled where the server is made, in the same way for each address.
    clientErrorHandler: () => undefined,
    forceCloseConnections: 'idle',
    // While the service stops, requests under way are answered like any others.
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

/**
 * Makes the serializer of a reply when it is first sent: all of them take a third of a start, and few are
 * ever used.
 */
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

/**
 * Replaces Fastify's own loggers, which cost each request a logger and two listeners, though nearly no
 * request logs anything.
 */
function useLog(app: FastifyInstance, { level, stream }: LogOptions): void {
  const log = pino({ level, redact: secretHeaders, formatters: { log: withoutNullError } }, stream);
  app.log = log;
  app.setChildLoggerFactory((_none, bindings) => new RequestLog(log, bindings));
}

/** Adds what routes find on every request; must be called before routes are added. */
export function addCommon(app: FastifyInstance, metrics: Metrics, shutdown: AbortController): void {
  app.decorate('metrics', metrics);
  app.addHook('onClose', async () => metrics.close());
  addRequestId(app);
  addErrorReplies(app);
  app.decorateRequest('identity', null);
  app.decorateRequest('pointAlone', null);
  // Bodies stay bytes until a route reads them: a signature covers the bytes as sent, and JSON is read
  // strictly.
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

/**
 * The fields without an error of null: what ends without an error, such as a thread at its time limit, has
 * none to show.
 */
function withoutNullError(fields: Record<string, unknown>): Record<string, unknown> {
  if (fields.err !== null) return fields;
  const { err: _, ...others } = fields;
  return others;
}

/** Headers that stay out of the log, should a request ever be logged. */
const secretHeaders = ['x-agent-api-key', 'x-service-signature', 'authorization', 'cookie'].flatMap(
  (name) => [`req.headers["${name}"]`, `headers["${name}"]`],
);
