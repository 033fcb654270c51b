// Agents over HTTP: people register, find, change and stop agents. Each change takes effect with the next
// request and is recorded with who made it.

import { describe, expect, test } from 'vitest';
import { recordName } from '../../../src/service/people/person.ts';
import { firstAdmin, personWith, tokenClient } from './person-client.ts';
import { allowBody, authorize, type Service, startService } from './service.ts';

async function startWithAdmin() {
  const service = await startService();
  const admin = await firstAdmin(service);
  return { service, admin, ann: await tokenClient(service, admin) };
}

const draft = { name: 'seller', risk_tier: 'high', control_owner: 'ann@example.com', tags: ['sales'] };

async function latestChange({ store }: Service) {
  const [change] = await store.chain.changes({ beforeSequence: null, countMax: 1 });
  return {
    ...change,
    before: JSON.parse(change?.beforeJson ?? 'null'),
    after: JSON.parse(change?.afterJson ?? 'null'),
  };
}

const post = (body?: unknown) => ({ method: 'POST', ...(body === undefined ? {} : { body }) });

describe('an agent', () => {
  test('is registered with a key that works at once', async () => {
    const { service, admin, ann } = await startWithAdmin();
    const made = await ann.send('/v1/agents', post(draft));
    expect(made.status).toBe(201);
    const { agent, api_key: key } = made.body;
    expect(agent).toMatchObject({ ...draft, status: 'active', signing: 'off' });
    expect((await authorize(service, { key, body: allowBody })).status).toBe(200);
    expect((await ann.send(`/v1/agents/${agent.id}`)).body).toEqual(agent);
    expect(agent.control_owner_name).toBe('Ann');
    const { items } = (await ann.send('/v1/agents')).body;
    expect(items.map(({ name, control_owner_name }: typeof agent) => [name, control_owner_name])).toEqual([
      ['seller', 'Ann'],
      // Its owner has no account.
      ['buyer', null],
    ]);
    expect(await latestChange(service)).toMatchObject({
      who: recordName(admin),
      what: 'agent-added',
      subject: agent.id,
      before: null,
    });
  });

  test.each([
    [{ name: 'buyer' }, '/name'],
    [{ name: ' ' }, '/name'],
    [{ risk_tier: 'mild' }, '/risk_tier'],
    [{ control_owner: 'nobody@example.com' }, '/control_owner'],
    [{ tags: ['a', 'a'] }, '/tags'],
  ])('with %j is refused with its place', async (wrong, pointer) => {
    const { ann } = await startWithAdmin();
    const answer = await ann.send('/v1/agents', post({ ...draft, ...wrong }));
    expect([answer.status, answer.body.errors[0].pointer]).toEqual([400, pointer]);
  });

  test('is changed, and the record has the earlier values', async () => {
    const { service, admin, ann } = await startWithAdmin();
    const { agent } = (await ann.send('/v1/agents', post(draft))).body;
    const path = `/v1/agents/${agent.id}`;
    const changed = await ann.send(path, {
      method: 'PATCH',
      body: { risk_tier: 'critical', name: 'Seller' },
    });
    expect(changed.body).toMatchObject({ name: 'Seller', risk_tier: 'critical', tags: ['sales'] });
    expect(await latestChange(service)).toMatchObject({
      who: recordName(admin),
      what: 'agent-changed',
      subject: agent.id,
      before: { name: 'seller', riskTier: 'high' },
      after: { name: 'Seller', riskTier: 'critical' },
    });
    const taken = await ann.send(path, { method: 'PATCH', body: { name: 'BUYER' } });
    expect([taken.status, taken.body.errors[0].pointer]).toEqual([400, '/name']);
    const gone = await ann.send('/v1/agents/nobody', { method: 'PATCH', body: { name: 'x' } });
    expect([gone.status, gone.body.type]).toEqual([404, 'urn:writ:error:not_found']);
  });

  test('is disabled and enabled from the next request on', async () => {
    const { service, ann } = await startWithAdmin();
    const path = `/v1/agents/${service.agent.id}`;
    for (let round = 0; round < 3; round++) {
      expect((await authorize(service)).status).toBe(200);
      expect((await ann.send(`${path}/disable`, post())).body.status).toBe('disabled');
      expect((await authorize(service)).status).toBe(403);
      expect((await ann.send(`${path}/enable`, post())).body.status).toBe('active');
    }
    expect((await ann.send(`${path}/enable`, post())).status).toBe(200);
  });

  test('is revoked only with its name as confirmation, and permanently', async () => {
    const { service, ann } = await startWithAdmin();
    const path = `/v1/agents/${service.agent.id}`;
    for (const name of ['Buyer', '', 'seller']) {
      const wrong = await ann.send(`${path}/revoke`, post({ name }));
      expect([wrong.status, wrong.body.errors[0].pointer]).toEqual([400, '/name']);
    }
    expect((await authorize(service)).status).toBe(200);
    expect((await ann.send(`${path}/revoke`, post({ name: 'buyer' }))).body.status).toBe('revoked');
    expect((await authorize(service)).status).toBe(403);
    for (const [word, body] of [
      ['enable'],
      ['disable'],
      ['keys', {}],
      ['signing', { mode: 'required' }],
    ] as const) {
      const answer = await ann.send(`${path}/${word}`, post(body));
      expect([word, answer.status, answer.body.type]).toEqual([word, 409, 'urn:writ:error:conflict']);
    }
    const changed = await ann.send(path, { method: 'PATCH', body: { tags: ['late'] } });
    expect(changed.status).toBe(409);
  });

  test('gets a new key, and the old key expires', async () => {
    const { service, ann } = await startWithAdmin();
    const path = `/v1/agents/${service.agent.id}/keys`;
    const first = await ann.send(path, post({}));
    expect(first.status).toBe(201);
    const inADay = Date.parse(first.body.old_keys_end_at) - Date.now();
    expect(Math.abs(inADay - 24 * 3_600_000)).toBeLessThan(600_000);
    expect((await authorize(service)).status).toBe(200);
    expect((await authorize(service, { key: first.body.api_key })).status).toBe(200);
    const many = await ann.send(path, post({}));
    expect([many.status, many.body.type]).toEqual([409, 'urn:writ:error:conflict']);
    const second = await ann.send(path, post({ grace_seconds: 0 }));
    expect((await authorize(service)).status).toBe(401);
    expect((await authorize(service, { key: first.body.api_key })).status).toBe(401);
    expect((await authorize(service, { key: second.body.api_key })).status).toBe(200);
    const { items } = (await ann.send(path)).body;
    expect(items).toHaveLength(3);
    expect(items.filter(({ not_after }: { not_after: string | null }) => not_after === null)).toHaveLength(1);
    expect(JSON.stringify(items)).not.toMatch(/digest|writ_/);
  });

  test('has its own rate limit from the next request on', async () => {
    const service = await startService();
    const ann = await tokenClient(service, await firstAdmin(service));
    const path = `/v1/agents/${service.agent.id}`;
    const limit = async (own: object) => (await ann.send(path, { method: 'PATCH', body: own })).body;
    const asked = async () => {
      const reply = await authorize(service);
      return [reply.status, reply.headers.get('ratelimit-policy')];
    };
    expect(await asked()).toEqual([200, '"agent";q=10000;w=10']);
    expect(await limit({ rate_per_minute: 1, burst: 3 })).toMatchObject({ rate_per_minute: 1, burst: 3 });
    const replies = [await asked(), await asked(), await asked(), await asked()];
    expect(replies).toEqual([200, 200, 200, 429].map((status) => [status, '"agent";q=3;w=180']));
    expect(await limit({ burst: null, tags: ['calm'] })).toMatchObject({ rate_per_minute: 1, burst: null });
    expect(await asked()).toEqual([200, '"agent";q=10000;w=600000']);
    await limit({ rate_per_minute: null });
    expect(await asked()).toEqual([200, '"agent";q=10000;w=10']);
    for (const wrong of [0, -1, 1.5, '9', 1_000_000_001]) {
      const answer = await ann.send(path, { method: 'PATCH', body: { rate_per_minute: wrong } });
      expect([wrong, answer.status, answer.body.errors[0].pointer]).toEqual([wrong, 400, '/rate_per_minute']);
    }
    const [change] = await service.store.chain.changes({ beforeSequence: null, countMax: 1 });
    expect(JSON.parse(change?.beforeJson ?? '')).toMatchObject({ ratePerMinute: 1, burst: null });
  });

  test('must sign from the next request on', async () => {
    const { service, ann } = await startWithAdmin();
    const path = `/v1/agents/${service.agent.id}/signing`;
    const set = await ann.send(path, post({ mode: 'required' }));
    expect(set.body).toMatchObject({
      agent: { signing: 'required' },
      signing_secret: expect.stringMatching(/^writsec_/),
    });
    expect((await authorize(service)).status).toBe(401);
    expect((await ann.send(path, post({ mode: 'optional' }))).body.signing_secret).toBeNull();
    const renewed = (await ann.send(path, post({ mode: 'optional', new_secret: true }))).body.signing_secret;
    expect(renewed).not.toBe(set.body.signing_secret);
    const changes = JSON.stringify(await service.store.chain.changes({ beforeSequence: null, countMax: 10 }));
    expect(changes).not.toContain(renewed);
  });
});

