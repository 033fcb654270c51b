// /v1/webhooks: which addresses outside get which messages, and what became of each message. INVARIANT: a
// secret is shown in the reply that made it and never again, and only those who may change a webhook see all
// of its address, which often holds a secret.

import { isoTime, isoTimeOrNull } from '../../../../language/value/iso-time.ts';
import { grantOf } from '../../../people/operations.ts';
import type { SignInDeps } from '../../../people/sign-in.ts';
import type { Dispatcher } from '../../../webhooks/dispatch.ts';
import type { Delivery } from '../../../webhooks/outbox.ts';
import * as outbox from '../../../webhooks/outbox.ts';
import * as webhooks from '../../../webhooks/webhook.ts';
import {
  type NewWebhook,
  urlOfWebhook,
  type Webhook,
  webhookEvents,
  webhookFormats,
} from '../../../webhooks/webhook.ts';
import { conflict, invalidBody, notFound } from '../../auth/auth-refusals.ts';
import type { JsonSchema, OperationReply } from '../../contract/operation.ts';
import { pageOf, pageParameters, pageReply, readPage } from '../../contract/page.ts';
import {
  idParameter,
  listReply,
  noContent,
  objectSchema,
  text,
  textOrNull,
  time,
  timeOrNull,
} from '../../contract/schemas.ts';
import { actorOf, type ManagedCall, type Route, route } from '../../routing/route.ts';

// Turns webhooks and their deliveries into replies. INVARIANT: only those who may change a webhook see all of
// its address, which often holds a secret.

const eventsSchema: JsonSchema = {
  type: 'array',
  items: { type: 'string', enum: webhookEvents },
  maxItems: webhookEvents.length,
};

const formatSchema: JsonSchema = {
  type: 'string',
  enum: webhookFormats,
  description: '`standard`: signed (Standard Webhooks). `chat`: `{"text": ...}`, as Slack takes it.',
};

const webhookSchema = objectSchema({
  id: text(100),
  url: text(2_000),
  format: formatSchema,
  events: eventsSchema,
  status: { type: 'string', enum: ['active', 'disabled'] },
  disabled_reason: textOrNull,
  failing_since: timeOrNull,
  created_at: time,
  created_by: text(100),
});

const webhookExample = {
  id: '77eb0000-0000-4000-8000-000000000000',
  url: 'https://hooks.example.com/writ',
  format: 'standard',
  events: ['request.pending'],
  status: 'active',
  disabled_reason: null,
  failing_since: null,
  created_at: '2026-03-02T10:00:00.000Z',
  created_by: 'b3f1c2d4-0000-4000-8000-000000000000',
};

const webhookId = idParameter('The id in the list.', webhookExample.id);

const webhookReply: OperationReply = {
  description: 'The webhook',
  schema: webhookSchema,
  example: webhookExample,
};

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

function shownTo(call: ManagedCall<unknown>, webhook: Webhook, masterKey: Uint8Array) {
  const isWhole = grantOf(actorOf(call).roles, 'webhooks.change') === 'yes';
  return webhookView(webhook, isWhole ? urlOfWebhook(masterKey, webhook) : `${webhook.origin}/...`);
}

function webhookView(webhook: Webhook, url: string) {
  const { id, format, events, status, disabledBecause, failingSinceMs, createdAtMs, createdBy } = webhook;
  return {
    id,
    url,
    format,
    events: [...events],
    status,
    disabled_reason: disabledBecause,
    failing_since: isoTimeOrNull(failingSinceMs),
    created_at: isoTime(createdAtMs),
    created_by: createdBy,
  };
}

function webhookSecretView({ webhook, secret }: NewWebhook, masterKey: Uint8Array) {
  return { webhook: webhookView(webhook, urlOfWebhook(masterKey, webhook)), secret };
}

function deliveryView(delivery: Delivery) {
  const { id, type, status, attempts, createdAtMs, nextAtMs, lastAtMs, lastStatus, lastReason } = delivery;
  return {
    id,
    type,
    status,
    attempts,
    created_at: isoTime(createdAtMs),
    next_at: isoTimeOrNull(nextAtMs),
    last_at: isoTimeOrNull(lastAtMs),
    last_status: lastStatus,
    last_reason: lastReason,
  };
}

