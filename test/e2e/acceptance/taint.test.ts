// A session that has read untrusted data sends nothing until people have cleansed it: through restarts and
// kills, while results are not reported yet, and whatever other session the agent names.

import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { openStore } from '../../../src/service/store/open.ts';
import { type Client, client, firstAdmin, personWith } from '../../service/http/person-client.ts';
import { locationOfStore } from '../../service/store/place.ts';
import { addAgent, type Service, startService, temporary } from './service.ts';

const text = `
approvers security "Security"
action web.fetch { url: url } result { labels: [string] }
action session.cleared { note: string }
action mail.send { to: email }
meter tainted = count() of web.fetch when "untrusted" in result.labels since session.cleared per session over 8h
policy reading on web.fetch { allow all }
policy clearing on session.cleared { allow looked_at after approval by security within 4h }
policy sending on mail.send {
  allow clean when request.point == "gateway" and tainted == 0
  deny tainted_session when tainted > 0 because "this session has read what nobody vouches for"
}
`;

const data = temporary('taint');
const policies = temporary('taint-policies');
let service: Service;
let agentKey: string;
let pointKey: string;
let admin: Readonly<Record<string, string>>;
let security: Readonly<Record<string, string>>;

beforeAll(async () => {
  writeFileSync(join(policies, 'taint.policy'), text);
  service = await startService({ policies, data });
  agentKey = await addAgent(data, 'helper');
  const store = await openStore(await locationOfStore(data));
  try {
    const at = { url: service.url, store };
    const first = await firstAdmin(at);
    admin = (await personWith(at, first, { email: 'olga@example.com', roles: ['operator'] })).headers;
    const groups = ['security'];
    security = (await personWith(at, first, { email: 'sam@example.com', roles: ['approver'], groups }))
      .headers;
  } finally {
    await store.close();
  }
  const body = { name: 'gateway', agents: ['helper'] };
  pointKey = (await as(admin).send('/v1/enforcement-points', { method: 'POST', body })).body.api_key;
}, 120_000);

afterAll(async () => {
  await service.end('SIGTERM');
});

const as = (headers: Readonly<Record<string, string>>): Client => client(service, headers);

/** A call by the gateway, in one of its sessions. */
const gateway = (session: string) =>
  as({ 'x-agent-api-key': pointKey, 'x-writ-agent': 'helper', 'x-agent-session': session });

/** A call with the agent's own key. */
const alone = (session: string) => as({ 'x-agent-api-key': agentKey, 'x-agent-session': session });

async function ask(by: Client, action: string, payload: object): Promise<{ id: string; decision: string }> {
  const { status, body } = await by.send('/v1/authorize', {
    method: 'POST',
    body: { action_key: action, payload },
  });
  if (status !== 200) throw new Error(JSON.stringify(body));
  return { id: body.request_id, decision: body.decision };
}

const send = async (by: Client) => (await ask(by, 'mail.send', { to: 'x@example.com' })).decision;
const fetched = async (by: Client) => await ask(by, 'web.fetch', { url: 'https://a.example.com/' });

async function report(by: Client, id: string, labels: readonly string[]): Promise<void> {
  const body = { executed: true, result: { labels } };
  const reply = await by.send(`/v1/requests/${id}/outcome`, { method: 'POST', body });
  expect(reply.status, JSON.stringify(reply.body)).toBeLessThan(300);
}

async function restart(signal: 'SIGKILL' | 'SIGTERM'): Promise<void> {
  await service.end(signal);
  service = await startService({ policies, data });
}

async function cleanse(session: string): Promise<void> {
  const { id, decision } = await ask(gateway(session), 'session.cleared', { note: 'looked at' });
  expect(decision).toBe('ESCALATE');
  // A cleansing that still waits for people has no effect.
  expect(await send(gateway(session))).toBe('DENY');
  const body = { comment: 'nothing in it' };
  const reply = await as(security).send(`/v1/requests/${id}/approve`, { method: 'POST', body });
  expect([reply.status, reply.body.status]).toEqual([200, 'approved']);
}

