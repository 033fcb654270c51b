// The faults of a body, in words and with their place.

import { expect, test } from 'vitest';
import { type Client, firstAdmin, tokenClient } from './person-client.ts';
import { shareService } from './service.ts';

const service = shareService();
let admin: Promise<Client> | null = null;

function signedInAdmin(): Promise<Client> {
  admin ??= firstAdmin(service()).then((first) => tokenClient(service(), first));
  return admin;
}

const rule = { name: 'Many', kind: 'refusals', threshold: 5, minutes: 5 };

test.each<[string, string, object, string, string]>([
  ['POST', '/v1/webhooks', { url: 'https://example.com' }, '/events', 'is missing'],
  [
    'POST',
    '/v1/agents',
    { ...agent(), risk_tier: 'huge' },
    '/risk_tier',
    'must be one of `low`, `medium`, `high`, `critical`',
  ],
  ['POST', '/v1/agents', { ...agent(), name: 5 }, '/name', 'must be a string'],
  ['POST', '/v1/agents', { ...agent(), 'x/y': 1 }, '/x~1y', 'unknown field'],
  ['POST', '/v1/agents', { ...agent(), tags: 'a' }, '/tags', 'must be a list'],
  [
    'POST',
    '/v1/kill-switches',
    { scope: 'all', reason: 'x'.repeat(501) },
    '/reason',
    'must have at most 500 characters',
  ],
  ['POST', '/v1/alert-rules', { ...rule, threshold: 'many' }, '/threshold', 'must be a whole number'],
])('%s %s %# is told in words', async (method, address, body, pointer, detail) => {
  const answer = await (await signedInAdmin()).send(address, { method, body });
  expect([answer.status, answer.body.type]).toEqual([400, 'urn:writ:error:invalid_body']);
  expect(answer.body.errors).toContainEqual({ pointer, detail });
  expect(answer.body.detail).toBe(`\`${answer.body.errors[0].pointer}\`: ${answer.body.errors[0].detail}`);
});

test('a body that is not an object has one error without a place', async () => {
  const answer = await (await signedInAdmin()).send('/v1/agents', { method: 'POST', body: [1] });
  expect(answer.body).toMatchObject({ status: 400, detail: 'the body must be an object' });
});

function agent() {
  return { name: 'buyer', risk_tier: 'low', control_owner: 'ann@example.com', tags: [] };
}
