// Enforcement points over HTTP: they use keys of their own to ask for the agents that are assigned to them,
// in sessions that no agent can name. Only the point that asked can see the requests.

import { beforeAll, describe, expect, test, vi } from 'vitest';
import { addAgent, rotateKey, setSigning } from '../../../src/service/agents/registry.ts';
import { verifyChain } from '../../../src/service/audit/verify.ts';
import { type Client, firstAdmin, personWith, send, signedIn } from './person-client.ts';
import {
  authorize,
  policyText,
  problemOf,
  recordOf,
  type Service,
  shareService,
  wrongKey,
} from './service.ts';
import { codeOf, give, usePolicies, type View } from './written-policies.ts';

const shared = shareService({ openRequestsMax: 1_000 });
let service: Service;
let operator: Client;
let ben: Client;

beforeAll(async () => {
  service = shared();
  const admin = await firstAdmin(service);
  await personWith(service, admin, { email: 'olga@example.com', roles: ['operator'], groups: [] });
  await personWith(service, admin, { email: 'ben@example.com', roles: ['approver'], groups: ['finance'] });
  operator = await signedIn(service, 'olga@example.com');
  ben = await signedIn(service, 'ben@example.com');
});

let registered = 0;

interface Registered {
  readonly id: string;
  readonly name: string;
  readonly key: string;
}

async function register(agents: readonly string[] = ['buyer']): Promise<Registered> {
  registered += 1;
  const name = `proxy-${registered}`;
  const { status, body } = await operator.send('/v1/enforcement-points', {
    method: 'POST',
    body: { name, agents },
  });
  expect(status).toBe(201);
  return { id: body.point.id, name, key: body.api_key };
}

function act(point: Registered, path: string, body: object = {}, method = 'POST') {
  return operator.send(`/v1/enforcement-points/${point.id}${path}`, { method, body });
}

interface Asked {
  readonly action?: string;
  readonly payload?: object;
  readonly agent?: string | null;
  readonly headers?: Readonly<Record<string, string>>;
}

function ask(
  key: string,
  { action = 'demo.allow', payload = {}, agent = 'buyer', headers = {} }: Asked = {},
): Promise<Response> {
  return authorize(service, {
    key,
    body: JSON.stringify({ action_key: action, payload }),
    headers: { ...(agent === null ? {} : { 'x-writ-agent': agent }), ...headers },
  });
}

async function viewOf(reply: Response): Promise<View> {
  if (reply.status !== 200) throw new Error(await reply.text());
  return (await reply.json()) as View;
}

const codeIn = async (reply: Promise<Response>) => (await problemOf(await reply)).code;

test('a point asks for an agent by name or id, and the record names the point', async () => {
  const point = await register();
  for (const agent of ['buyer', service.agent.id]) {
    const { request_id: id, decision } = await viewOf(await ask(point.key, { agent }));
    expect(decision).toBe('ALLOW');
    expect(await recordOf(service, id)).toMatchObject({
      agentId: service.agent.id,
      point: { id: point.id, name: point.name },
      key: { id: point.key.slice(0, 'writpep_'.length + 8) },
    });
    const { body } = await operator.send(`/v1/requests/${id}`);
    expect(body.point).toEqual({ id: point.id, name: point.name });
  }
  const own = await viewOf(await ask(service.apiKey, { agent: null }));
  expect((await operator.send(`/v1/requests/${own.request_id}`)).body.point).toBeNull();
});

