// GET /v1/requests/{id}: the current state of a request, for its own agent only, and the wait for a change.

import { expect, test } from 'vitest';
import { addAgent } from '../../../src/service/agents/registry.ts';
import { authorize, problemOf, type Service, startService } from './service.ts';

const escalated = '{"action_key":"demo.escalate","payload":{"amount":5}}';

async function ask(service: Service, sent = escalated): Promise<Record<string, unknown>> {
  return (await (await authorize(service, { body: sent })).json()) as Record<string, unknown>;
}

function look(service: Service, id: unknown, headers: Record<string, string> = {}): Promise<Response> {
  return fetch(`${service.url}/v1/requests/${id}`, {
    headers: { 'x-agent-api-key': service.apiKey, ...headers },
  });
}

test('returns the eight fields of the contract, and more behind them', async () => {
  const service = await startService();
  const view = await ask(service);
  const reply = await look(service, view.request_id);
  expect(reply.status).toBe(200);
  expect(reply.headers.get('ratelimit')).toContain('"agent"');
  expect(reply.headers.get('preference-applied')).toBeNull();
  expect(await reply.json()).toMatchObject({
    ...view,
    action_key: 'demo.escalate',
    payload: { amount: 5 },
    agent: { name: 'buyer' },
    approvals: [],
    decided_at: null,
    policy_set: { digest: service.policies.state().digest },
  });
});

test('a request of another agent, an unknown id and a long id are not found', async () => {
  const service = await startService();
  const { request_id } = await ask(service);
  const other = await addAgent(service.store, {
    name: 'other',
    riskTier: 'low',
    controlOwner: 'ops',
    tags: [],
  });
  const key = other.kind === 'added' ? other.apiKey : '';
  const codes = [
    await problemOf(await look(service, request_id, { 'x-agent-api-key': key })),
    await problemOf(await look(service, '0190a0a0-0000-7000-8000-000000000000')),
    await problemOf(await look(service, 'x'.repeat(500))),
    await problemOf(await look(service, 'x'.repeat(6_001))),
    await problemOf(await look(service, '%zz')),
  ];
  expect(codes.map(({ status, code }) => [status, code])).toEqual([
    [404, 'request_not_found'],
    [404, 'request_not_found'],
    [404, 'request_not_found'],
    [404, 'unknown_route'],
    [400, 'malformed_request'],
  ]);
  expect((await problemOf(await look(service, request_id, { 'x-agent-api-key': '' }))).status).toBe(401);
});

test('a long poll lasts while the request is pending, at most as long as asked', async () => {
  const service = await startService();
  const { request_id } = await ask(service);
  const start = performance.now();
  const reply = await look(service, request_id, { prefer: 'respond-async, wait=1' });
  expect(performance.now() - start).toBeGreaterThan(950);
  expect(reply.headers.get('preference-applied')).toBe('wait=1');
  expect(await reply.json()).toMatchObject({ status: 'pending' });
});

test('a decided request is answered at once, and a wait is at most 55 s', async () => {
  const service = await startService();
  const { request_id } = await ask(service, '{"action_key":"demo.allow","payload":{}}');
  const start = performance.now();
  const reply = await look(service, request_id, { prefer: 'wait=900' });
  expect(performance.now() - start).toBeLessThan(500);
  expect(reply.headers.get('preference-applied')).toBe('wait=55');
});

test('a long poll ends when the request is decided', async () => {
  const start = Date.now();
  let skewMs = 0;
  const service = await startService({ clock: () => Date.now() + skewMs });
  const { request_id } = await ask(service);
  const waiting = look(service, request_id, { prefer: 'wait=20' });
  await new Promise((resolve) => setTimeout(resolve, 100));
  skewMs = 2 * 3_600_000;
  expect(await (await waiting).json()).toMatchObject({ status: 'expired' });
  expect(Date.now() - start).toBeLessThan(5_000);
});

test('stopping the service ends a long poll with a reply', async () => {
  const service = await startService();
  const { request_id } = await ask(service);
  const waiting = look(service, request_id, { prefer: 'wait=20' });
  await new Promise((resolve) => setTimeout(resolve, 100));
  const start = performance.now();
  await service.close();
  expect(await (await waiting).json()).toMatchObject({ status: 'pending' });
  expect(performance.now() - start).toBeLessThan(3_000);
});

test('POST waits if asked to, and then returns the status of the request', async () => {
  let skewMs = 0;
  const service = await startService({ clock: () => Date.now() + skewMs });
  const asking = authorize(service, { headers: { prefer: 'wait=20' }, body: escalated });
  await new Promise((resolve) => setTimeout(resolve, 200));
  skewMs = 2 * 3_600_000;
  const reply = await asking;
  expect(reply.headers.get('preference-applied')).toBe('wait=20');
  expect(reply.headers.get('location')).toBeNull();
  // Nobody approved in time: the request is refused, and the reply uses one of the three decisions of a POST.
  expect(await reply.json()).toMatchObject({ decision: 'DENY', status: 'rejected' });
});

test('the wait of a POST ends with the request still pending, or when the service stops', async () => {
  const service = await startService();
  const reply = await authorize(service, { headers: { prefer: 'wait=1' }, body: escalated });
  const view = (await reply.json()) as Record<string, unknown>;
  expect(view).toMatchObject({ decision: 'ESCALATE', status: 'pending' });
  expect(reply.headers.get('location')).toBe(`/v1/requests/${view.request_id}`);
  const waiting = authorize(service, { headers: { prefer: 'wait=50' }, body: escalated });
  const { agent, store } = service;
  await expect.poll(() => store.requests.countOpen(agent.id, Date.now())).toBe(2);
  const [answered] = await Promise.all([waiting, service.close()]);
  expect(await answered.json()).toMatchObject({ status: 'pending' });
});

test('a POST that is decided at once does not wait', async () => {
  const service = await startService();
  const start = performance.now();
  const reply = await authorize(service, { headers: { prefer: 'wait=20' } });
  expect(await reply.json()).toMatchObject({ decision: 'ALLOW' });
  expect(performance.now() - start).toBeLessThan(5_000);
});
