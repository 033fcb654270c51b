// Creates the HTTP server for each listening address; all servers share the limits on connections. INVARIANT:
// every address has the same limits and the same error replies.

import { createServer, type RequestListener, type Server } from 'node:http';
import type { Socket } from 'node:net';
import type { ProblemCode } from '../contract/problem.ts';
import { createConnectionErrors, rawReply } from './connection-errors.ts';
import { createRequestGate, type RequestGate } from './request-gate.ts';

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
