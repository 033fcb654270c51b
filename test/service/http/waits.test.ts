// Waits of agents and people: a limited number of each, woken by events, with one shared look at the store.

import { connect } from 'node:net';
import { expect, onTestFinished, test, vi } from 'vitest';
import { firstAdmin, personWith } from './person-client.ts';
import { authorize, problemOf, type Service, startService } from './service.ts';
import { give } from './written-policies.ts';

const pollOptions = { timeout: 60_000 };
const escalated = '{"action_key":"demo.escalate","payload":{}}';

async function pending(service: Service): Promise<string> {
  return ((await (await authorize(service, { body: escalated })).json()) as { request_id: string })
    .request_id;
}

const look = (service: Service, id: string, prefer = 'wait=50') =>
  fetch(`${service.url}/v1/requests/${id}`, { headers: { 'x-agent-api-key': service.apiKey, prefer } });

test('an agent has a maximum number of long polls on both addresses, and can open another after one ends', async () => {
  const service = await startService({ waitsMax: 3 });
  const id = await pending(service);
  const leaving = new AbortController();
  const held = [1, 2, 3].map(() =>
    fetch(`${service.url}/v1/requests/${id}`, {
      headers: { 'x-agent-api-key': service.apiKey, prefer: 'wait=50' },
      signal: leaving.signal,
    }).catch(() => null),
  );
  await vi.waitFor(async () => {
    const refused = await problemOf(await look(service, id, 'wait=1'));
    expect(refused).toMatchObject({ status: 429, code: 'too_many_waits' });
    expect(refused.headers.get('retry-after')).toBe('1');
  }, pollOptions);
  const refused = await problemOf(
    await authorize(service, { headers: { prefer: 'wait=5' }, body: escalated }),
  );
  expect(refused.code).toBe('too_many_waits');
  expect((await look(service, id, 'respond-async')).status).toBe(200);
  leaving.abort();
  await Promise.all(held);
  await vi.waitFor(async () => expect((await look(service, id, 'wait=1')).status).toBe(200), pollOptions);
});

test('a long poll is ended by the decision, without polling the store', async () => {
  const service = await startService();
  const admin = await firstAdmin(service);
  const ben = await personWith(service, admin, {
    email: 'ben@example.com',
    roles: ['approver'],
    groups: ['finance'],
  });
  const id = await pending(service);
  const history = vi.spyOn(service.store.requests, 'history');
  const waiting = Array.from({ length: 40 }, () => look(service, id));
  // Each wait looks at the store when it arrives, and once more when it begins to wait.
  await vi.waitFor(() => expect(history.mock.calls.length).toBeGreaterThanOrEqual(40), pollOptions);
  await new Promise((resolve) => setTimeout(resolve, 1_000));
  const before = history.mock.calls.length;
  await new Promise((resolve) => setTimeout(resolve, 2_000));
  expect(history.mock.calls.length - before).toBe(0);
  await give(ben, id, 'approve');
  const replies = await Promise.all(waiting);
  for (const reply of replies) expect(await reply.json()).toMatchObject({ status: 'approved' });
  // A few looks for the approval itself, and one for all that wait.
  expect(history.mock.calls.length - before).toBeLessThan(20);
});

test('a long poll ends with a decision of another process', async () => {
  const service = await startService();
  const id = await pending(service);
  const waiting = look(service, id);
  await new Promise((resolve) => setTimeout(resolve, 1_200));
  // No event in this process announces the change.
  expect(await service.store.requests.expireDue(Number.MAX_SAFE_INTEGER, 10)).toEqual([id]);
  expect(await (await waiting).json()).toMatchObject({ request_id: id, status: 'expired' });
});

test('thousands of long polls on one connection are handled in turns', async () => {
  const service = await startService();
  const id = await pending(service);
  const history = vi.spyOn(service.store.requests, 'history');
  const socket = connect({ port: service.port, host: '127.0.0.1' });
  onTestFinished(() => void socket.destroy());
  const one = `GET /v1/requests/${id} HTTP/1.1\r\nHost: x\r\nX-Agent-API-Key: ${service.apiKey}\r\nPrefer: wait=50\r\n\r\n`;
  socket.write(one.repeat(2_000));
  await vi.waitFor(() => expect(history.mock.calls.length).toBeGreaterThan(0), pollOptions);
  await new Promise((resolve) => setTimeout(resolve, 500));
  expect(history.mock.calls.length).toBeLessThan(10);
  expect((await authorize(service)).status).toBe(200);
});