describe('the list of agents', () => {
  test('has pages that together contain each agent once', async () => {
    const { ann } = await startWithAdmin();
    for (let i = 0; i < 7; i++) await ann.send('/v1/agents', post({ ...draft, name: `seller-${i}` }));
    const names: string[] = [];
    let cursor = '';
    do {
      const { body } = await ann.send(`/v1/agents?limit=3${cursor && `&cursor=${cursor}`}`);
      names.push(...body.items.map(({ name }: { name: string }) => name));
      cursor = body.next_cursor ?? '';
    } while (cursor !== '');
    expect(names.toSorted()).toEqual(['buyer', ...[0, 1, 2, 3, 4, 5, 6].map((i) => `seller-${i}`)]);
  });

  test('is filtered', async () => {
    const { service, ann } = await startWithAdmin();
    await ann.send('/v1/agents', post(draft));
    await ann.send(`/v1/agents/${service.agent.id}/disable`, post());
    const names = async (query: string) =>
      (await ann.send(`/v1/agents?${query}`)).body.items.map(({ name }: { name: string }) => name);
    expect(await names('status=disabled')).toEqual(['buyer']);
    expect(await names('tier=high')).toEqual(['seller']);
    expect(await names('owner=ANN@example.com')).toEqual(['seller']);
    expect(await names('text=SALES')).toEqual(['seller']);
    expect(await names('text=nothing')).toEqual([]);
    const wrong = await ann.send('/v1/agents?status=asleep');
    expect([wrong.status, wrong.body.type]).toEqual([400, 'urn:writ:error:invalid_query']);
  });
});

