// Tokens of workloads over HTTP, with an issuer that publishes keys: which tokens identify an agent, which attacks
// do not, and how soon an end takes effect.

import { createHmac } from 'node:crypto';
import { CompactSign, exportJWK, exportSPKI, importJWK, SignJWT, UnsecuredJWT } from 'jose';
import { beforeAll, describe, expect, test, vi } from 'vitest';
import { setSigning } from '../../../src/service/agents/registry.ts';
import { type Claims, makeKey, makeToken, type SigningKey, shareIssuer } from './issuer.ts';
import type { ServiceOptions } from './service.ts';
import {
  account,
  ask,
  audience,
  granted,
  issuerSettings,
  startWorkloadService,
  workloadToken,
} from './workload-service.ts';

const issuer = shareIssuer();
const other = shareIssuer();
let key: SigningKey;

beforeAll(async () => {
  key = await makeKey('first');
  issuer.keys = [key];
  other.keys = [await makeKey('other')];
});

const start = (options: ServiceOptions = {}) =>
  startWorkloadService([issuerSettings(issuer), issuerSettings(other)], options);

const tokenWith = (claims: Claims = {}, from = issuer.url, by = key) => workloadToken(from, by, claims);

describe('a token that fits one identity', () => {
  test('identifies the agent like a key, and is recorded with issuer and subject', async () => {
    const { service, admin, map } = await start();
    expect((await map()).status).toBe(201);
    const { body } = await granted(service, await tokenWith());
    const row = await service.store.requests.find(body.request_id ?? '');
    expect(row?.agentId).toBe(service.agent.id);
    expect(JSON.parse(row?.recordJson ?? '')).toMatchObject({
      workload: { issuer: issuer.url, subject: account },
      key: { id: expect.stringMatching(/^writw_\w{8}$/), isReplaced: false },
    });
    const list = await admin.send(`/v1/agents/${service.agent.id}/identities`);
    expect(list.body.items).toMatchObject([
      { required_claims: { sub: [account] }, status: 'active', ended_at: null },
    ]);
  });

  test('is refused at once when the agent is disabled or a kill switch is on, and a signature may be required', async () => {
    const { service, admin, map } = await start();
    await map();
    const token = await tokenWith();
    await granted(service, token);
    const set = (way: string) =>
      admin.send(`/v1/agents/${service.agent.id}/${way}`, { method: 'POST', body: {} });
    expect((await set('disable')).body.status).toBe('disabled');
    expect((await ask(service, token)).code).toBe('agent_disabled');
    await set('enable');
    await granted(service, token);
    const { store, agent } = service;
    await setSigning(store, { agentId: agent.id, signing: 'required', nowMs: Date.now() });
    expect((await ask(service, token)).code).toBe('invalid_signature');
    await setSigning(store, { agentId: agent.id, signing: 'off', nowMs: Date.now() });
    const stop = { scope: `agent:${agent.id}`, reason: 'test' };
    expect((await admin.send('/v1/kill-switches', { method: 'POST', body: stop })).status).toBe(201);
    expect((await ask(service, token)).code).toBe('stopped');
  });

  test('is refused at once when the identity is removed, and also while a decision is under way', async () => {
    const { service, admin, map } = await start();
    const { body: identity } = await map();
    const token = await tokenWith();
    await granted(service, token);
    const remove = () =>
      admin.send(`/v1/agents/${service.agent.id}/identities/${identity.id}`, { method: 'DELETE' });
    // The removal reaches the store before the decision does: the write of the grant finds another version.
    const { meters } = service.store;
    const spend = meters.spend.bind(meters);
    vi.spyOn(meters, 'spend').mockImplementationOnce(async (...args) => {
      expect((await remove()).status).toBe(200);
      return await spend(...args);
    });
    const late = await ask(service, token);
    expect([late.status, late.code]).toEqual([401, 'invalid_token']);
    expect(late.detail).toContain('no longer identifies the agent');
    const next = await ask(service, token);
    expect([next.status, next.code]).toEqual([403, 'identity_not_mapped']);
  });

  test('counts with the rate of its agent', async () => {
    const { service, map } = await start({ rate: { perMinute: 1, burst: 2 } });
    await map();
    const token = await tokenWith();
    const codes = await vi.waitFor(async () => {
      expect((await ask(service, token)).code).toBe('ALLOW');
      return [await ask(service, token), await ask(service, token)].map(({ code }) => code);
    });
    expect(codes).toEqual(['ALLOW', 'rate_limited']);
  });
});

