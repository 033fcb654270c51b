// Checks that a request comes from Slack, as https://docs.slack.dev/authentication/verifying-requests-from-slack defines:
// `v0=` and HMAC-SHA256 in hexadecimal, with the signing secret, over `v0:<timestamp>:<body>`. INVARIANT: the bytes that
// are checked are the bytes that are read later; the comparison takes the same time wherever the texts differ.

import { createHmac, timingSafeEqual } from 'node:crypto';
import type { SentDelivery } from '../chat-delivery.ts';

/** How far the time of a request may be from that of the service, in milliseconds. */
export const toleranceMs = 5 * 60_000;
const signatureForm = /^v0=[0-9a-f]{64}$/;
const timestampForm = /^\d{1,12}$/;

/** The signature of a genuine request; null for any other. */
export function slackSignature(
  signingSecret: string,
  { headers, body }: SentDelivery,
  nowMs: number,
): string | null {
  const signature = headers['x-slack-signature'];
  const timestamp = headers['x-slack-request-timestamp'];
  if (typeof signature !== 'string' || !signatureForm.test(signature)) return null;
  if (typeof timestamp !== 'string' || !timestampForm.test(timestamp)) return null;
  if (Math.abs(nowMs - Number(timestamp) * 1_000) > toleranceMs) return null;
  const expected = createHmac('sha256', signingSecret).update(`v0:${timestamp}:`).update(body).digest();
  return timingSafeEqual(expected, Buffer.from(signature.slice(3), 'hex')) ? signature : null;
}
