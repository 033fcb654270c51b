// What a stolen token, a stolen session and an operator can do to the ways people sign in, over HTTP.

import { describe, expect, test } from 'vitest';
import { createAuthenticator } from '../people/authenticator.ts';
import { type Client, client, firstAdmin, password, personWith, send, signedIn } from './person-client.ts';
import { type Service, startService } from './service.ts';
import { codeOf } from './written-policies.ts';

const origin = 'https://writ.example.com';
const ann = 'ann@example.com';
const post = (body?: unknown) => ({ method: 'POST', ...(body === undefined ? {} : { body }) });

/** A token with these roles, made as a person makes one: in a session, with the password. */
async function tokenOf(service: Service, session: Client, roles: readonly string[]): Promise<Client> {
  const made = await session.send('/v1/tokens', post({ name: 'ci', roles, days: 1, password }));
  if (made.status !== 201) throw new Error(JSON.stringify(made.body));
  return client(service, { authorization: `Bearer ${made.body.token}` });
}

describe('a stolen token', () => {
  test('cannot add a passkey, set up codes, create a token or sign in', async () => {
    const service = await startService({ publicUrl: origin });
    await firstAdmin(service);
    const session = await signedIn(service, ann);
    for (const roles of [['admin']]) {
      const token = await tokenOf(service, session, roles);
      const device = createAuthenticator({ origin });
      const options = await session.send('/v1/session/passkeys/options', post());
      const response = device.create(options.body);
      const secret = 'GEZDGNBVGY3TQOJQGEZDGNBVGY3TQOJQ';
      for (const [path, sending] of [
        ['/v1/session/passkeys/options', post()],
        ['/v1/session/passkeys', post({ name: 'mine', response, password })],
        ['/v1/session/totp', post()],
        ['/v1/session/totp/confirm', post({ secret, code: '000000', password })],
        ['/v1/session/password', post({ password, new_password: 'another horse battery' })],
        ['/v1/tokens', post({ name: 'longer', roles, days: 366, password })],
        ['/v1/sessions', {}],
      ] as const) {
        expect([path, codeOf(await token.send(path, sending))]).toEqual([path, [403, 'session_needed']]);
      }
      // The same call from the session succeeds, so the token was the reason for the refusal.
      const added = await session.send('/v1/session/passkeys', post({ name: 'mine', response, password }));
      expect(added.status).toBe(201);
    }
  });

  test('of an admin cannot create admins or operators', async () => {
    const service = await startService();
    await firstAdmin(service);
    const token = await tokenOf(service, await signedIn(service, ann), ['admin']);
    const applied = await send(
      service,
      '/v1/applications',
      post({ email: 'x@example.com', name: 'X', reason: 'x' }),
    );
    for (const role of ['admin', 'operator']) {
      const invited = await token.send(
        '/v1/invitations',
        post({ email: 'e@example.com', name: 'E', roles: [role] }),
      );
      expect(codeOf(invited)).toEqual([403, 'not_allowed']);
      const granted = await token.send(`/v1/applications/${applied.body.id}/grant`, post({ roles: [role] }));
      expect(codeOf(granted)).toEqual([403, 'not_allowed']);
      const me = (await token.send('/v1/session')).body.person.id;
      const raised = await token.send(`/v1/people/${me}`, {
        method: 'PATCH',
        body: { roles: ['admin', 'operator'] },
      });
      expect(codeOf(raised)).toEqual([403, 'not_allowed']);
    }
  });
});

