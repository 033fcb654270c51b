// The signature of Standard Webhooks, compared with the test vector of its libraries.

import { describe, expect, it } from 'vitest';
import { createWebhookSecret, webhookHeaders } from '../../../src/service/webhooks/signature.ts';

const message = {
  id: 'msg_p5jXN8AQM9LWM0D4loKWxJek',
  atSeconds: 1614265330,
  body: '{"test": 2432232314}',
};
const secret = 'whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw';
const signature = 'v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE=';

describe('a webhook', () => {
  it('is signed as the specification says', () => {
    expect(webhookHeaders(message, [secret])).toEqual({
      'webhook-id': message.id,
      'webhook-timestamp': '1614265330',
      'webhook-signature': signature,
    });
  });

  it('is signed with both secrets while one takes over from the other', () => {
    const other = createWebhookSecret();
    const signatures = webhookHeaders(message, [other, secret])['webhook-signature']?.split(' ');
    expect(signatures).toHaveLength(2);
    expect(signatures?.[1]).toBe(signature);
    expect(signatures?.[0]).not.toBe(signature);
  });

  it('has a secret of 32 random bytes', () => {
    const made = createWebhookSecret();
    expect(Buffer.from(made.replace('whsec_', ''), 'base64')).toHaveLength(32);
    expect(createWebhookSecret()).not.toBe(made);
  });
});
