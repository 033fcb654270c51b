// `Prefer: attach` and withdrawing, over HTTP: an approval is used once, however many requests attach to it
// and wherever they come from.

import { describe, expect, test } from 'vitest';
import { connect } from '../../../integrations/typescript/client.ts';
import { setSigning } from '../../../src/service/agents/registry.ts';
import { firstAdmin, personWith, signedIn } from './person-client.ts';
import { authorize, type Service, startService } from './service.ts';
import { codeOf, give, look, type View } from './written-policies.ts';

interface Asked {
  readonly payload?: object;
  readonly prefer?: string;
  readonly headers?: Readonly<Record<string, string>>;
}

async function ask(service: Service, { payload = { n: 1 }, prefer = 'attach', headers = {} }: Asked = {}) {
  const body = JSON.stringify({ action_key: 'demo.escalate', payload });
  const reply = await authorize(service, { body, headers: { prefer, ...headers } });
  if (reply.status !== 200) throw new Error(await reply.text());
  return (await reply.json()) as View;
}

async function withApprover(): Promise<{ service: Service; approve: (id: string) => Promise<void> }> {
  const service = await startService();
  const admin = await firstAdmin(service);
  const who = { email: 'ben@example.com', roles: ['approver'], groups: ['finance'] } as const;
  const ben = await personWith(service, admin, who);
  const approve = async (id: string) => {
    expect(codeOf(await give(ben, id, 'approve'))).toEqual([200, 'approved']);
  };
  return { service, approve };
}

const usedOf = (views: readonly View[]) => views.filter(({ decision }) => decision === 'ALLOW').length;

describe('Prefer: attach', () => {
  test('the same payload is the same request in any order of members; another payload is another request', async () => {
    const service = await startService();
    const first = await ask(service, { payload: { a: 1, b: [2] } });
    const again = await ask(service, { payload: { b: [2], a: 1 } });
    const other = await ask(service, { payload: { a: 1, b: [3] } });
    const apart = await ask(service, { payload: { a: 1, b: [2] }, prefer: 'wait=0' });
    expect(again.request_id).toBe(first.request_id);
    expect(new Set([first, other, apart].map(({ request_id }) => request_id)).size).toBe(3);
  });

  test('concurrent equal calls create one request', async () => {
    const service = await startService();
    const views = await Promise.all(Array.from({ length: 20 }, () => ask(service)));
    expect(new Set(views.map(({ request_id }) => request_id)).size).toBe(1);
  });

  test('an approval is used once by concurrent calls', async () => {
    const { service, approve } = await withApprover();
    const { request_id: id } = await ask(service);
    await approve(id);
    const views = await Promise.all(Array.from({ length: 20 }, () => ask(service)));
    expect(usedOf(views)).toBe(1);
    expect(views.find(({ decision }) => decision === 'ALLOW')).toMatchObject({
      request_id: id,
      status: 'auto_approved',
    });
    const { body } = await look(service, id);
    expect(body.status).toBe('consumed');
    // The second request does not reuse the consumed approval; it waits for a new one.
    expect(new Set(views.map(({ request_id }) => request_id)).size).toBe(2);
  });

  test('one of all waiting calls gets the grant', async () => {
    const { service, approve } = await withApprover();
    const { request_id: id } = await ask(service);
    const waiting = Array.from({ length: 10 }, () => ask(service, { prefer: 'attach, wait=20' }));
    await new Promise((resolve) => setTimeout(resolve, 500));
    await approve(id);
    const views = await Promise.all(waiting);
    expect(usedOf(views)).toBe(1);
    for (const { decision, status } of views.filter((view) => view.decision !== 'ALLOW'))
      expect([decision, status]).toEqual(['DENY', 'rejected']);
  });

  test('a retry with the same key gets the same grant until its outcome is reported', async () => {
    const { service, approve } = await withApprover();
    const headers = { 'idempotency-key': 'call-1' };
    const { request_id: id } = await ask(service, { headers });
    await approve(id);
    for (let times = 0; times < 3; times += 1)
      expect(await ask(service, { headers })).toMatchObject({ request_id: id, decision: 'ALLOW' });
    // Another idempotency key is another call.
    expect(await ask(service, { headers: { 'idempotency-key': 'call-2' } })).toMatchObject({
      decision: 'ESCALATE',
    });
    const reply = await fetch(`${service.url}/v1/requests/${id}/outcome`, {
      method: 'POST',
      headers: { 'x-agent-api-key': service.apiKey, 'content-type': 'application/json' },
      body: '{"executed":true}',
    });
    expect(reply.status).toBe(200);
    expect(await ask(service, { headers })).toMatchObject({ request_id: expect.anything() });
    expect((await ask(service, { headers })).decision).not.toBe('ALLOW');
  });

  test('a request that is granted at once is decided again each time', async () => {
    const service = await startService();
    const body = '{"action_key":"demo.allow","payload":{}}';
    const ids = new Set<string>();
    for (let times = 0; times < 2; times += 1) {
      const view = (await (await authorize(service, { body, headers: { prefer: 'attach' } })).json()) as View;
      ids.add(view.request_id);
    }
    expect(ids.size).toBe(2);
  });

  test('a kill switch does not use up the approval, which is valid again afterwards', async () => {
    const { service, approve } = await withApprover();
    const { request_id: id } = await ask(service);
    await approve(id);
    const admin = await signedIn(service, 'ann@example.com');
    const on = await admin.send('/v1/kill-switches', {
      method: 'POST',
      body: { scope: 'area:demo', reason: 'stop' },
    });
    await expect(ask(service)).rejects.toThrow('stopped');
    expect((await look(service, id)).body.status).toBe('approved');
    await admin.send(`/v1/kill-switches/${on.body.id}/deactivate`, {
      method: 'POST',
      body: { reason: 'checked' },
    });
    expect(await ask(service)).toMatchObject({ request_id: id, decision: 'ALLOW' });
  });
});

