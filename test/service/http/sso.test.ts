// Single sign-on at a real identity provider: who signs in with which roles, and that no forged or reused
// callback signs anybody in.

import { decodeJwt, generateKeyPair, importJWK, SignJWT } from 'jose';
import { describe, expect, test } from 'vitest';
import { createDirectory } from '../../../src/service/people/directory.ts';
import type { Oidc } from '../people/oidc.ts';
import { firstAdmin, password, personWith, send, signedIn } from './person-client.ts';
import { type SsoService, startSsoService, Visitor } from './sso-service.ts';
import { codeOf } from './written-policies.ts';

const ben = {
  email: 'ben@example.com',
  email_verified: true,
  name: 'Ben',
  groups: ['payments', 'everybody'],
};

async function scene(changes: Parameters<typeof startSsoService>[0] = {}): Promise<SsoService> {
  const started = await startSsoService(changes);
  started.oidc.accounts.set('ben', ben);
  return started;
}

const verified = (email: string) => ({ email, email_verified: true });

const post = (body: unknown) => ({ method: 'POST', body });

/** Signs this payload in place of the provider, with the provider's own key unless `key` is given. */
async function forge(oidc: Oidc, changes: object, key?: CryptoKey) {
  oidc.alter = async (body) => {
    const payload = { ...decodeJwt(String(body.id_token)), ...changes };
    const header = { alg: 'RS256', kid: String(oidc.key().kid) };
    body.id_token = await new SignJWT(payload)
      .setProtectedHeader(header)
      .sign(key ?? (await importJWK(oidc.key(), 'RS256')));
  };
}

