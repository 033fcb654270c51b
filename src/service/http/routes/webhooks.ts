// /v1/webhooks: who outside hears of what, and what became of each message. INVARIANT: a secret is shown in the reply that
// made it and never again, and only who may change a webhook sees all of its address, which often holds a secret.

import type { FastifyInstance } from 'fastify';
import { grantOf } from '../../people/operations.ts';
import type { SignInDeps } from '../../people/sign-in.ts';
import type { Dispatcher } from '../../webhooks/dispatch.ts';
import { type Delivery, listDeliveries } from '../../webhooks/outbox.ts';
import {
  allWebhooks,
  changeWebhook,
  makeWebhook,
  removeWebhook,
  rotateWebhookSecret,
  type Webhook,
  type WebhookChanged,
  type WebhookDraft,
  type WebhookMade,
  webhookEvents,
  webhooksOf,
} from '../../webhooks/webhook.ts';
import { actorOf, conflict, invalidBody, type ManagedCall, manage, notFound } from '../calls/manage.ts';
import type { JsonSchema, OperationReply } from '../contract/operation.ts';
import { pageOf, pageParameters, pageReply, readPage } from '../contract/page.ts';
import {
  idParameter,
  listReply,
  noContent,
  objectSchema,
  text,
  textOrNull,
  time,
  timeOrNull,
  timeText,
  timeTextOrNull,
} from '../contract/schemas.ts';

export interface WebhookRouteOptions {
  readonly signInDeps: SignInDeps;
  readonly arePrivateAddressesAllowed: boolean;
  readonly dispatcher: Pick<Dispatcher, 'test'>;
}

export async function webhookRoutes(app: FastifyInstance, options: WebhookRouteOptions): Promise<void> {
  const { signInDeps: deps, arePrivateAddressesAllowed, dispatcher } = options;
  const { directory, masterKey } = deps;
  const webhookDeps = { directory, masterKey, arePrivateAddressesAllowed };

  manage(app, deps, {
    method: 'GET',
    url: '/v1/webhooks',
    access: 'webhooks.view',
    operation: {
      id: 'listWebhooks',
      summary: 'Webhooks, the latest first; there are 50 at most',
      replies: { 200: listReply('The webhooks', webhookSchema, webhookExample) },
    },
    handle: async (call) => ({
      items: (await allWebhooks(directory)).map(({ value }) => shownTo(call, value)),
    }),
  });

  manage<WebhookDraft>(app, deps, {
    method: 'POST',
    url: '/v1/webhooks',
    access: 'webhooks.change',
    operation: {
      id: 'makeWebhook',
      summary: 'Has messages sent to an address',
      body: {
        description: 'An `https:` address of the public Internet, and what it is to hear of.',
        schema: objectSchema({ url: text(2_000), events }),
        examples: {
          all: { url: 'https://hooks.example.com/writ', events: ['request.pending', 'agent.revoked'] },
        },
      },
      replies: { 201: secretReply('Made; `secret` is shown this once') },
    },
    handle: async (call) => {
      const result = await makeWebhook(webhookDeps, actorOf(call), call.body);
      if (result.kind === 'invalid') throw invalidBody(result);
      call.reply.code(201);
      return shownSecret(result);
    },
  });

  manage(app, deps, {
    method: 'GET',
    url: '/v1/webhooks/:id',
    access: 'webhooks.view',
    operation: {
      id: 'getWebhook',
      summary: 'One webhook',
      parameters: [id],
      replies: { 200: webhookReply },
      problems: ['not_found'],
    },
    handle: async (call) => shownTo(call, await webhookOf(call)),
  });

  manage<Partial<WebhookDraft & Pick<Webhook, 'status'>>>(app, deps, {
    method: 'PATCH',
    url: '/v1/webhooks/:id',
    access: 'webhooks.change',
    operation: {
      id: 'changeWebhook',
      summary: 'Changes address, events or status',
      parameters: [id],
      body: {
        description: 'What is not there stays as it is.',
        schema: objectSchema(
          {},
          { url: text(2_000), events, status: { type: 'string', enum: ['active', 'disabled'] } },
        ),
        examples: { off: { status: 'disabled' } },
      },
      replies: { 200: webhookReply },
      problems: ['not_found', 'conflict'],
    },
    handle: async (call) =>
      changed(await changeWebhook(webhookDeps, actorOf(call), { ...call.body, id: call.params.id ?? '' })),
  });

  manage(app, deps, {
    method: 'DELETE',
    url: '/v1/webhooks/:id',
    access: 'webhooks.change',
    operation: {
      id: 'removeWebhook',
      summary: 'Removes a webhook, and drops what waits for it',
      parameters: [id],
      replies: { 204: noContent('Removed') },
      problems: ['not_found', 'conflict'],
    },
    handle: async (call) => {
      const result = await removeWebhook(directory, actorOf(call), call.params.id ?? '');
      if (result === 'unknown') throw notFound('webhook');
      if (result === 'conflict') throw conflict();
    },
  });

  manage(app, deps, {
    method: 'POST',
    url: '/v1/webhooks/:id/secret',
    access: 'webhooks.change',
    operation: {
      id: 'rotateWebhookSecret',
      summary: 'Gives a webhook a new secret; for 24 hours the one of before signs as well',
      parameters: [id],
      replies: { 201: secretReply('Rotated; `secret` is shown this once') },
      problems: ['not_found', 'conflict'],
    },
    handle: async (call) => {
      const result = await rotateWebhookSecret(webhookDeps, actorOf(call), call.params.id ?? '');
      if (result.kind === 'unknown') throw notFound('webhook');
      if (result.kind !== 'made') throw conflict();
      call.reply.code(201);
      return shownSecret(result);
    },
  });

  manage(app, deps, {
    method: 'POST',
    url: '/v1/webhooks/:id/test',
    access: 'webhooks.change',
    operation: {
      id: 'testWebhook',
      summary: 'Sends a message of the type `webhook.test`, once, whatever the webhook wants to hear of',
      parameters: [id],
      replies: {
        202: {
          description: 'It is on its way: look it up among the deliveries',
          schema: deliverySchema,
          example: { ...deliveryExample, type: 'webhook.test' },
        },
      },
      problems: ['not_found'],
    },
    handle: async (call) => {
      const delivery = await dispatcher.test(call.params.id ?? '');
      if (delivery === null) throw notFound('webhook');
      call.reply.code(202);
      return shownDelivery(delivery);
    },
  });

  manage(app, deps, {
    method: 'GET',
    url: '/v1/webhooks/:id/deliveries',
    access: 'webhooks.view',
    operation: {
      id: 'listDeliveries',
      summary: 'What became of the messages of a webhook, the latest first; kept for a week',
      parameters: [id, ...pageParameters],
      replies: { 200: pageReply('A page of deliveries', deliverySchema, deliveryExample) },
      problems: ['not_found'],
    },
    handle: async (call) => {
      const { countMax, after } = readPage(call.query);
      const { id: webhookId } = await webhookOf(call);
      const found = await listDeliveries(directory, webhookId, { countMax: countMax + 1, after });
      return pageOf(found, countMax, shownDelivery);
    },
  });

  async function webhookOf({ params }: ManagedCall<unknown>): Promise<Webhook> {
    const found = await webhooksOf(directory).find(params.id ?? '');
    if (found === null) throw notFound('webhook');
    return found.value;
  }
}

