// Node's HTTP server as this service uses it. Each listening address has a server of its own, and all servers
// share the limits on connections. INVARIANT: whatever the address, a connection meets the same limits and
// the same error replies.

import {
  createServer,
  type IncomingMessage,
  type RequestListener,
  type Server,
  type ServerResponse,
} from 'node:http';
import type { Socket } from 'node:net';
import { createRequestId } from '../../requests/record/id.ts';
import { type ProblemCode, ProblemError, problemBody, problems, problemType } from '../contract/problem.ts';
import { createRequestGate, type RequestGate } from './request-gate.ts';

// Turns what never becomes a request (bytes that are not HTTP, headers without end, a body that stops) into
// an error reply written to the socket. INVARIANT: the error reply never overtakes the reply to an earlier
// request on the same connection.

type Response = ServerResponse<IncomingMessage>;

export interface ConnectionErrors {
  /** The listener of Node's `clientError`. */
  readonly handle: (error: Error & { readonly code?: string }, socket: Socket) => void;
  /** Remembers the latest request on each connection. */
  readonly note: (response: Response) => void;
}

/** Makes the handlers of connection errors; `onProblem` is called for each reply. */
function createConnectionErrors(onProblem: (code: ProblemCode) => void): ConnectionErrors {
  const latest = new WeakMap<Socket, Response>();
  return {
    note: (response) => void latest.set(response.req.socket, response),
    handle: (error, socket) => {
      const reply = () => {
        const code = codeOf(error);
        onProblem(code);
        if (socket.writable) socket.end(rawReply(code));
        // A peer that neither reads nor closes gets no more time.
        setTimeout(() => socket.destroy(), lingerMs).unref();
      };
      const response = latest.get(socket);
      if (response === undefined || response.writableFinished || !response.req.complete) {
        return response?.headersSent && !response.writableFinished ? socket.destroy() : reply();
      }
      response.once('close', reply);
      response.once('finish', reply);
    },
  };
}

const lingerMs = 1_000;

function codeOf({ code }: { readonly code?: string }): ProblemCode {
  switch (code) {
    case 'HPE_HEADER_OVERFLOW':
      return 'headers_too_large';
    case 'ERR_HTTP_REQUEST_TIMEOUT':
      return 'request_timeout';
    case 'HPE_INVALID_EOF_STATE':
      return 'incomplete_body';
    default:
      return 'malformed_request';
  }
}

const details = {
  headers_too_large: 'send fewer or shorter headers',
  request_timeout: 'send the whole request without a pause',
  incomplete_body: 'the connection ended before the end of the request',
  too_many_connections: 'try again in a moment',
  malformed_request: 'the request is not valid HTTP/1.1',
} as const satisfies Partial<Record<ProblemCode, string>>;

/** An error reply as text, for a connection that has no request. */
function rawReply(code: ProblemCode): string {
  const { status, title } = problems[code];
  const id = createRequestId(Date.now());
  const detail = code in details ? details[code as keyof typeof details] : title;
  const body = JSON.stringify(problemBody(new ProblemError(code, detail), id));
  return [
    `HTTP/1.1 ${status} ${title}`,
    `content-type: ${problemType}`,
    `content-length: ${Buffer.byteLength(body)}`,
    `x-request-id: ${id}`,
    'cache-control: no-store',
    'connection: close',
    ...(status === 503 ? ['retry-after: 1'] : []),
    '',
    body,
  ].join('\r\n');
}

export interface HttpServerOptions {
  /** How long a request may take to arrive, and how long a client may read nothing, in milliseconds. */
  readonly requestTimeoutMs: number;
  readonly connectionsMax: number;
  /** Called for each error reply that no route has made. */
  readonly onProblem: (code: ProblemCode) => void;
}

/** The type of Fastify's `serverFactory`. */
export type ServerFactory = (listener: RequestListener) => Server;

const keepAliveMs = 72_000;

export function createServerFactory({
  requestTimeoutMs,
  connectionsMax,
  onProblem,
}: HttpServerOptions): ServerFactory {
  const gate = createRequestGate({ stalledMs: requestTimeoutMs });
  const admit = createAdmission({ gate, connectionsMax, onProblem });
  return (listener) => {
    const errors = createConnectionErrors(onProblem);
    const server = createServer({
      requestTimeout: requestTimeoutMs,
      // Node also derives the time limit for headers from `requestTimeout`, because it must not be the longer
      // of the two.
      connectionsCheckingInterval: Math.min(requestTimeoutMs, 5_000),
      keepAliveTimeout: keepAliveMs,
      // The header is checked in request-id, because Node's own reply has no body.
      requireHostHeader: false,
    });
    const receive: RequestListener = (message, response) => {
      errors.note(response);
      gate.receive(message, response, listener);
    };
    server.on('request', receive);
    // An unknown expectation may be ignored (RFC 9110); Node would answer it without a body.
    server.on('checkExpectation', receive);
    server.on('clientError', errors.handle);
    server.on('connection', admit);
    return server;
  };
}

interface AdmissionOptions {
  readonly gate: RequestGate;
  readonly connectionsMax: number;
  readonly onProblem: (code: ProblemCode) => void;
}

/**
 * Admits new connections. At the limit, a connection that is idle or kept waiting makes room; if there is
 * none, the new connection is refused.
 */
function createAdmission({ gate, connectionsMax, onProblem }: AdmissionOptions): (socket: Socket) => void {
  let open = 0;
  return (socket) => {
    const isRefused = open >= connectionsMax && !gate.makeRoom();
    if (isRefused) {
      onProblem('too_many_connections');
      socket.end(rawReply('too_many_connections'));
      socket.destroySoon();
      return;
    }
    open += 1;
    socket.once('close', () => {
      open -= 1;
    });
    gate.admit(socket);
  };
}