describe('whoever signs in at the provider', () => {
  test('has the roles of their groups, in a session that names the method', async () => {
    const { service } = await scene();
    const visitor = new Visitor();
    expect(await visitor.signIn(service, 'ben', '/requests?status=waiting')).toBe('/requests?status=waiting');
    const { status, body } = await visitor.session(service);
    expect(status).toBe(200);
    expect(body.person).toMatchObject({
      email: 'ben@example.com',
      name: 'Ben',
      roles: ['approver', 'auditor'],
      groups: ['finance'],
      has_totp: false,
    });
    const sessions = await (await visitor.fetch(`${service.url}/v1/sessions`)).json();
    expect(sessions.items).toMatchObject([{ method: 'single-sign-on', is_current: true }]);
    // A second sign-in leads to the same person.
    const again = new Visitor();
    await again.signIn(service, 'ben');
    expect((await again.session(service)).body.person.id).toBe(body.person.id);
    // People who use single sign-on have no password, so there is nothing to guess.
    const signIn = await send(service, '/v1/session', post({ email: 'ben@example.com', password: '' }));
    expect(codeOf(signIn)).toEqual([401, 'wrong_credentials']);
  });

  test.each([
    ['in no group that is named', { ...ben, groups: ['interns'] }, 'no-role'],
    ['in no group at all', { email: 'ben@example.com', name: 'Ben' }, 'no-role'],
    ['without an address', { groups: ['everybody'] }, 'no-address'],
    ['with an invalid address', { ...ben, email: 'ben' }, 'no-address'],
  ])('%s is nobody here', async (_, account, why) => {
    const { service, oidc } = await scene();
    oidc.accounts.set('ben', account);
    const visitor = new Visitor();
    expect(await visitor.signIn(service, 'ben')).toBe(`/?sso=${why}`);
    expect((await visitor.session(service)).status).toBe(401);
    const { people } = createDirectory(service.store.documents, Date.now);
    expect(await people.list({ countMax: 1 })).toEqual([]);
  });

  test('stays out if an admin has disabled them', async () => {
    const { service } = await scene();
    await firstAdmin(service);
    const visitor = new Visitor();
    await visitor.signIn(service, 'ben');
    const { id } = (await visitor.session(service)).body.person;
    const ann = await signedIn(service, 'ann@example.com');
    const change = { method: 'PATCH', body: { status: 'disabled' } };
    expect((await ann.send(`/v1/people/${id}`, change)).status).toBe(200);
    expect((await visitor.session(service)).status).toBe(401);
    expect(await new Visitor().signIn(service, 'ben')).toBe('/?sso=disabled');
    // Enabling a person who has no password does not create one.
    await ann.send(`/v1/people/${id}`, { method: 'PATCH', body: { status: 'active' } });
    const link = await ann.send(`/v1/people/${id}/reset-link`, post({ password }));
    expect(codeOf(link)).toEqual([409, 'conflict']);
  });

  test('is not identified by an address that the provider has not verified', async () => {
    const { service, oidc } = await scene();
    oidc.accounts.set('ben', { ...ben, email_verified: false });
    expect(await new Visitor().signIn(service, 'ben')).toBe('/?sso=no-address');
  });

  test.each([
    ['says nothing of whether it is verified', { email_verified: undefined }, {}],
    ['says so in text', { email_verified: 'true' as never }, {}],
    ['vouches for another one in the token', { email_verified: undefined }, verified('mallory@example.com')],
    ['vouches in the token for one it has not verified now', { email_verified: false }, verified(ben.email)],
    ['says so without an address in the token', { email_verified: undefined }, { email_verified: true }],
  ])('neither has nor takes an account by an address of which the provider %s', async (_, account, token) => {
    const { service, oidc } = await scene();
    oidc.accounts.set('ben', { ...ben, ...account });
    if (Object.keys(token).length > 0) await forge(oidc, token);
    expect(await new Visitor().signIn(service, 'ben')).toBe('/?sso=no-address');
    const admin = await firstAdmin(service);
    await personWith(service, admin, { email: 'ben@example.com', roles: ['operator'] });
    expect(await new Visitor().signIn(service, 'ben')).toBe('/?sso=address-taken');
    const kept = await send(service, '/v1/session', post({ email: 'ben@example.com', password }));
    expect(kept.status).toBe(200);
  });

  test.each([
    ['the token alone names', { email: undefined, email_verified: undefined }, verified(ben.email)],
    ['the token verifies and both name', { email_verified: undefined }, verified(ben.email)],
  ])('have an account by an address that %s', async (_, account, token) => {
    const { service, oidc } = await scene();
    oidc.accounts.set('ben', { ...ben, ...account });
    await forge(oidc, token);
    const visitor = new Visitor();
    await visitor.signIn(service, 'ben');
    expect((await visitor.session(service)).body.person.email).toBe(ben.email);
  });

  test('takes over the account with their verified address, and its password no longer works', async () => {
    const { service, oidc } = await scene();
    const admin = await firstAdmin(service);
    const { person } = await personWith(service, admin, { email: 'ben@example.com', roles: ['operator'] });
    oidc.accounts.set('ben', { ...ben, email_verified: false });
    expect(await new Visitor().signIn(service, 'ben')).toBe('/?sso=address-taken');
    oidc.accounts.set('ben', ben);
    const visitor = new Visitor();
    await visitor.signIn(service, 'ben');
    const session = (await visitor.session(service)).body;
    expect([session.person.id, session.roles]).toEqual([person.id, ['approver', 'auditor']]);
    const old = await send(service, '/v1/session', post({ email: 'ben@example.com', password }));
    expect(codeOf(old)).toEqual([401, 'wrong_credentials']);
    // Another subject cannot take over the account of an admin.
    oidc.accounts.set('ann', { ...ben, email: 'ann@example.com', groups: ['writ-admins'] });
    expect(await new Visitor().signIn(service, 'ann')).toBe('/?sso=address-taken');
  });
});