describe('a stolen session', () => {
  test('cannot add a second factor or create a token without the password', async () => {
    const service = await startService({ publicUrl: origin });
    await firstAdmin(service);
    const stolen = await signedIn(service, ann);
    const device = createAuthenticator({ origin });
    const { body: options } = await stolen.send('/v1/session/passkeys/options', post());
    const response = device.create(options);
    const { body: offered } = await stolen.send('/v1/session/totp', post());
    const code = '000000';
    for (const [path, body] of [
      ['/v1/session/passkeys', { name: 'mine', response }],
      ['/v1/session/totp/confirm', { secret: offered.secret, code }],
      ['/v1/session/password', { new_password: 'another horse battery' }],
      ['/v1/tokens', { name: 'ci', roles: ['admin'], days: 1 }],
    ] as const) {
      expect([path, codeOf(await stolen.send(path, post(body)))]).toEqual([path, [403, 'proof_needed']]);
      const guessed = await stolen.send(path, post({ ...body, password: 'a guess of a password' }));
      expect([path, codeOf(guessed)]).toEqual([path, [401, 'wrong_credentials']]);
    }
  });

  test('with the password cannot replace an older passkey', async () => {
    const time = { aheadMs: 0 };
    const service = await startService({ publicUrl: origin, clock: () => Date.now() + time.aheadMs });
    await firstAdmin(service);
    const [first, mine] = [await signedIn(service, ann), createAuthenticator({ origin })];
    const add = async (session: Client, proof: object) => {
      const { body: options } = await session.send('/v1/session/passkeys/options', post());
      const response = createAuthenticator({ origin }).create(options);
      return await session.send('/v1/session/passkeys', post({ name: 'another', response, ...proof }));
    };
    const { body: options } = await first.send('/v1/session/passkeys/options', post());
    const body = { name: 'mine', response: mine.create(options), password };
    expect((await first.send('/v1/session/passkeys', post(body))).status).toBe(201);
    const prove = async (session: Client) => ({
      passkey: mine.get((await session.send('/v1/session/proof/options', post())).body),
    });
    // A passkey that was just added is no proof for adding another.
    expect(codeOf(await add(first, await prove(first)))).toEqual([403, 'proof_needed']);
    time.aheadMs += 61 * 60_000;
    const later = await signedIn(service, ann);
    expect(codeOf(await add(later, { password }))).toEqual([403, 'proof_needed']);
    const proof = await prove(later);
    const other = await signedIn(service, ann);
    // A challenge from one session proves nothing in another.
    expect(codeOf(await add(other, proof))).toEqual([401, 'wrong_credentials']);
    expect((await add(later, await prove(later))).status).toBe(201);
    const { items } = (await later.send('/v1/session/passkeys')).body;
    const remove = (sent: object) =>
      later.send(`/v1/session/passkeys/${items[0].id}`, { method: 'DELETE', body: sent });
    expect(codeOf(await remove({}))).toEqual([403, 'proof_needed']);
    expect(codeOf(await remove({ password }))).toEqual([403, 'proof_needed']);
    expect((await remove(await prove(later))).status).toBe(204);
  });

  test('is visible in the list of sessions, and can be ended there', async () => {
    const service = await startService();
    const admin = await firstAdmin(service);
    await personWith(service, admin, { email: 'ben@example.com', roles: ['auditor'] });
    const [mine, stolen, bens] = [
      await signedIn(service, ann),
      await signedIn(service, ann),
      await signedIn(service, 'ben@example.com'),
    ];
    const { items } = (await mine.send('/v1/sessions')).body;
    expect(items).toHaveLength(2);
    expect(items).toMatchObject([{ address: '127.0.0.1' }, { address: '127.0.0.1' }]);
    const [other] = items.filter(({ is_current }: { is_current: boolean }) => !is_current);
    const end = (by: Client) => by.send(`/v1/sessions/${other.id}`, { method: 'DELETE' });
    expect((await end(bens)).status).toBe(404);
    expect((await end(mine)).status).toBe(204);
    expect((await stolen.send('/v1/session')).status).toBe(401);
    expect((await mine.send('/v1/sessions')).body.items).toMatchObject([{ is_current: true }]);
    expect((await end(mine)).status).toBe(404);
  });

  test('leaves a notice of its changes until the person dismisses it', async () => {
    const service = await startService();
    const admin = await firstAdmin(service);
    const ben = await personWith(service, admin, { email: 'ben@example.com', roles: ['auditor'] });
    const session = await signedIn(service, ann);
    await tokenOf(service, session, ['admin']);
    const [notice] = (await session.send('/v1/session')).body.notices;
    expect(notice).toMatchObject({ kind: 'token-made', name: 'ci' });
    const bens = await signedIn(service, 'ben@example.com');
    const path = `/v1/session/notices/${notice.id}`;
    expect((await bens.send(path, { method: 'DELETE' })).status).toBe(404);
    expect((await ben.send('/v1/session')).body.notices).toEqual([]);
    expect((await session.send(path, { method: 'DELETE' })).status).toBe(204);
    expect((await session.send('/v1/session')).body.notices).toEqual([]);
  });

  test('ends when an admin resets the second factors, which needs a proof of the admin', async () => {
    const service = await startService();
    const admin = await firstAdmin(service);
    const { person } = await personWith(service, admin, { email: 'ben@example.com', roles: ['auditor'] });
    const [boss, bens] = [await signedIn(service, ann), await signedIn(service, 'ben@example.com')];
    const reset = (body: object) => boss.send(`/v1/people/${person.id}/totp`, { method: 'DELETE', body });
    expect(codeOf(await reset({}))).toEqual([403, 'proof_needed']);
    expect((await bens.send('/v1/session')).status).toBe(200);
    expect((await reset({ password })).status).toBe(204);
    expect((await bens.send('/v1/session')).status).toBe(401);
    const again = await signedIn(service, 'ben@example.com');
    expect((await again.send('/v1/session')).body.notices).toMatchObject([{ kind: 'factors-reset' }]);
  });
});