function secretReply(description: string): OperationReply {
  return {
    description,
    schema: objectSchema({
      webhook: webhookSchema,
      secret: { ...textOrNull, description: 'Null for a chat channel, which does not verify signatures.' },
    }),
    example: { webhook: webhookExample, secret: `whsec_${'A'.repeat(43)}=` },
  };
}

interface WebhookDeps {
  readonly signInDeps: SignInDeps;
  readonly arePrivateAddressesAllowed: boolean;
  readonly dispatcher: Pick<Dispatcher, 'test'>;
}

/** The body that makes a webhook; `format` may be left out. */
type MakeBody = Omit<webhooks.WebhookDraft, 'format'> & Partial<Pick<webhooks.WebhookDraft, 'format'>>;

const listWebhooks = route<WebhookDeps>({
  method: 'GET',
  url: '/v1/webhooks',
  access: 'webhooks.view',
  operation: {
    id: 'listWebhooks',
    summary: 'Webhooks, newest first; at most 50',
    replies: { 200: listReply('The webhooks', webhookSchema, webhookExample) },
  },
  handle: async ({ signInDeps }, call) => ({
    items: (await webhooks.allWebhooks(signInDeps.directory)).map(({ value }) =>
      shownTo(call, value, signInDeps.masterKey),
    ),
  }),
});

const createWebhook = route<WebhookDeps, MakeBody>({
  method: 'POST',
  url: '/v1/webhooks',
  access: 'webhooks.change',
  operation: {
    id: 'createWebhook',
    summary: 'Creates a webhook',
    body: {
      description: 'A public `https:` address, the events, and the format; default: `standard`.',
      schema: objectSchema({ url: text(2_000), events: eventsSchema }, { format: formatSchema }),
      examples: {
        chat: {
          url: 'https://hooks.slack.com/services/T0/B0/x',
          events: ['request.pending', 'alert.began', 'alert.over'],
          format: 'chat',
        },
        all: { url: 'https://hooks.example.com/writ', events: ['request.pending', 'agent.revoked'] },
      },
    },
    replies: { 201: secretReply('Created; `secret` is shown only once') },
  },
  handle: async (deps, call) => {
    const result = await webhooks.makeWebhook(webhookDeps(deps), actorOf(call), {
      format: 'standard',
      ...call.body,
    });
    if (result.kind === 'invalid') throw invalidBody(result);
    call.reply.code(201);
    return webhookSecretView(result, deps.signInDeps.masterKey);
  },
});

const getWebhook = route<WebhookDeps>({
  method: 'GET',
  url: '/v1/webhooks/:id',
  access: 'webhooks.view',
  operation: {
    id: 'getWebhook',
    summary: 'One webhook',
    parameters: [webhookId],
    replies: { 200: webhookReply },
    problems: ['not_found'],
  },
  handle: async (deps, call) => shownTo(call, await webhookOf(deps, call), deps.signInDeps.masterKey),
});

const updateWebhook = route<
  WebhookDeps,
  Partial<Pick<webhooks.WebhookDraft, 'url' | 'events'> & Pick<webhooks.Webhook, 'status'>>
>({
  method: 'PATCH',
  url: '/v1/webhooks/:id',
  access: 'webhooks.change',
  operation: {
    id: 'updateWebhook',
    summary: 'Changes the address, events or status of a webhook',
    parameters: [webhookId],
    body: {
      description: 'Missing fields stay unchanged.',
      schema: objectSchema(
        {},
        { url: text(2_000), events: eventsSchema, status: { type: 'string', enum: ['active', 'disabled'] } },
      ),
      examples: { off: { status: 'disabled' } },
    },
    replies: { 200: webhookReply },
    problems: ['not_found', 'conflict'],
  },
  handle: async (deps, call) =>
    changed(
      await webhooks.changeWebhook(webhookDeps(deps), actorOf(call), {
        ...call.body,
        id: call.params.id ?? '',
      }),
      deps.signInDeps.masterKey,
    ),
});

