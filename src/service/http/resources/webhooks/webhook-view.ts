// Turns webhooks and their deliveries into replies. INVARIANT: only those who may change a webhook see all of
// its address, which often holds a secret.

import { grantOf } from '../../../people/operations.ts';
import type { Delivery } from '../../../webhooks/outbox.ts';
import {
  urlOfWebhook,
  type Webhook,
  type WebhookMade,
  webhookEvents,
  webhookFormats,
} from '../../../webhooks/webhook.ts';
import type { JsonSchema, OperationReply } from '../../contract/operation.ts';
import {
  idParameter,
  objectSchema,
  text,
  textOrNull,
  time,
  timeOrNull,
  timeText,
  timeTextOrNull,
} from '../../contract/schemas.ts';
import { actorOf, type ManagedCall } from '../../routing/route.ts';

export const eventsSchema: JsonSchema = {
  type: 'array',
  items: { type: 'string', enum: webhookEvents },
  maxItems: 10,
};

export const formatSchema: JsonSchema = {
  type: 'string',
  enum: webhookFormats,
  description: '`standard`: signed (Standard Webhooks). `chat`: `{"text": ...}`, as Slack takes it.',
};

export const webhookSchema = objectSchema({
  id: text(100),
  url: text(2_000),
  format: formatSchema,
  events: eventsSchema,
  status: { type: 'string', enum: ['active', 'disabled'] },
  disabled_because: textOrNull,
  failing_since: timeOrNull,
  created_at: time,
  created_by: text(100),
});

export const webhookExample = {
  id: '77eb0000-0000-4000-8000-000000000000',
  url: 'https://hooks.example.com/writ',
  format: 'standard',
  events: ['request.pending'],
  status: 'active',
  disabled_because: null,
  failing_since: null,
  created_at: '2026-03-02T10:00:00.000Z',
  created_by: 'b3f1c2d4-0000-4000-8000-000000000000',
};

export const webhookId = idParameter('The id in the list.', webhookExample.id);

export const webhookReply: OperationReply = {
  description: 'The webhook',
  schema: webhookSchema,
  example: webhookExample,
};

export const deliverySchema = objectSchema({
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

export const deliveryExample = {
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

export function shownTo(call: ManagedCall<unknown>, webhook: Webhook, masterKey: Uint8Array) {
  const isWhole = grantOf(actorOf(call).roles, 'webhooks.change') === 'yes';
  return shownWebhook(webhook, isWhole ? urlOfWebhook(masterKey, webhook) : `${webhook.origin}/...`);
}

export function shownWebhook(webhook: Webhook, url: string) {
  const { id, format, events, status, disabledBecause, failingSinceMs, createdAtMs, createdBy } = webhook;
  return {
    id,
    url,
    format,
    events: [...events],
    status,
    disabled_because: disabledBecause,
    failing_since: timeTextOrNull(failingSinceMs),
    created_at: timeText(createdAtMs),
    created_by: createdBy,
  };
}

export function shownSecret({ webhook, secret }: WebhookMade, masterKey: Uint8Array) {
  return { webhook: shownWebhook(webhook, urlOfWebhook(masterKey, webhook)), secret };
}

export function shownDelivery(delivery: Delivery) {
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

export function secretReply(description: string): OperationReply {
  return {
    description,
    schema: objectSchema({
      webhook: webhookSchema,
      secret: { ...textOrNull, description: 'Null of a chat channel, which checks none.' },
    }),
    example: { webhook: webhookExample, secret: `whsec_${'A'.repeat(43)}=` },
  };
}
