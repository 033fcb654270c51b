// Sets up Fastify for this service, with what all routes share: ids, error replies, bodies as bytes, and the
// reply headers of a service that stops.

import { isIP } from 'node:net';
import { performance } from 'node:perf_hooks';
import SerializerSelector from '@fastify/fast-json-stringify-compiler';
import Fastify, {
  type FastifyBaseLogger,
  type FastifyError,
  type FastifyInstance,
  type FastifyRequest,
  LogController,
} from 'fastify';
import { type Bindings, type ChildLoggerOptions, pino } from 'pino';
import { createRequestId } from '../requests/record/id.ts';
import type { LogLevel } from '../settings/table.ts';
import { addErrorReplies, sendProblem, toProblem } from './connection/error-replies.ts';
import type { ServerFactory } from './connection/http-server.ts';
import { repeatedHeader } from './connection/repeated-headers.ts';
import { ProblemError } from './contract/problem.ts';
import type { Metrics } from './telemetry/metrics.ts';

// Adds what every request and reply carries: the client's address, taken while the connection still knows it;
// the client's own request id if it sent a good one, else the service's; and a header that forbids caches to
// keep anything.

declare module 'fastify' {
  interface FastifyRequest {
    /** The client's address when the request came; `ip` is undefined once the connection has ended. */
    clientAddress: string;
    /** When the request's headers had arrived, on the clock of `performance.now`. */
    startedAtMs: number;
    /**
     * Headers that the reply carries whatever it contains, by name in lower case; a route's own header of the
     * same name takes precedence.
     */
    replyHeaders: Record<string, string>;
  }
}

const clientIdForm = /^[A-Za-z0-9._~:-]{1,128}$/;

function addRequestId(app: FastifyInstance): void {
  app.decorateRequest('clientAddress', '');
  app.decorateRequest('startedAtMs', 0);
  app.decorateRequest('replyHeaders');
  app.addHook('onRequest', (request, _reply, done) => {
    request.startedAtMs = performance.now();
    request.replyHeaders = {
      'x-request-id': echoedRequestId(request.headers['x-request-id'], request.id),
      'cache-control': 'no-store',
    };
    const address = addressOf(request);
    if (address === undefined) return done(new ProblemError('malformed_request', 'the connection is closed'));
    request.clientAddress = address;
    if (request.headers.host === undefined && request.raw.httpVersionMinor > 0) {
      return done(new ProblemError('malformed_request', 'HTTP/1.1 requires the header `Host`'));
    }
    const repeated = repeatedHeader(request.raw);
    if (repeated !== null) {
      const detail = `the header \`${repeated}\` is given more than once`;
      return done(new ProblemError('malformed_request', detail));
    }
    done();
  });
  app.addHook('onSend', (request, reply, payload, done) => {
    for (const [name, value] of Object.entries(request.replyHeaders ?? {}))
      if (!reply.hasHeader(name)) reply.header(name, value);
    done(null, payload);
  });
}

/**
 * The address of the client as a trusted proxy reports it, or the proxy's own when the reported text is no
 * address.
 */
function addressOf({ ip, socket }: FastifyRequest): string | undefined {
  const { remoteAddress } = socket;
  // Nearly every client comes without a proxy, and then the text is known to be an address.
  if (ip === remoteAddress) return remoteAddress;
  const forwarded: string | undefined = ip;
  return forwarded !== undefined && isIP(forwarded) === 0 ? remoteAddress : forwarded;
}

/** The client's own id if it is well-formed, else `id`. */
function echoedRequestId(sent: string | readonly string[] | undefined, id: string): string {
  return typeof sent === 'string' && clientIdForm.test(sent) ? sent : id;
}

// The log of one request: its lines carry the request's id. Nearly no request logs anything, so the logger
// behind it is made for the first line.

type Line = readonly [what: unknown, message?: string, ...values: readonly unknown[]];

/** A class because Fastify takes any object with the methods of a logger, and makes one for each request. */
class RequestLog {
  readonly #log: FastifyBaseLogger;
  readonly #bindings: Bindings;
  #opened: FastifyBaseLogger | null = null;

  constructor(log: FastifyBaseLogger, bindings: Bindings) {
    this.#log = log;
    this.#bindings = bindings;
  }

  get level(): string {
    return this.#log.level;
  }

  fatal(...line: Line): void {
    this.#lines().fatal(...line);
  }

  error(...line: Line): void {
    this.#lines().error(...line);
  }

  warn(...line: Line): void {
    this.#lines().warn(...line);
  }

  info(...line: Line): void {
    this.#lines().info(...line);
  }

  debug(...line: Line): void {
    this.#lines().debug(...line);
  }

  trace(...line: Line): void {
    this.#lines().trace(...line);
  }

  silent(): void {}

  child(bindings: Bindings, options?: ChildLoggerOptions): FastifyBaseLogger {
    return this.#lines().child(bindings, options);
  }

  #lines(): FastifyBaseLogger {
    this.#opened ??= this.#log.child(this.#bindings);
    return this.#opened;
  }
}

export interface LogOptions {
  readonly level: LogLevel;
  /** Takes one line of JSON at a time. */
  readonly stream: { write(line: string): void };
}

export interface FastifyOptions {
  readonly log: LogOptions;
  readonly bodyBytesMax: number;
  /** Networks (CIDR) of proxies whose `X-Forwarded-For` is believed. */
  readonly trustedProxies: readonly string[];
  readonly serverFactory: ServerFactory;
}

/** The longest part of an address as sent: the key of a table with each of its characters encoded. */
const paramLengthMax = 6_000;

export function createFastify({
  log,
  bodyBytesMax,
  trustedProxies,
  serverFactory,
}: FastifyOptions): FastifyInstance {
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
export function addCommonHooks(app: FastifyInstance, metrics: Metrics, shutdown: AbortController): void {
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
const secretHeaders = ['x-agent-api-key', 'x-service-signature', 'authorization', 'dpop', 'cookie'].flatMap(
  (name) => [`req.headers["${name}"]`, `headers["${name}"]`],
);