const deleteWebhook = route<WebhookDeps>({
  method: 'DELETE',
  url: '/v1/webhooks/:id',
  access: 'webhooks.change',
  operation: {
    id: 'deleteWebhook',
    summary: 'Deletes a webhook and its pending messages',
    parameters: [webhookId],
    replies: { 204: noContent('Removed') },
    problems: ['not_found', 'conflict'],
  },
  handle: async ({ signInDeps: { directory } }, call) => {
    const result = await webhooks.removeWebhook(directory, actorOf(call), call.params.id ?? '');
    if (result === 'unknown') throw notFound('webhook');
    if (result === 'conflict') throw conflict();
  },
});

const rotateWebhookSecret = route<WebhookDeps>({
  method: 'POST',
  url: '/v1/webhooks/:id/secret',
  access: 'webhooks.change',
  operation: {
    id: 'rotateWebhookSecret',
    summary: 'Creates a new secret for a webhook; the previous secret also signs for 24 hours',
    parameters: [webhookId],
    replies: { 201: secretReply('Rotated; `secret` is shown only once') },
    problems: ['not_found', 'conflict'],
  },
  handle: async (deps, call) => {
    const result = await webhooks.rotateWebhookSecret(webhookDeps(deps), actorOf(call), call.params.id ?? '');
    if (result.kind === 'unknown') throw notFound('webhook');
    if (result.kind === 'not-signed') throw conflict('messages of a chat channel are not signed');
    if (result.kind !== 'made') throw conflict();
    call.reply.code(201);
    return webhookSecretView(result, deps.signInDeps.masterKey);
  },
});

const testWebhook = route<WebhookDeps>({
  method: 'POST',
  url: '/v1/webhooks/:id/test',
  access: 'webhooks.change',
  operation: {
    id: 'testWebhook',
    summary: 'Sends one test message (`webhook.test`), whatever the subscribed events',
    parameters: [webhookId],
    replies: {
      202: {
        description: 'Queued; see the deliveries for the result',
        schema: deliverySchema,
        example: { ...deliveryExample, type: 'webhook.test' },
      },
    },
    problems: ['not_found'],
  },
  handle: async ({ dispatcher }, call) => {
    const delivery = await dispatcher.test(call.params.id ?? '');
    if (delivery === null) throw notFound('webhook');
    call.reply.code(202);
    return deliveryView(delivery);
  },
});

const listDeliveries = route<WebhookDeps>({
  method: 'GET',
  url: '/v1/webhooks/:id/deliveries',
  access: 'webhooks.view',
  operation: {
    id: 'listDeliveries',
    summary: 'The deliveries of a webhook, newest first; kept for a week',
    parameters: [webhookId, ...pageParameters],
    replies: { 200: pageReply('A page of deliveries', deliverySchema, deliveryExample) },
    problems: ['not_found'],
  },
  handle: async (deps, call) => {
    const { countMax, after } = readPage(call.query);
    const { id } = await webhookOf(deps, call);
    const { directory } = deps.signInDeps;
    const storedDeliveries = await outbox.listDeliveries(directory, id, { countMax: countMax + 1, after });
    return pageOf(storedDeliveries, countMax, deliveryView);
  },
});

export const webhookRoutes: readonly Route<WebhookDeps>[] = [
  listWebhooks,
  createWebhook,
  getWebhook,
  updateWebhook,
  deleteWebhook,
  rotateWebhookSecret,
  testWebhook,
  listDeliveries,
];

/** What making and changing webhooks needs. */
function webhookDeps({ signInDeps: { directory, masterKey }, arePrivateAddressesAllowed }: WebhookDeps) {
  return { directory, masterKey, arePrivateAddressesAllowed };
}

async function webhookOf(
  { signInDeps }: WebhookDeps,
  { params }: ManagedCall<unknown>,
): Promise<webhooks.Webhook> {
  const storedWebhook = await webhooks.webhooksOf(signInDeps.directory).find(params.id ?? '');
  if (storedWebhook === null) throw notFound('webhook');
  return storedWebhook.value;
}

function changed(result: webhooks.WebhookChangeResult, masterKey: Uint8Array) {
  switch (result.kind) {
    case 'changed':
      return webhookView(result.webhook, webhooks.urlOfWebhook(masterKey, result.webhook));
    case 'invalid':
      throw invalidBody(result);
    case 'unknown':
      throw notFound('webhook');
    case 'conflict':
      throw conflict();
  }
}