describe('who may act for whom', () => {
  test('an agent must be named, assigned and known; the last two have the same refusal', async () => {
    const point = await register();
    await addAgent(service.store, { name: 'third', riskTier: 'low', controlOwner: 'ops', tags: [] });
    expect(await codeIn(ask(point.key, { agent: null }))).toBe('invalid_header');
    const other = await problemOf(await ask(point.key, { agent: 'third' }));
    const none = await problemOf(await ask(point.key, { agent: 'nobody' }));
    expect([other.code, other.status]).toEqual(['agent_not_assigned', 403]);
    expect({ ...other.body, instance: '' }).toEqual({ ...none.body, instance: '' });
    expect((await act(point, '', { agents: ['buyer', 'third'] }, 'PATCH')).body.agents).toHaveLength(2);
    expect((await ask(point.key, { agent: 'third' })).status).toBe(200);
  });

  test('an agent key cannot ask for other agents', async () => {
    await addAgent(service.store, { name: 'other', riskTier: 'low', controlOwner: 'ops', tags: [] });
    expect(await codeIn(ask(service.apiKey, { agent: 'other' }))).toBe('agent_not_assigned');
    expect((await ask(service.apiKey, { agent: 'buyer' })).status).toBe(200);
    expect((await ask(service.apiKey, { agent: service.agent.id })).status).toBe(200);
  });

  test.each([
    ['disabled', (point: Registered) => act(point, '/disable'), 'point_not_active'],
    ['revoked', (point: Registered) => act(point, '/revoke', { name: point.name }), 'point_not_active'],
    [
      'not for the agent',
      (point: Registered) => act(point, '', { agents: [] }, 'PATCH'),
      'agent_not_assigned',
    ],
    ['rotated', (point: Registered) => act(point, '/keys', { grace_seconds: 0 }), 'invalid_api_key'],
  ])('a point that is %s is granted nothing, here and in what waits', async (_, change, code) => {
    const point = await register();
    const { request_id: id } = await viewOf(await ask(point.key, { action: 'demo.escalate' }));
    expect((await change(point)).status).toBeLessThan(300);
    expect(await codeIn(ask(point.key))).toBe(code);
    // A new key of the point does not affect a request that waits.
    expect(codeOf(await give(ben, id, 'approve'))).toEqual(
      code === 'invalid_api_key' ? [200, 'approved'] : [403, 'stopped'],
    );
  });

  test('a disabled point can be enabled, a revoked one cannot; its name confirms the revocation', async () => {
    const point = await register();
    await act(point, '/disable');
    expect((await act(point, '/enable')).body.status).toBe('active');
    expect((await ask(point.key)).status).toBe(200);
    expect((await act(point, '/revoke', { name: 'another' })).status).toBe(400);
    await act(point, '/revoke', { name: point.name });
    for (const path of ['/enable', '/disable', '/keys']) expect((await act(point, path)).status).toBe(409);
  });

  test('a kill switch on the agent stops its requests by the point', async () => {
    const { store } = service;
    const added = await addAgent(store, { name: 'stopped', riskTier: 'low', controlOwner: 'ops', tags: [] });
    if (added.kind !== 'added') throw new Error(added.kind);
    const { agent } = added;
    const point = await register(['stopped']);
    const asked = { agent: 'stopped' };
    await setSigning(store, { agentId: agent.id, signing: 'required', nowMs: Date.now() });
    expect(await codeIn(ask(point.key, asked))).toBe('invalid_signature');
    await setSigning(store, { agentId: agent.id, signing: 'off', nowMs: Date.now() });
    expect((await ask(point.key, asked)).status).toBe(200);
    await store.agents.setStatus({ agentId: agent.id, status: 'disabled', atMs: Date.now() });
    expect(await codeIn(ask(point.key, asked))).toBe('agent_disabled');
  });
});

