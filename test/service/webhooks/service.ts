// A receiver of webhooks, and a dispatcher over a real store at a time that the test sets.

import { createServer, type IncomingHttpHeaders } from 'node:http';
import type { AddressInfo } from 'node:net';
import { onTestFinished } from 'vitest';
import {
  createDispatcher,
  type Dispatcher,
  type DispatcherOptions,
} from '../../../src/service/webhooks/dispatch.ts';
import type { WebhookPayload } from '../../../src/service/webhooks/outbox.ts';
import {
  makeWebhook,
  type NewWebhook,
  type WebhookEvent,
  type WebhookFormat,
} from '../../../src/service/webhooks/webhook.ts';
import { type PeopleService, startPeople } from '../people/service.ts';

export interface Received {
  readonly headers: IncomingHttpHeaders;
  readonly body: string;
}

export interface Receiver {
  readonly url: string;
  readonly received: Received[];
  /** The status of all further answers; null never answers. */
  answer: number | null;
}

export async function startReceiver(answer: number | null = 204): Promise<Receiver> {
  const received: Received[] = [];
  const server = createServer(async (request, response) => {
    let body = '';
    for await (const chunk of request.setEncoding('utf8')) body += chunk;
    received.push({ headers: request.headers, body });
    if (receiver.answer !== null) response.writeHead(receiver.answer).end();
  });
  await new Promise<void>((listening) => server.listen(0, '127.0.0.1', listening));
  onTestFinished(() => {
    server.closeAllConnections();
    server.close();
  });
  const receiver: Receiver = {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/hook`,
    received,
    answer,
  };
  return receiver;
}

export interface Hooks extends PeopleService {
  readonly dispatcher: Dispatcher;
  readonly failures: unknown[];
  /** A dispatcher of another process on the same store. */
  another(): Dispatcher;
  hook(
    url: string,
    events?: readonly WebhookEvent[],
    format?: WebhookFormat,
  ): Promise<NewWebhook & { readonly secret: string }>;
  /** Advances the clock, and lets everything due be done. */
  pass(ms: number): Promise<void>;
}

export const minuteMs = 60_000;
export const dayMs = 24 * 60 * minuteMs;

export async function startHooks(changes: Partial<DispatcherOptions> = {}): Promise<Hooks> {
  const service = await startPeople();
  const failures: unknown[] = [];
  const { directory, masterKey, time } = service;
  const create = (): Dispatcher => {
    const dispatcher = createDispatcher({
      directory,
      masterKey,
      arePrivateAddressesAllowed: true,
      chance: () => 0.5,
      timeoutMs: 5_000,
      onFailure: (error) => failures.push(error),
      ...changes,
    });
    onTestFinished(() => dispatcher.close());
    return dispatcher;
  };
  const dispatcher = create();
  return {
    ...service,
    dispatcher,
    failures,
    another: create,
    hook: async (url, events = ['request.pending'], format = 'standard') => {
      const deps = { directory, masterKey, arePrivateAddressesAllowed: true };
      const made = await makeWebhook(deps, service.admin, { url, events, format });
      if (made.kind !== 'made') throw new Error(JSON.stringify(made));
      // A chat channel has no secret.
      return { ...made, secret: made.secret ?? '' };
    },
    pass: async (ms) => {
      time.nowMs += ms;
      await dispatcher.tick();
      await dispatcher.settled();
    },
  };
}

export function webhookPayload(id: string, atMs: number): WebhookPayload {
  return {
    type: 'request.pending',
    id,
    text: `Look at <${id}>`,
    links: { request: `https://writ.example.com/v1/requests/${id}` },
    atMs,
  };
}
