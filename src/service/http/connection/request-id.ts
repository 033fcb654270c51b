// Adds what every request and reply carries: the client's address, taken while the connection still knows it;
// the client's own request id if it sent a good one, else the service's; and a header that forbids caches to
// keep anything.

import { isIP } from 'node:net';
import { performance } from 'node:perf_hooks';
import type { FastifyInstance, FastifyRequest } from 'fastify';
import { ProblemError } from '../contract/problem.ts';
import { repeatedHeader } from './repeated-headers.ts';

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

export function addRequestId(app: FastifyInstance): void {
  app.decorateRequest('clientAddress', '');
  app.decorateRequest('startedAtMs', 0);
  app.decorateRequest('replyHeaders');
  app.addHook('onRequest', (request, _reply, done) => {
    request.startedAtMs = performance.now();
    request.replyHeaders = {
      'x-request-id': shownRequestId(request.headers['x-request-id'], request.id),
      'cache-control': 'no-store',
    };
    const address = addressOf(request);
    if (address === undefined) return done(new ProblemError('malformed_request', 'the connection has ended'));
    request.clientAddress = address;
    if (request.headers.host === undefined && request.raw.httpVersionMinor > 0) {
      return done(new ProblemError('malformed_request', 'HTTP/1.1 asks for the header `Host`'));
    }
    const repeated = repeatedHeader(request.raw);
    if (repeated !== null) {
      const detail = `the header \`${repeated}\` came more than once: send it once`;
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
  const told: string | undefined = ip;
  return told !== undefined && isIP(told) === 0 ? remoteAddress : told;
}

/** The client's own id if it is well-formed, else `id`. */
function shownRequestId(sent: string | readonly string[] | undefined, id: string): string {
  return typeof sent === 'string' && clientIdForm.test(sent) ? sent : id;
}
