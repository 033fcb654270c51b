// Reads the bodies of requests for decisions and sends the replies, without the framework: a body is read
// into one buffer, and a reply is written in one piece. Replies of one turn of the event loop are sent
// together at its end, because waking the client's process costs more than a reply, and it then finds all of
// them. INVARIANT: no more of a body than the limit is kept, an incomplete body is an error, and each body or
// error is reported once.

import type { IncomingMessage } from 'node:http';
import type { FastifyReply } from 'fastify';
import type { RequestView } from '../../requests/record/reply.ts';
import { ProblemError } from '../contract/problem.ts';

type BodyReader = (message: IncomingMessage, done: (read: Error | Buffer) => void) => void;

export function createBodyReader(bytesMax: number): BodyReader {
  return (message, done) => {
    if (Number(message.headers['content-length'] ?? 0) > bytesMax) return done(tooLarge());
    const chunks: Buffer[] = [];
    let bytes = 0;
    let isSettled = false;
    const settle = (read: Error | Buffer) => {
      if (isSettled) return;
      isSettled = true;
      done(read);
    };
    message.on('data', (chunk: Buffer) => {
      if (isSettled) return;
      bytes += chunk.length;
      if (bytes > bytesMax) settle(tooLarge());
      else chunks.push(chunk);
    });
    // Nearly every body comes in one piece.
    message.on('end', () => settle(chunks.length === 1 ? chunks[0]! : Buffer.concat(chunks)));
    message.on('error', settle);
  };
}

function tooLarge(): ProblemError {
  return new ProblemError('body_too_large', 'the body exceeds the limit of this service');
}

type ReplyWith = (view: RequestView, reply: FastifyReply) => void;

export function createDecisionReplies(shutdown: AbortSignal): ReplyWith {
  let waiting: { readonly view: RequestView; readonly reply: FastifyReply }[] = [];
  const sendAll = () => {
    const replies = waiting;
    waiting = [];
    for (const { view, reply } of replies) {
      try {
        send(view, reply, shutdown);
      } catch (error) {
        reply.log.error({ err: error }, 'a reply could not be sent');
        reply.raw.destroy();
      }
    }
  };
  return (view, reply) => {
    if (waiting.push({ view, reply }) === 1) setImmediate(sendAll);
  };
}

function send(view: RequestView, reply: FastifyReply, shutdown: AbortSignal): void {
  const body = JSON.stringify(view);
  const headers = reply.request.replyHeaders;
  // The address where a request that waits for people is looked up again.
  if (view.status === 'pending') headers.location = `/v1/requests/${view.request_id}`;
  // A connection that stays open for more requests would hold up the stop.
  if (shutdown.aborted) headers.connection = 'close';
  headers['content-type'] = 'application/json; charset=utf-8';
  headers['content-length'] = String(Buffer.byteLength(body));
  reply.hijack();
  reply.raw.writeHead(200, headers).end(body);
}
