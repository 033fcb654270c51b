// Step-up over HTTP: only by the agent's control owner, there and then, for the request and for `within`
// afterwards.

import { describe, expect, test } from 'vitest';
import { addAgent } from '../../../src/service/agents/registry.ts';
import { offerTotp } from '../../../src/service/people/codes.ts';
import type { Person } from '../../../src/service/people/person.ts';
import { totpAt } from '../../../src/service/people/totp.ts';
import { createAuthenticator } from '../people/authenticator.ts';
import {
  type Answer,
  type Client,
  firstAdmin,
  password,
  personWith,
  setUpCodes,
  signedIn,
  tokenClient,
} from './person-client.ts';
import { type Service, startService } from './service.ts';
import { ask, codeOf, give, usePolicies } from './written-policies.ts';

const policies = `
approvers finance "Finance"
action ops.any, ops.recent, ops.both { ... }
policy ops on ops.* {
  allow all for 10m
  reauth each_time when action.key == "ops.any"
  reauth recently within 30m when action.key == "ops.recent"
  reauth before within 1h when action.key == "ops.both"
  escalate afterwards to finance within 2h when action.key == "ops.both"
}
`;

const origin = 'https://writ.example.com';

interface World {
  readonly service: Service;
  readonly admin: Client;
  readonly owner: Client & { readonly person: Person };
  readonly ben: Client;
  /** The key of the owner's agent. */
  readonly key: string;
  readonly agentId: string;
  readonly time: { aheadMs: number };
  /** A code that has not been used; moves the clock on to get one. */
  code(): string;
}

async function start(): Promise<World> {
  const time = { aheadMs: 0 };
  const clock = () => Date.now() + time.aheadMs;
  const service = await startService({ clock, publicUrl: origin, startsWith: policies });
  const { store } = service;
  const person = await firstAdmin(service);
  const owner = await personWith(service, person, { email: 'olga@example.com', roles: ['owner'] });
  const ben = await personWith(service, person, {
    email: 'ben@example.com',
    roles: ['approver'],
    groups: ['finance'],
  });
  const draft = { name: 'of-olga', riskTier: 'low', controlOwner: 'Olga@example.com', tags: [] };
  const added = await addAgent(store, draft);
  if (added.kind !== 'added') throw new Error(added.kind);
  const { secret } = offerTotp(owner.person);
  await setUpCodes(service, owner.person, { secret, clock });
  // A new second factor is not accepted for step-ups during its first hour.
  time.aheadMs += 60 * 60_000;
  const code = () => {
    time.aheadMs += 30_000;
    return totpAt(secret, clock());
  };
  const admin = await tokenClient(service, person);
  return { service, admin, owner, ben, key: added.apiKey, agentId: added.agent.id, time, code };
}

function stepUp(client: Client, subject: string, shown: object): Promise<Answer> {
  return client.send(`/v1/${subject}/step-up`, { method: 'POST', body: shown });
}

const asker =
  ({ service, key }: World) =>
  (action: string) =>
    ask(service, action, { key });