describe('attacks', () => {
  test('each is refused, and only the right token passes', async () => {
    const { service, map } = await start();
    await map();
    await granted(service, await tokenWith());
    const now = Math.floor(Date.now() / 1_000);
    const stranger = await makeKey('first');
    const claims = { iss: issuer.url, aud: audience, sub: account, iat: now, exp: now + 600 };
    const secret = new TextEncoder().encode(
      await exportSPKI((await importJWK(key.publicJwk, 'ES256', { extractable: true })) as CryptoKey),
    );
    const own = await exportJWK(stranger.privateKey);
    const withHeader = (header: object, by: SigningKey) =>
      new SignJWT(claims).setProtectedHeader({ alg: by.alg, kid: by.kid, ...header }).sign(by.privateKey);
    const raw = (payload: string) =>
      new CompactSign(new TextEncoder().encode(payload))
        .setProtectedHeader({ alg: key.alg, kid: key.kid })
        .sign(key.privateKey);
    const refusedTokens: Readonly<Record<string, readonly [string, string]>> = {
      'without a signature': [new UnsecuredJWT(claims).encode(), 'invalid_token'],
      'signed with the public key as a secret': [
        await new SignJWT(claims).setProtectedHeader({ alg: 'HS256', kid: key.kid }).sign(secret),
        'invalid_token',
      ],
      'signed by another key of the same id': [await tokenWith({}, issuer.url, stranger), 'invalid_token'],
      'with its key in the header': [await withHeader({ jwk: own }, stranger), 'invalid_token'],
      'with an address of keys in the header': [
        await withHeader({ jku: `${other.url}/keys`, x5u: `${other.url}/keys` }, other.keys[0]!),
        'invalid_token',
      ],
      'of an issuer that is not configured': [
        await tokenWith({ iss: 'https://evil.example' }),
        'invalid_token',
      ],
      'of the other issuer, with the same subject': [
        await tokenWith({}, other.url, other.keys[0]!),
        'identity_not_mapped',
      ],
      'signed by the other issuer in the name of this one': [
        await tokenWith({}, issuer.url, other.keys[0]!),
        'invalid_token',
      ],
      'for another audience': [await tokenWith({ aud: 'https://other.example' }), 'invalid_token'],
      'for several audiences': [
        await tokenWith({ aud: [audience, 'https://other.example'] }),
        'invalid_token',
      ],
      'without an audience': [await tokenWith({ aud: undefined }), 'invalid_token'],
      expired: [await tokenWith({ iat: now - 900, exp: now - 1 }), 'invalid_token'],
      'without an end': [await tokenWith({ exp: undefined }), 'invalid_token'],
      'with too long a life': [await tokenWith({ exp: now + 3_700 }), 'invalid_token'],
      'made long ago': [await tokenWith({ iat: now - 3_500, exp: now + 600 }), 'invalid_token'],
      'of the future': [await tokenWith({ nbf: now + 300 }), 'invalid_token'],
      'made in the future': [await tokenWith({ iat: now + 300 }), 'invalid_token'],
      'of another subject': [await tokenWith({ sub: `${account}2` }), 'identity_not_mapped'],
      'with a list as subject': [await tokenWith({ sub: [account] }), 'invalid_token'],
      'with a claim twice': [
        await raw(
          JSON.stringify({ ...claims, sub: 'x' }).replace('"sub":"x"', `"sub":"x","sub":"${account}"`),
        ),
        'invalid_token',
      ],
      'bound to a certificate': [await tokenWith({ cnf: { 'x5t#S256': 'A'.repeat(43) } }), 'invalid_token'],
      'of another type': [
        await makeToken(issuer.url, key, { typ: 'logout+jwt', claims: { sub: account, aud: audience } }),
        'invalid_token',
      ],
      'with an actor that the identity does not know': [
        await tokenWith({ act: { sub: 'stranger' } }),
        'identity_not_mapped',
      ],
    };
    for (const [name, [token, code]] of Object.entries(refusedTokens)) {
      const answer = await ask(service, token);
      expect([name, answer.code]).toEqual([name, code]);
    }
    expect((await ask(service, 'no.jwt.here')).challenge).toBe('Bearer error="invalid_token"');
    // Whoever has the secret of a client signs as the client, so a symmetric key never counts.
    const [head, payload] = (await tokenWith()).split('.');
    const forged = `${head}.${payload}.${createHmac('sha256', secret).update(`${head}.${payload}`).digest('base64url')}`;
    expect((await ask(service, forged)).code).toBe('invalid_token');
    expect((await ask(service, await tokenWith())).code).toBe('ALLOW');
    const alike = await map({ required_claims: { sub: [account, 'another'] } });
    expect([alike.status, alike.body.detail]).toEqual([409, expect.stringContaining('could also fit')]);
    const apart = await map({ required_claims: { sub: 'another' } });
    expect(apart.status).toBe(201);
    const odd = await map({ required_claims: { sub: 'a*' } });
    expect([odd.status, odd.body.errors[0].pointer]).toEqual([400, '/required_claims']);
    const unknown = await map({ issuer: 'https://evil.example' });
    expect([unknown.status, unknown.body.errors[0].pointer]).toEqual([400, '/issuer']);
  });
});