describe('what is brought back counts', () => {
  async function onTheWayBack() {
    const { service, oidc } = await scene();
    const visitor = new Visitor();
    const callback = await visitor.visit(`${service.url}/sso/start`, service.url, 'ben');
    return { service, oidc, visitor, callback };
  }

  async function isNobody(visitor: Visitor, service: SsoService['service'], location: string) {
    expect(location).toBe('/?sso=refused');
    expect((await visitor.session(service)).status).toBe(401);
    const { people } = createDirectory(service.store.documents, Date.now);
    expect(await people.list({ countMax: 1 })).toEqual([]);
  }

  test.each([
    ['another state', 'state', 'another'],
    ['no state', 'state', null],
    ['another issuer', 'iss', 'https://evil.example.com'],
    ['a code of nobody', 'code', 'guess'],
    ['an error', 'error', 'access_denied'],
  ])('not with %s', async (_, name, value) => {
    const { service, visitor, callback } = await onTheWayBack();
    const url = new URL(callback);
    if (value === null) url.searchParams.delete(name);
    else url.searchParams.set(name, value);
    await isNobody(visitor, service, await visitor.bring(url.href));
  });

  test('not in another browser, and not twice', async () => {
    const { service, visitor, callback } = await onTheWayBack();
    const other = new Visitor();
    await isNobody(other, service, await other.bring(callback));
    // The attacker has started a sign-in as well, but the two do not belong together.
    await other.visit(`${service.url}/sso/start`, service.url, 'ben');
    await isNobody(other, service, await other.bring(callback));
    expect(await visitor.bring(callback)).toBe('/');
    expect(await visitor.bring(callback)).toBe('/?sso=refused');
  });

  test('not after ten minutes', async () => {
    const { service, oidc, time } = await scene();
    const visitor = new Visitor();
    const callback = await visitor.visit(`${service.url}/sso/start`, service.url, 'ben');
    time.aheadMs += 10 * 60_000;
    await isNobody(visitor, service, await visitor.bring(callback));
    expect(oidc.refreshes.count).toBe(0);
  });

  test.each([
    ['another nonce', { nonce: 'another' }],
    ['another issuer', { iss: 'https://evil.example.com' }],
    ['another audience', { aud: 'another' }],
    ['an end that is over', { exp: Math.floor(Date.now() / 1_000) - 3_600 }],
  ])('not by a token with %s', async (_, changes) => {
    const { service, oidc, visitor, callback } = await onTheWayBack();
    await forge(oidc, changes);
    await isNobody(visitor, service, await visitor.bring(callback));
  });

  test('not with a token signed by another key', async () => {
    const { service, oidc, visitor, callback } = await onTheWayBack();
    await forge(oidc, {}, (await generateKeyPair('RS256')).privateKey);
    await isNobody(visitor, service, await visitor.bring(callback));
  });

  test('with a token signed by a new key of the provider, after which the old key is refused', async () => {
    const { service, oidc } = await scene();
    await new Visitor().signIn(service, 'ben');
    const old = await importJWK(oidc.key(), 'RS256');
    await oidc.rotate();
    expect(await new Visitor().signIn(service, 'ben')).toBe('/requests');
    await forge(oidc, {}, old as CryptoKey);
    expect(await new Visitor().signIn(service, 'ben')).toBe('/?sso=refused');
  });
});

test.each(['https://evil.example.com/', '//evil.example.com', '/\\evil.example.com', 'javascript:alert(1)'])(
  'nobody is sent on to %j',
  async (next) => {
    const { service } = await scene();
    expect(await new Visitor().signIn(service, 'ben', next)).toBe('/');
  },
);

test('an unreachable or misconfigured provider is reported as such', async () => {
  const { service, oidc } = await scene();
  oidc.isThere = false;
  const start = () => new Visitor().bring(`${service.url}/sso/start`);
  expect(await start()).toBe('/?sso=provider-away');
  oidc.isThere = true;
  expect(await start()).toMatch(/^http:\/\/127\.0\.0\.1:\d+\/auth\?/);
  const other = await startSsoService({ issuer: `${oidc.issuer}/` });
  expect(await new Visitor().bring(`${other.service.url}/sso/start`)).toMatch(/provider-away|\/auth\?/);
});