describe('keys', () => {
  test('a rotated key is valid until it expires, and there are at most two', async () => {
    const point = await register();
    const { body } = await act(point, '/keys', { grace_seconds: 60 });
    expect((await ask(point.key)).headers.get('x-agent-api-key-expires')).toBe(body.old_keys_end_at);
    expect((await ask(body.api_key)).headers.get('x-agent-api-key-expires')).toBeNull();
    expect((await act(point, '/keys', { grace_seconds: 60 })).status).toBe(409);
    const third = await act(point, '/keys', { grace_seconds: 0 });
    expect(await codeIn(ask(body.api_key))).toBe('invalid_api_key');
    expect((await ask(third.body.api_key)).status).toBe(200);
  });

  test('a wrong key and an unknown key have the same refusal; a wrong prefix is not a key', async () => {
    const point = await register();
    const codes = [wrongKey(point.key), `writ_${point.key.slice('writpep_'.length)}`, 'writpep_x'];
    for (const key of codes) expect(await codeIn(ask(key))).toBe('invalid_api_key');
    // The key of an agent with the prefix of a point has a wrong checksum.
    expect(await codeIn(ask(service.apiKey.replace('writ_', 'writpep_')))).toBe('invalid_api_key');
  });

  test('lists and records contain no key', async () => {
    const point = await register();
    const listed = await operator.send('/v1/enforcement-points');
    const keys = await operator.send(`/v1/enforcement-points/${point.id}/keys`);
    const { records } = await service.store.chain.segment(0, 1_000);
    expect(JSON.stringify([listed.body, keys.body, records])).not.toContain(point.key);
    expect(keys.body.items).toMatchObject([{ id: point.key.slice(8, 16), not_after: null }]);
    expect(await verifyChain(service.store)).toMatchObject({ kind: 'whole' });
  });
});

describe('sessions', () => {
  const perSession = `
action demo.allow { ... }
meter so_far = count() of demo.* per session over 1h
policy demo on demo.* {
  allow first when so_far <= 1
}
`;

  test('the session of a point belongs to it: no agent and no other point uses it', async () => {
    await usePolicies(service, perSession);
    // The past of a new meter is read first, so the first tries may be refused.
    let tries = 0;
    await vi.waitFor(async () => {
      tries += 1;
      const headers = { 'x-agent-session': `first-${tries}` };
      expect((await viewOf(await ask(service.apiKey, { headers }))).decision).toBe('ALLOW');
    });
    const [one, two] = [await register(), await register()];
    const headers = { 'x-agent-session': 's-1' };
    const decisions: string[] = [];
    for (const key of [one.key, two.key, service.apiKey, one.key])
      decisions.push((await viewOf(await ask(key, { headers }))).decision);
    await usePolicies(service, policyText);
    expect(decisions).toEqual(['ALLOW', 'ALLOW', 'ALLOW', 'DENY']);
  });

  test('an agent cannot use the sessions or idempotency keys of a point', async () => {
    const point = await register();
    for (const name of ['x-agent-session', 'idempotency-key']) {
      const headers = { [name]: `point:${point.id}/s-1` };
      expect(await codeIn(ask(service.apiKey, { agent: null, headers }))).toBe('invalid_header');
    }
    const { request_id: id } = await viewOf(await ask(point.key, { headers: { 'x-agent-session': 's-1' } }));
    const session = `point:${point.id}/s-1`;
    expect(await recordOf(service, id)).toMatchObject({ request: { session } });
    expect((await operator.send(`/v1/requests/${id}`)).body).toMatchObject({
      session,
      point: { id: point.id },
    });
  });

  test('the idempotency key of an agent does not answer a call of a point', async () => {
    const point = await register();
    const headers = { 'idempotency-key': 'toolu_1' };
    const own = await viewOf(await ask(service.apiKey, { agent: null, headers }));
    const first = await viewOf(await ask(point.key, { headers }));
    const again = await viewOf(await ask(point.key, { headers }));
    expect(first.request_id).not.toBe(own.request_id);
    expect(again.request_id).toBe(first.request_id);
  });
});