describe('of a request', () => {
  test('grants it, by the control owner of its agent with a second factor', async () => {
    const world = await start();
    const { request_id: id } = await asker(world)('ops.any');
    const by = (client: Client, shown: object) => stepUp(client, `requests/${id}`, shown);
    const shown = { password, code: world.code() };
    expect(codeOf(await by(world.admin, shown))).toEqual([403, 'not_allowed']);
    expect(codeOf(await by(world.ben, shown))).toEqual([403, 'not_allowed']);
    expect(codeOf(await by(world.owner, { password }))).toEqual([401, 'code_needed']);
    expect(codeOf(await by(world.owner, { ...shown, password: 'wrong wrong' }))).toEqual([
      401,
      'wrong_credentials',
    ]);
    expect(codeOf(await by(world.owner, {}))).toEqual([400, 'invalid_body']);
    const answer = await by(world.owner, shown);
    expect(answer.body).toMatchObject({
      decision: 'ALLOW',
      status: 'approved',
      step_ups: [{ by: expect.stringContaining('olga@example.com'), passkey: null }],
    });
    expect(codeOf(await by(world.owner, { password, code: world.code() }))).toEqual([409, 'conflict']);
    // This step-up counts for that one request only.
    expect(await asker(world)('ops.any')).toMatchObject({ decision: 'REAUTH_REQUIRED' });
  });

  test('needs a second factor', async () => {
    const world = await start();
    const added = await addAgent(world.service.store, {
      name: 'of-ann',
      riskTier: 'low',
      controlOwner: 'ann@example.com',
      tags: [],
    });
    const key = added.kind === 'added' ? added.apiKey : '';
    const { request_id: id } = await ask(world.service, 'ops.any', { key });
    const answer = await stepUp(world.admin, `requests/${id}`, { password });
    expect(codeOf(answer)).toEqual([403, 'second_factor_missing']);
  });

  test('comes before the approvals, and the deadline counts from the beginning', async () => {
    const world = await start();
    const view = await asker(world)('ops.both');
    expect(view).toMatchObject({ decision: 'REAUTH_REQUIRED', status: 'pending' });
    expect(view.message).toContain('and then it needs 1 approval by finance');
    const id = view.request_id;
    const answer = await stepUp(world.owner, `requests/${id}`, { password, code: world.code() });
    expect(answer.body).toMatchObject({ decision: 'ESCALATE', status: 'pending' });
    const waitMs = Date.parse(answer.body.expires_at) - Date.parse(answer.body.created_at);
    expect(waitMs).toBe(2 * 3_600_000);
    expect((await give(world.ben, id, 'approve')).body.status).toBe('approved');
  });

  test('may come after the approval, which stays valid', async () => {
    const world = await start();
    const { request_id: id } = await asker(world)('ops.both');
    const first = await give(world.ben, id, 'approve');
    expect(first.body).toMatchObject({
      status: 'pending',
      requires: { approvals: [], step_up: true },
    });
    const answer = await stepUp(world.owner, `requests/${id}`, { password, code: world.code() });
    expect(answer.body).toMatchObject({ decision: 'ALLOW', status: 'approved' });
  });

  test('that needs none is a conflict', async () => {
    const world = await start();
    await usePolicies(world.service, policies.replace('reauth before', 'shadow reauth before'));
    const { request_id: id } = await asker(world)('ops.both');
    const answer = await stepUp(world.owner, `requests/${id}`, { password, code: world.code() });
    expect(codeOf(answer)).toEqual([409, 'conflict']);
  });

  test('by a passkey counts for the challenge of that request only', async () => {
    const world = await start();
    const device = createAuthenticator({ origin });
    const { owner } = world;
    const post = (path: string, body?: unknown) => owner.send(path, { method: 'POST', body });
    const session = await signedIn(world.service, 'olga@example.com', world.code());
    const add = (path: string, body?: unknown) => session.send(path, { method: 'POST', body });
    const made = await add('/v1/session/passkeys/options');
    const response = device.create(made.body);
    const added = await add('/v1/session/passkeys', { name: 'key', response, password, code: world.code() });
    expect(added.status).toBe(201);
    world.time.aheadMs += 60 * 60_000;
    const { request_id: first } = await asker(world)('ops.any');
    const { request_id: second } = await asker(world)('ops.any');
    const { body: question } = await post(`/v1/requests/${first}/step-up/options`);
    const passkey = device.get(question);
    expect(codeOf(await stepUp(owner, `requests/${second}`, { passkey }))).toEqual([
      401,
      'wrong_credentials',
    ]);
    // A challenge that was answered wrongly is used up.
    const { body: again } = await post(`/v1/requests/${first}/step-up/options`);
    const passed = await stepUp(owner, `requests/${first}`, { passkey: device.get(again) });
    expect(passed.body.step_ups).toMatchObject([{ passkey: 'key' }]);
    expect(passed.body.status).toBe('approved');
    const refused = await world.ben.send(`/v1/requests/${second}/step-up/options`, { method: 'POST' });
    expect(codeOf(refused)).toEqual([403, 'not_allowed']);
  });
});

describe('of an agent', () => {
  test('counts for `within` and no longer, by the clock of the service', async () => {
    const world = await start();
    const asking = asker(world);
    expect(await asking('ops.recent')).toMatchObject({ decision: 'REAUTH_REQUIRED' });
    const answer = await stepUp(world.owner, `agents/${world.agentId}`, { password, code: world.code() });
    expect(answer.status).toBe(200);
    expect(await asking('ops.recent')).toMatchObject({ decision: 'ALLOW', status: 'auto_approved' });
    expect(await asking('ops.any')).toMatchObject({ decision: 'REAUTH_REQUIRED' });
    // The step-up does not count for another agent, which has no control owner.
    expect(await ask(world.service, 'ops.recent')).toMatchObject({ decision: 'REAUTH_REQUIRED' });
    world.time.aheadMs += 29 * 60_000;
    expect(await asking('ops.recent')).toMatchObject({ decision: 'ALLOW' });
    world.time.aheadMs += 60_001;
    expect(await asking('ops.recent')).toMatchObject({ decision: 'REAUTH_REQUIRED' });
  });

  test.each(['agent', 'request'])('for one %s decides its pending requests again', async (subject) => {
    const world = await start();
    const asking = asker(world);
    const other = await asking('ops.any');
    const [any, recent, both] = [
      await asking('ops.any'),
      await asking('ops.recent'),
      await asking('ops.both'),
    ];
    const of = subject === 'agent' ? `agents/${world.agentId}` : `requests/${other.request_id}`;
    await stepUp(world.owner, of, { password, code: world.code() });
    const standing = async (id: string) => {
      const { body } = await world.owner.send(`/v1/requests/${id}`);
      return [body.decision, body.status];
    };
    expect(await standing(recent.request_id)).toEqual(['ALLOW', 'approved']);
    expect(await standing(both.request_id)).toEqual(['ESCALATE', 'pending']);
    expect(await standing(any.request_id)).toEqual(['REAUTH_REQUIRED', 'pending']);
  });

  test('ends when its control owner changes', async () => {
    const world = await start();
    await stepUp(world.owner, `agents/${world.agentId}`, { password, code: world.code() });
    const body = { control_owner: 'ann@example.com' };
    const changed = await world.admin.send(`/v1/agents/${world.agentId}`, { method: 'PATCH', body });
    expect(changed.status).toBe(200);
    await new Promise((resolve) => setTimeout(resolve, 1_100));
    expect(await asker(world)('ops.recent')).toMatchObject({ decision: 'REAUTH_REQUIRED' });
  });
});