describe('the provider is asked again', () => {
  /** Polls until the condition holds; the service checks in the background. */
  async function until(isSo: () => Promise<boolean>): Promise<void> {
    for (const endsAt = Date.now() + 10_000; !(await isSo()); ) {
      if (Date.now() > endsAt) throw new Error('it did not become so');
      await new Promise((done) => setTimeout(done, 50));
    }
  }

  test('a person who was removed there is signed out, and it is recorded', async () => {
    const { service, oidc } = await scene({ recheckMs: 200 });
    const visitor = new Visitor();
    await visitor.signIn(service, 'ben');
    await until(async () => oidc.refreshes.count >= 2);
    expect((await visitor.session(service)).status).toBe(200);
    oidc.accounts.delete('ben');
    await until(async () => (await visitor.session(service)).status === 401);
    const { records } = await service.store.chain.segment(0, 100);
    expect(JSON.stringify(records)).toContain('session-ended');
  });

  test('a session stays valid when the provider changes its keys', async () => {
    const recheckMs = 8_000;
    const { service, oidc, time } = await scene({ recheckMs });
    const visitor = new Visitor();
    await visitor.signIn(service, 'ben');
    await oidc.rotate();
    for (const count of [1, 2]) {
      time.aheadMs += recheckMs;
      await until(async () => oidc.refreshes.count >= count);
    }
    expect((await visitor.session(service)).status).toBe(200);
  });

  test('roles follow the groups, even to none', async () => {
    const { service, oidc } = await scene({ recheckMs: 200 });
    const visitor = new Visitor();
    await visitor.signIn(service, 'ben');
    oidc.accounts.set('ben', { ...ben, groups: ['everybody'] });
    await until(async () => {
      const { body } = await visitor.session(service);
      return String(body.roles) === 'auditor' && body.person.groups.length === 0;
    });
    oidc.accounts.set('ben', { ...ben, groups: [] });
    await until(async () => (await visitor.session(service)).status === 401);
  });

  test('while it is unreachable a session is suspended after five minutes, and resumes afterwards', async () => {
    const { service, oidc, time } = await scene({ recheckMs: 1_000 });
    const visitor = new Visitor();
    await visitor.signIn(service, 'ben');
    oidc.isThere = false;
    time.aheadMs += 4 * 60_000;
    expect((await visitor.session(service)).status).toBe(200);
    time.aheadMs += 61_000;
    expect((await visitor.session(service)).status).toBe(401);
    oidc.isThere = true;
    // A check that got no answer keeps its claim on the session for half a minute.
    time.aheadMs += 31_000;
    await until(async () => (await visitor.session(service)).status === 200);
  });

  test('a session that cannot be rechecked ends', async () => {
    const { service, oidc, time } = await scene({ recheckMs: 1_000 });
    oidc.alter = (body) => {
      delete body.refresh_token;
    };
    const visitor = new Visitor();
    await visitor.signIn(service, 'ben');
    expect((await visitor.session(service)).status).toBe(200);
    time.aheadMs += 2_000;
    await until(async () => (await visitor.session(service)).status === 401);
  });
});

test('with single sign-on only, passwords work for admins alone', async () => {
  const { service } = await scene({ isOnlyWay: true });
  const admin = await firstAdmin(service);
  await personWith(service, admin, { email: 'eve@example.com', roles: ['auditor'] });
  const enter = (email: string, given: string) =>
    send(service, '/v1/session', post({ email, password: given }));
  expect(codeOf(await enter('eve@example.com', password))).toEqual([403, 'sso_only']);
  // A caller with a wrong password does not learn that the account uses single sign-on.
  expect(codeOf(await enter('eve@example.com', 'wrong wrong wrong'))).toEqual([401, 'wrong_credentials']);
  expect((await enter('ann@example.com', password)).status).toBe(200);
  expect((await send(service, '/v1/sign-in')).body).toEqual({
    is_empty: false,
    sso_name: 'Example',
    is_sso_only: true,
  });
});
