// One HTTP request of a client and its reply: a single message, or a stream of events as soon as a message
// comes before the last one.

import type { IncomingMessage, ServerResponse } from 'node:http';
import {
  errorAnswer,
  errorCodes,
  type Message,
  type RpcResponse,
  writeMessage,
} from '../protocol/messages.ts';

export interface Exchange {
  readonly request: IncomingMessage;
  /** The token of the person on whose behalf the client asks. */
  readonly onBehalfOf: string | undefined;
  /** Ends the reply with one message. */
  answer(status: number, response: RpcResponse): void;
  /** Ends the reply with an error that belongs to no request. */
  refuse(status: number, code: number, detail: string): void;
  /** Ends the reply without a message: the client's message was taken, and needs no answer. */
  accept(): void;
  /** Sends a message before the last one, on a stream. */
  stream(message: Message): void;
  /** Begins the stream without a message. */
  begin(): void;
  /** Sends the last message; `status` counts only when no message came before it. */
  finish(response: RpcResponse, status: number): void;
  end(): void;
  setHeader(name: string, value: string): void;
  /** Calls `work` when the client leaves before the end. */
  onLeave(work: () => void): void;
}

const unreadBytesMax = 64 * 1024 * 1024;

export function openExchange(request: IncomingMessage, response: ServerResponse): Exchange {
  const begin = () => {
    if (response.headersSent) return;
    response.writeHead(200, {
      'content-type': 'text/event-stream',
      'cache-control': 'no-cache',
      'x-accel-buffering': 'no',
    });
    response.flushHeaders();
  };
  const answer = (status: number, message: RpcResponse) => {
    if (response.headersSent) return;
    // The connection is closed, because the unread rest of the body would be taken for the next request.
    if (!request.complete) response.setHeader('connection', 'close');
    if (status === 401) response.setHeader('www-authenticate', 'Bearer');
    response.writeHead(status, { 'content-type': 'application/json' }).end(writeMessage(message));
  };
  const stream = (message: Message) => {
    begin();
    // A client that reads nothing may not fill the memory.
    if (response.writableLength > unreadBytesMax) response.destroy();
    else response.write(`event: message\ndata: ${writeMessage(message)}\n\n`);
  };
  return {
    request,
    onBehalfOf: request.headersDistinct['x-on-behalf-of']?.[0],
    answer,
    refuse: (status, code, detail) => answer(status, errorAnswer(null, code, detail)),
    accept: () => response.writeHead(202).end(),
    stream,
    begin,
    finish(message, status) {
      if (!response.headersSent) return answer(status, message);
      stream(message);
      response.end();
    },
    end: () => response.end(),
    setHeader: (name, value) => {
      if (!response.headersSent) response.setHeader(name, value);
    },
    onLeave(work) {
      response.on('close', () => {
        if (!response.writableFinished) work();
      });
    },
  };
}

/** HTTP statuses for errors that the proxy itself answers, in the stateless era. */
const statuses: Readonly<Record<number, number>> = {
  [errorCodes.methodNotFound]: 404,
  [errorCodes.headerMismatch]: 400,
  [-32021]: 400,
  [-32022]: 400,
};

export function statusOf({ error }: RpcResponse): number {
  return statuses[error?.code ?? 0] ?? 200;
}