describe('a second factor that was just set up', () => {
  test('cannot step up until its waiting time has passed', async () => {
    const time = { aheadMs: 0 };
    const service = await startService({ publicUrl: origin, clock: () => Date.now() + time.aheadMs });
    await firstAdmin(service);
    const device = createAuthenticator({ origin });
    const session = await signedIn(service, ann);
    const { body: options } = await session.send('/v1/session/passkeys/options', post());
    const sent = { name: 'key', response: device.create(options), password };
    await session.send('/v1/session/passkeys', post(sent));
    const draft = { name: 'mine', risk_tier: 'low', control_owner: ann };
    const { agent } = (await session.send('/v1/agents', post(draft))).body;
    const stepUp = async (by: Client) => {
      const { body: question } = await by.send(`/v1/agents/${agent.id}/step-up/options`, post());
      return await by.send(`/v1/agents/${agent.id}/step-up`, post({ passkey: device.get(question) }));
    };
    expect(codeOf(await stepUp(session))).toEqual([403, 'second_factor_new']);
    time.aheadMs += 61 * 60_000;
    expect((await stepUp(await signedIn(service, ann))).status).toBe(200);
  });
});

describe('an operator', () => {
  test('gets no link that would make them an approver', async () => {
    const service = await startService();
    const admin = await firstAdmin(service);
    await personWith(service, admin, { email: 'otto@example.com', roles: ['operator'] });
    const otto = await signedIn(service, 'otto@example.com');
    const ask = { email: 'puppet@example.com', name: 'P', reason: 'x' };
    const { id } = (await send(service, '/v1/applications', post(ask))).body;
    for (const standing of [
      { roles: ['approver'], groups: ['finance'] },
      { roles: ['auditor'], groups: ['finance'] },
      { roles: ['auditor', 'operator'] },
    ]) {
      const invited = await otto.send(
        '/v1/invitations',
        post({ email: 'p@example.com', name: 'P', ...standing }),
      );
      const granted = await otto.send(`/v1/applications/${id}/grant`, post(standing));
      for (const answer of [invited, granted]) {
        expect(codeOf(answer)).toEqual([403, 'not_allowed']);
        expect(JSON.stringify(answer.body)).not.toContain('token');
      }
    }
  });

  test('has no control over invitations that they sent as an admin', async () => {
    const service = await startService();
    const admin = await firstAdmin(service);
    const { person } = await personWith(service, admin, { email: 'zoe@example.com', roles: ['admin'] });
    const [boss, zoe] = [await signedIn(service, ann), await signedIn(service, 'zoe@example.com')];
    const draft = { email: 'p@example.com', name: 'P', roles: ['admin'] };
    const { token } = (await zoe.send('/v1/invitations', post(draft))).body;
    const demoted = { method: 'PATCH', body: { roles: ['operator'] } };
    expect((await boss.send(`/v1/people/${person.id}`, demoted)).status).toBe(200);
    const accepted = await send(service, '/v1/invitations/accept', post({ token, password }));
    expect(codeOf(accepted)).toEqual([404, 'link_not_valid']);
  });
});