test('a caller without the signing secret does not join a signed request', async () => {
  const { service, approve } = await withApprover();
  const change = await setSigning(service.store, {
    agentId: service.agent.id,
    signing: 'optional',
    nowMs: Date.now(),
  });
  const signingSecret = change.kind === 'changed' ? (change.signingSecret ?? '') : '';
  const { url, apiKey: key } = service;
  const signing = connect({ url, key, signingSecret, wait: 0 });
  const signed = await signing.authorize('demo.escalate', { n: 1 });
  if (signed.kind !== 'waiting') throw new Error(JSON.stringify(signed));
  await approve(signed.requestId);
  expect(await connect({ url, key, wait: 0 }).authorize('demo.escalate', { n: 1 })).toMatchObject({
    kind: 'waiting',
    requestId: expect.not.stringContaining(signed.requestId),
  });
  const taken = await signing.authorize('demo.escalate', { n: 1 });
  expect(taken).toMatchObject({ kind: 'allowed', requestId: signed.requestId });
});

describe('POST /v1/requests/{id}/withdraw', () => {
  const withdraw = (service: Service, id: string, key = service.apiKey) =>
    fetch(`${service.url}/v1/requests/${id}/withdraw`, {
      method: 'POST',
      headers: { 'x-agent-api-key': key },
    });

  test('ends the pending request for good', async () => {
    const service = await startService();
    const admin = await firstAdmin(service);
    const who = { email: 'ben@example.com', roles: ['approver'], groups: ['finance'] } as const;
    const ben = await personWith(service, admin, who);
    const { request_id: id } = await ask(service);
    for (let times = 0; times < 2; times += 1) {
      const reply = await withdraw(service, id);
      expect(reply.status).toBe(200);
      expect(await reply.json()).toMatchObject({ status: 'withdrawn' });
    }
    expect(codeOf(await give(ben, id, 'approve'))).toEqual([409, 'conflict']);
    const again = await ask(service, { headers: { 'idempotency-key': 'k' } });
    expect(again.request_id).not.toBe(id);
    expect((await withdraw(service, again.request_id)).status).toBe(200);
    const repeated = await ask(service, { prefer: 'wait=0', headers: { 'idempotency-key': 'k' } });
    expect(repeated).toMatchObject({ decision: 'DENY', status: 'rejected' });
  });

  test('is only for the same agent, and not for granted requests', async () => {
    const { service, approve } = await withApprover();
    const { request_id: id } = await ask(service);
    const admin = await signedIn(service, 'ann@example.com');
    expect(codeOf(await admin.send(`/v1/requests/${id}/withdraw`, { method: 'POST' }))).toEqual([
      401,
      'missing_api_key',
    ]);
    expect((await withdraw(service, 'no-such-id')).status).toBe(404);
    await approve(id);
    expect((await withdraw(service, id)).status).toBe(409);
  });
});
