// Decisions into replies, each written in one piece. Those of one turn of the event loop leave together at its end: the
// first wakes whoever waits for it on this machine, which costs more than the reply, and finds the others on their way.

import type { OutgoingHttpHeaders } from 'node:http';
import type { FastifyReply } from 'fastify';
import type { RequestView } from '../../requests/record/reply.ts';

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
  const headers: OutgoingHttpHeaders = reply.getHeaders() as OutgoingHttpHeaders;
  // Where a request that waits for people is looked up again.
  if (view.status === 'pending') headers.location = `/v1/requests/${view.request_id}`;
  // A connection that stays open for more requests would hold up the stop.
  if (shutdown.aborted) headers.connection = 'close';
  headers['content-type'] = 'application/json; charset=utf-8';
  headers['content-length'] = Buffer.byteLength(body);
  reply.hijack();
  reply.raw.writeHead(200, headers).end(body);
}
