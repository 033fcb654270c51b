// Takes what chats send: what people do there, signed by the chat. Only POST is taken: opening an address decides nothing.
// INVARIANT: what the chat has not signed reaches nothing; the answer is sent before anything is decided, and a failure
// after it is logged.

import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import type { DeliveryAnswer, SentDelivery } from '../../../chat/chat-delivery.ts';
import { ProblemError } from '../../contract/problem.ts';
import type { Chat } from './create-chat.ts';

export interface DeliveryDeps {
  readonly chat: Pick<Chat, 'slack' | 'teams'>;
}

const bodyLimit = 256 * 1024;
const options = { bodyLimit, config: { isDocumented: false } };

export async function chatDeliveries(app: FastifyInstance, { chat }: DeliveryDeps): Promise<void> {
  /** What is done after the answer; a stop waits for it. */
  const underWay = new Set<Promise<void>>();
  app.addHook('onClose', async () => void (await Promise.all(underWay)));
  const doAfter = (request: FastifyRequest, work: () => Promise<void>): void => {
    const done = work()
      .catch((err: unknown) => request.log.error({ err }, 'could not act on what came from a chat'))
      .finally(() => underWay.delete(done));
    underWay.add(done);
  };

  const take = (path: string, name: string, receive: Receive | null, setting: string): void => {
    app.post(path, options, async (request, reply) => {
      if (receive === null) throw notSetUp(setting);
      const { headers } = request;
      const received = await receive({ headers, body: bytesOf(request) });
      if (received.kind === 'forged') throw forged(name);
      if (received.kind === 'malformed')
        throw new ProblemError('invalid_body', `this is nothing that ${name} sends`);
      answer(reply, received.body);
      doAfter(request, received.work);
      return reply;
    });
  };
  take('/chat/slack', 'Slack', chat.slack, 'slack.bot_token');
  take('/chat/teams', 'Teams', chat.teams, 'teams.app_id');
}

type Receive = (sent: SentDelivery) => Promise<DeliveryAnswer>;

function answer(reply: FastifyReply, body: object | null): void {
  if (body === null) void reply.code(200).send();
  else void reply.code(200).type('application/json; charset=utf-8').send(JSON.stringify(body));
}

function bytesOf({ body }: FastifyRequest): Uint8Array {
  return Buffer.isBuffer(body) ? body : Buffer.alloc(0);
}

function notSetUp(setting: string): ProblemError {
  return new ProblemError('unknown_route', `this chat is not set up: \`${setting}\` is not set`);
}

function forged(name: string): ProblemError {
  return new ProblemError('invalid_signature', `the request is not signed by ${name}, or is too old`);
}