it.each(['SIGKILL', 'SIGTERM'] as const)(
  'nothing leaves a tainted session until it is cleansed, across %s',
  async (signal) => {
    const session = `tainted-${signal}`;
    expect(await send(gateway(session))).toBe('ALLOW');
    const read = await fetched(gateway(session));
    // The result of a call is not reported yet.
    expect(await send(gateway(session))).toBe('DENY');
    await restart(signal);
    expect(await send(gateway(session))).toBe('DENY');
    await report(gateway(session), read.id, ['untrusted']);
    expect(await send(gateway(session))).toBe('DENY');
    await restart(signal);
    expect(await send(gateway(session))).toBe('DENY');
    // Another session of the gateway is not tainted.
    expect(await send(gateway(`${session}-other`))).toBe('ALLOW');
    await cleanse(session);
    // In the millisecond of the restart itself both readings are possible.
    await expect.poll(() => send(gateway(session))).toBe('ALLOW');
    await restart(signal);
    expect(await send(gateway(session))).toBe('ALLOW');
    const again = await fetched(gateway(session));
    await report(gateway(session), again.id, ['untrusted']);
    expect(await send(gateway(session))).toBe('DENY');
  },
);

it('a call interrupted by the end of the process taints the session until its result is reported', async () => {
  const session = 'pending';
  const calls = await Promise.all(Array.from({ length: 8 }, () => fetched(gateway(session))));
  await restart('SIGKILL');
  for (const [at, { id }] of calls.entries()) {
    expect(await send(gateway(session))).toBe('DENY');
    await report(gateway(session), id, at === 0 ? ['trusted', 'other'] : []);
  }
  // All results have been reported as clean.
  expect(await send(gateway(session))).toBe('ALLOW');
});

it('the agent gains nothing from another session, no session, or asking without the proxy', async () => {
  const session = 'bound';
  const read = await fetched(gateway(session));
  await report(gateway(session), read.id, ['untrusted']);
  expect(await send(gateway(session))).toBe('DENY');
  for (const named of ['fresh', session]) expect(await send(alone(named))).toBe('DENY');
  expect(await send(as({ 'x-agent-api-key': agentKey }))).toBe('DENY');
  const posing = await alone(`point:${session}`).send('/v1/authorize', {
    method: 'POST',
    body: { action_key: 'mail.send', payload: { to: 'x@example.com' } },
  });
  expect(posing.status).toBe(400);
  // The agent cannot report a result for the gateway either, and cleansing its own session has no effect on
  // the gateway's.
  const open = await fetched(gateway(session));
  const body = { executed: true, result: { labels: [] } };
  const reported = await alone(session).send(`/v1/requests/${open.id}/outcome`, { method: 'POST', body });
  expect(reported.status).toBe(404);
  const own = await ask(alone(session), 'session.cleared', { note: 'mine' });
  const approved = await as(security).send(`/v1/requests/${own.id}/approve`, {
    method: 'POST',
    body: { comment: 'of its own session' },
  });
  expect(approved.status).toBe(200);
  expect(await send(gateway(session))).toBe('DENY');
});

it('a pushed row is still there after a crash', async () => {
  writeFileSync(
    join(policies, 'orders.policy'),
    `action order.see { id: string }
table orders pushed by "gateway" key id: string { owner: string }
policy seeing on order.see { allow own when orders[payload.id].owner == agent.name }
`,
  );
  await restart('SIGTERM');
  const see = async (id: string) => (await ask(gateway('rows'), 'order.see', { id })).decision;
  const headers = { 'x-agent-api-key': pointKey };
  for (const [at, owner] of ['helper', 'another', 'helper'].entries()) {
    const path = `/v1/tables/orders/o-${at}`;
    expect((await as(headers).send(path, { method: 'PUT', body: { owner } })).status).toBe(200);
  }
  expect((await as(headers).send('/v1/tables/orders/o-2', { method: 'DELETE' })).status).toBe(204);
  await restart('SIGKILL');
  expect(await Promise.all(['o-0', 'o-1', 'o-2', 'o-3'].map(see))).toEqual(['ALLOW', 'DENY', 'DENY', 'DENY']);
});
