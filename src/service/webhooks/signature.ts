// Signs messages as Standard Webhooks (standardwebhooks.com) defines: `v1,` and HMAC-SHA256 in base64 over
// `<id>.<seconds>.<body>`. The key is the base64 text after `whsec_`. During a rotation both secrets sign.

import { createHmac, randomBytes } from 'node:crypto';

const prefix = 'whsec_';
/** The specification asks for 24 to 64 bytes. */
const secretBytes = 32;

/** Returns a new secret in the form in which receivers configure it. */
export function createWebhookSecret(): string {
  return prefix + randomBytes(secretBytes).toString('base64');
}

export interface WebhookMessage {
  /** The same at every attempt, so that a receiver takes the message only once. */
  readonly id: string;
  /** Time of this attempt, in seconds since 1970-01-01T00:00Z. */
  readonly atSeconds: number;
  /** The bytes that are sent, as text. */
  readonly body: string;
}

/** Returns the HTTP headers of an attempt. */
export function webhookHeaders(
  message: WebhookMessage,
  secrets: readonly string[],
): Readonly<Record<string, string>> {
  return {
    'webhook-id': message.id,
    'webhook-timestamp': String(message.atSeconds),
    'webhook-signature': secrets.map((secret) => signatureOf(message, secret)).join(' '),
  };
}

function signatureOf({ id, atSeconds, body }: WebhookMessage, secret: string): string {
  const key = Buffer.from(secret.slice(prefix.length), 'base64');
  return `v1,${createHmac('sha256', key).update(`${id}.${atSeconds}.${body}`).digest('base64')}`;
}