describe('a request of a point', () => {
  test('only the point that asked uses its approval', async () => {
    const [one, two] = [await register(), await register()];
    const payload = { of: one.id };
    const asked = { action: 'demo.escalate', payload, headers: { prefer: 'attach' } };
    const { request_id: id } = await viewOf(await ask(one.key, asked));
    expect(codeOf(await give(ben, id, 'approve'))).toEqual([200, 'approved']);
    for (const key of [service.apiKey, two.key])
      expect((await viewOf(await ask(key, asked))).status).toBe('pending');
    const views = await Promise.all(Array.from({ length: 5 }, () => ask(one.key, asked).then(viewOf)));
    expect(views.filter(({ decision }) => decision === 'ALLOW').map(({ request_id }) => request_id)).toEqual([
      id,
    ]);
  });

  test('is visible to the agent, which cannot change it; nor can the point change requests of the agent', async () => {
    const point = await register();
    const byPoint = { 'x-agent-api-key': point.key, 'x-writ-agent': 'buyer' };
    const byAgent = { 'x-agent-api-key': service.apiKey };
    const ofPoint = await viewOf(await ask(point.key, { action: 'demo.escalate' }));
    const ofAgent = await viewOf(await ask(service.apiKey, { action: 'demo.escalate', agent: null }));
    for (const [id, headers, status] of [
      [ofPoint.request_id, byAgent, 404],
      [ofAgent.request_id, byPoint, 404],
      [ofPoint.request_id, byPoint, 200],
      [ofAgent.request_id, byAgent, 200],
    ] as const) {
      expect((await send(service, `/v1/requests/${id}`, { headers })).status).toBe(200);
      const withdraw = await send(service, `/v1/requests/${id}/withdraw`, { method: 'POST', headers });
      expect(withdraw.status).toBe(status);
    }
  });

  test('only the point that asked gets its receipt and reports its outcome', async () => {
    const point = await register();
    const byPoint = { 'x-agent-api-key': point.key, 'x-writ-agent': 'buyer' };
    const byAgent = { 'x-agent-api-key': service.apiKey };
    const reply = await ask(point.key, { headers: { prefer: 'receipt' } });
    expect(reply.headers.get('writ-receipt')).toMatch(/^eyJ/);
    const { request_id: id } = await viewOf(reply);
    const report = { method: 'POST', body: { executed: true } };
    for (const [headers, status] of [
      [byAgent, 404],
      [byPoint, 200],
    ] as const) {
      expect((await send(service, `/v1/requests/${id}/receipt`, { headers })).status).toBe(status);
      const sent = await send(service, `/v1/requests/${id}/outcome`, { ...report, headers });
      expect(sent.status).toBe(status);
    }
  });
});

test('names are unique, agents exist, and each is named once', async () => {
  const point = await register();
  for (const body of [
    { name: point.name.toUpperCase(), agents: [] },
    { name: ' ', agents: [] },
    { name: 'b', agents: ['nobody'] },
    { name: 'b', agents: ['buyer', service.agent.id] },
  ])
    expect((await operator.send('/v1/enforcement-points', { method: 'POST', body })).status).toBe(400);
  expect((await act(point, '', { name: 'renamed' }, 'PATCH')).body).toMatchObject({
    name: 'renamed',
    agents: [{ id: service.agent.id, name: 'buyer' }],
  });
  const { body } = await operator.send('/v1/enforcement-points?limit=1');
  expect(body.items).toMatchObject([{ id: point.id }]);
  expect((await operator.send('/v1/enforcement-points/none')).status).toBe(404);
});

test('a key that expires during a long poll ends the poll', async () => {
  const point = await register();
  const waiting = ask(point.key, { action: 'demo.escalate', headers: { prefer: 'wait=20' } });
  await new Promise((resolve) => setTimeout(resolve, 200));
  await act(point, '/disable');
  expect(await codeIn(waiting)).toBe('point_not_active');
});

test('a new key of the agent does not change the point', async () => {
  const point = await register();
  await rotateKey(service.store, { agentId: service.agent.id, graceMs: 0, nowMs: Date.now() });
  expect((await ask(point.key)).status).toBe(200);
});
