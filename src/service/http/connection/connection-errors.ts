// Writes the error reply for input that never becomes a request: bytes that are not HTTP, headers without end,
// an incomplete body. INVARIANT: the error reply never overtakes the reply to an earlier
// request on the same connection.

import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import { createRequestId } from '../../requests/record/id.ts';
import { type ProblemCode, ProblemError, problemBody, problems, problemType } from '../contract/problem.ts';

type Response = ServerResponse<IncomingMessage>;

export interface ConnectionErrors {
  /** The listener of Node's `clientError`. */
  readonly handle: (error: Error & { readonly code?: string }, socket: Socket) => void;
  /** Remembers the latest request on each connection. */
  readonly note: (response: Response) => void;
}

/** Makes the handlers of connection errors; `onProblem` is called for each reply. */
export function createConnectionErrors(onProblem: (code: ProblemCode) => void): ConnectionErrors {
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
export function rawReply(code: ProblemCode): string {
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