describe('an owner', () => {
  test('sees and disables only their own agents', async () => {
    const { service, admin, ann } = await startWithAdmin();
    const olga = await personWith(service, admin, { email: 'olga@example.com', roles: ['owner'] });
    const own = (await ann.send('/v1/agents', post({ ...draft, control_owner: olga.person.id }))).body.agent;
    expect(own.control_owner).toBe('olga@example.com');
    const { items } = (await olga.send('/v1/agents')).body;
    expect(items).toMatchObject([{ id: own.id }]);
    const other = service.agent.id;
    for (const path of [`/v1/agents/${other}`, `/v1/agents/${other}/keys`]) {
      expect((await olga.send(path)).status).toBe(404);
    }
    expect((await olga.send(`/v1/agents/${other}/disable`, post())).status).toBe(404);
    expect((await olga.send(`/v1/agents/${own.id}/disable`, post())).body.status).toBe('disabled');
    expect(await latestChange(service)).toMatchObject({
      who: recordName(olga.person),
      what: 'agent-disabled',
    });
    for (const word of ['enable', 'keys', 'signing', 'revoke']) {
      const body = word === 'enable' ? undefined : {};
      const answer = await olga.send(`/v1/agents/${own.id}/${word}`, post(body));
      expect([word, answer.status, answer.body.type]).toEqual([word, 403, 'urn:writ:error:not_allowed']);
    }
  });
});