function changed(result: WebhookChanged) {
  switch (result.kind) {
    case 'changed':
      return shownWebhook(result.webhook);
    case 'invalid':
      throw invalidBody(result);
    case 'unknown':
      throw notFound('webhook');
    case 'conflict':
      throw conflict();
  }
}

function shownTo(call: ManagedCall<unknown>, webhook: Webhook) {
  const isWhole = grantOf(actorOf(call).roles, 'webhooks.change') === 'yes';
  return shownWebhook(isWhole ? webhook : { ...webhook, url: `${new URL(webhook.url).origin}/...` });
}

function shownWebhook(webhook: Webhook) {
  const { id, url, events, status, disabledBecause, failingSinceMs, createdAtMs, createdBy } = webhook;
  return {
    id,
    url,
    events: [...events],
    status,
    disabled_because: disabledBecause,
    failing_since: timeTextOrNull(failingSinceMs),
    created_at: timeText(createdAtMs),
    created_by: createdBy,
  };
}

function shownSecret({ webhook, secret }: WebhookMade) {
  return { webhook: shownWebhook(webhook), secret };
}

function shownDelivery(delivery: Delivery) {
  const { id, type, status, attempts, createdAtMs, nextAtMs, lastAtMs, lastStatus, lastReason } = delivery;
  return {
    id,
    type,
    status,
    attempts,
    created_at: timeText(createdAtMs),
    next_at: timeTextOrNull(nextAtMs),
    last_at: timeTextOrNull(lastAtMs),
    last_status: lastStatus,
    last_reason: lastReason,
  };
}

const events: JsonSchema = { type: 'array', items: { type: 'string', enum: webhookEvents }, maxItems: 10 };

const webhookSchema = objectSchema({
  id: text(100),
  url: text(2_000),
  events,
  status: { type: 'string', enum: ['active', 'disabled'] },
  disabled_because: textOrNull,
  failing_since: timeOrNull,
  created_at: time,
  created_by: text(100),
});

const webhookExample = {
  id: '77eb0000-0000-4000-8000-000000000000',
  url: 'https://hooks.example.com/writ',
  events: ['request.pending'],
  status: 'active',
  disabled_because: null,
  failing_since: null,
  created_at: '2026-03-02T10:00:00.000Z',
  created_by: 'b3f1c2d4-0000-4000-8000-000000000000',
};

const id = idParameter('The id in the list.', webhookExample.id);

const webhookReply: OperationReply = {
  description: 'The webhook',
  schema: webhookSchema,
  example: webhookExample,
};

function secretReply(description: string): OperationReply {
  return {
    description,
    schema: objectSchema({ webhook: webhookSchema, secret: text(100) }),
    example: { webhook: webhookExample, secret: `whsec_${'A'.repeat(43)}=` },
  };
}

const deliverySchema = objectSchema({
  id: text(100),
  type: text(100),
  status: { type: 'string', enum: ['pending', 'delivered', 'failed'] },
  attempts: { type: 'integer', minimum: 0 },
  created_at: time,
  next_at: timeOrNull,
  last_at: timeOrNull,
  last_status: { type: ['integer', 'null'] },
  last_reason: textOrNull,
});

const deliveryExample = {
  id: 'msg_de117e00-0000-4000-8000-000000000000',
  type: 'request.pending',
  status: 'pending',
  attempts: 1,
  created_at: '2026-03-02T10:00:00.000Z',
  next_at: '2026-03-02T10:00:05.000Z',
  last_at: '2026-03-02T10:00:00.000Z',
  last_status: 503,
  last_reason: 'the receiver answered 503',
};