describe('a stranger', () => {
  test('has five of sixty concurrent passwords checked, and the known device can still sign in', async () => {
    const service = await startService();
    await firstAdmin(service);
    const signIn = (guess: string, cookie = '') =>
      send(service, '/v1/session', {
        method: 'POST',
        body: { email: ann, password: guess },
        headers: cookie === '' ? {} : { cookie },
      });
    const known = await signIn(password);
    const device = known.headers
      .getSetCookie()
      .map((one) => one.split(';')[0] ?? '')
      .find((one) => one.startsWith('writ_device='));
    const all = await Promise.all(Array.from({ length: 60 }, () => signIn('wrong wrong wrong')));
    expect(all.filter(({ status }) => status === 401).length).toBeLessThanOrEqual(5);
    expect((await signIn(password)).status).toBe(429);
    expect((await signIn(password, device)).status).toBe(200);
  });

  test('behind a trusted proxy is limited by their own address', async () => {
    const service = await startService({ trustedProxies: ['127.0.0.0/8'] });
    await firstAdmin(service);
    const signIn = (guess: string, address: string) =>
      send(service, '/v1/session', {
        method: 'POST',
        body: { email: ann, password: guess },
        headers: { 'x-forwarded-for': address },
      });
    for (let i = 0; i < 6; i++) await signIn('wrong wrong wrong', '203.0.113.5');
    expect((await signIn(password, '203.0.113.5')).status).toBe(429);
    // The client can forge all addresses before the last proxy's, so they do not count.
    expect((await signIn(password, '198.51.100.7, 203.0.113.5')).status).toBe(429);
    expect((await signIn(password, '198.51.100.7')).status).toBe(200);
    expect((await signIn(password, '<script>')).status).toBe(200);
    const sessions = await (await signedIn(service, ann)).send('/v1/sessions');
    const addresses = sessions.body.items.map(({ address }: { address: string }) => address);
    expect(addresses).toEqual(['127.0.0.1', '127.0.0.1', '198.51.100.7']);
  });

  test('behind an untrusted proxy is limited by the address of the proxy', async () => {
    const service = await startService();
    await firstAdmin(service);
    const headers = { 'x-forwarded-for': '198.51.100.7' };
    const { status } = await send(service, '/v1/session', {
      method: 'POST',
      body: { email: ann, password },
      headers,
    });
    expect(status).toBe(200);
    const sessions = await (await signedIn(service, ann)).send('/v1/sessions');
    expect(sessions.body.items).toMatchObject([{ address: '127.0.0.1' }, { address: '127.0.0.1' }]);
  });
});

describe('what people read', () => {
  test.each(['Ann\u202Etxt.exe', 'A\u200Bnn', 'Ann\u0007', 'A\u00ADnn', ' Ann', '\u3164', 'a\u{E0001}b'])(
    'the name %j is taken of nobody and nothing',
    async (name) => {
      const service = await startService();
      const admin = await firstAdmin(service);
      const session = await signedIn(service, ann);
      for (const [path, body] of [
        ['/v1/invitations', { email: 'b@example.com', name, roles: ['auditor'] }],
        ['/v1/applications', { email: 'b@example.com', name, reason: 'x' }],
        ['/v1/agents', { name, risk_tier: 'low', control_owner: ann }],
        ['/v1/tokens', { name, roles: ['admin'], days: 1, password }],
      ] as const) {
        expect([path, codeOf(await session.send(path, post(body)))]).toEqual([path, [400, 'invalid_body']]);
      }
      const renamed = await session.send(`/v1/people/${admin.id}`, { method: 'PATCH', body: { name } });
      expect(codeOf(renamed)).toEqual([400, 'invalid_body']);
    },
  );

  test.each([
    'x<bob@example.com>',
    'bcc:bob@example.com',
    'a b@example.com',
    'b\u202E@example.com',
    'b@example',
  ])('the address %j is taken of nobody', async (email) => {
    const service = await startService();
    await firstAdmin(service);
    const session = await signedIn(service, ann);
    const invited = await session.send('/v1/invitations', post({ email, name: 'B', roles: ['auditor'] }));
    expect(codeOf(invited)).toEqual([400, 'invalid_body']);
    const applied = await send(service, '/v1/applications', post({ email, name: 'B', reason: 'x' }));
    expect(codeOf(applied)).toEqual([400, 'invalid_body']);
  });

  test.each([
    'https://hooks.example.com/a\r\nb',
    'https://hooks.example.com/\u202Ea',
    ' https://hooks.example.com/',
  ])('the address %j of a webhook is taken as none', async (url) => {
    const service = await startService();
    await firstAdmin(service);
    const session = await signedIn(service, ann);
    const made = await session.send('/v1/webhooks', post({ url, events: ['agent.revoked'] }));
    expect(codeOf(made)).toEqual([400, 'invalid_body']);
  });
});
