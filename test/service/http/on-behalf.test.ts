// `X-On-Behalf-Of` over HTTP, with an issuer that publishes keys: which users are known, by which keys, and
// how a user changes the decision.

import { createHmac } from 'node:crypto';
import { exportSPKI, importJWK } from 'jose';
import { beforeAll, describe, expect, test, vi } from 'vitest';
import { connect } from '../../../integrations/typescript/client.ts';
import { exportLineOf, givenOf } from '../../../src/analysis/replay/export-line.ts';
import type { JsonObject } from '../../../src/language/model/json.ts';
import { countingServer, listenForClients, modern, proxySettings, tool } from '../../integrations/mcp/rig.ts';
import { type Claims, makeKey, makeToken, type SigningKey, shareIssuer } from './issuer.ts';
import { firstAdmin, personWith, tokenClient } from './person-client.ts';
import { authorize, type Service, shareService, startService } from './service.ts';
import { codeOf, give } from './written-policies.ts';

const policies = `
approvers finance "Finance"
action site.deploy, site.ask, site.count, site.move { place: string }
meter counted = count() of site.count per user over 1h
policy sites on site.* {
  allow deployers when action.key == "site.deploy" and "deployers" in request.user.groups because "for {request.user.id}"
  allow asked after approval by finance when action.key == "site.ask"
  allow moved after approval by finance except request.user.email when action.key == "site.move"
  allow first_time when action.key == "site.count" and counted <= 1
}
`;

const issuer = shareIssuer();
const timing = { leastMs: 10, everyMs: 600_000 };
const usersOf = () => ({
  issuer: issuer.url,
  audience: 'writ',
  keys: null,
  rolesClaim: 'realm.roles',
  groupsClaim: 'groups',
  timing,
});
let first: SigningKey;
const deployers = { groups: ['deployers'] };

beforeAll(async () => {
  first = await makeKey('first');
  issuer.keys = [first];
});

const shared = shareService({
  startsWith: policies,
  // Read when the service is made, because the issuer has its address only then.
  get users() {
    return usersOf();
  },
});

interface Asked {
  readonly action?: string;
  readonly place?: string;
  readonly headers?: Readonly<Record<string, string>>;
}

async function ask(token: string | null, { action = 'site.deploy', place = 'a', headers = {} }: Asked = {}) {
  const body = JSON.stringify({ action_key: action, payload: { place } });
  const own = token === null ? {} : { 'x-on-behalf-of': token };
  const reply = await authorize(shared(), { body, headers: { ...own, ...headers } });
  return { status: reply.status, view: (await reply.json()) as View };
}

interface View {
  readonly request_id: string;
  readonly decision: string;
  readonly status: string;
  readonly reason: string;
  /** The type of the problem; absent when the reply is a decision. */
  readonly type?: string;
}

test('the person on whose behalf the agent asks cannot approve, and an unknown person excludes everybody', async () => {
  const service = await startService({ startsWith: policies, users: usersOf() });
  const token = await makeToken(issuer.url, first, {
    claims: { email: 'ben@example.com', email_verified: true },
  });
  const moving = async (headers: Readonly<Record<string, string>>) => {
    const body = JSON.stringify({ action_key: 'site.move', payload: { place: 'a' } });
    return (await (await authorize(service, { body, headers })).json()) as View;
  };
  const admin = await firstAdmin(service);
  const person = (email: string) =>
    personWith(service, admin, { email, roles: ['approver'], groups: ['finance'] });
  const [ben, bea] = [await person('ben@example.com'), await person('bea@example.com')];
  const { request_id: forNobody } = await moving({});
  for (const one of [ben, bea])
    expect(codeOf(await give(one, forNobody, 'approve'))).toEqual([403, 'not_allowed']);
  await vi.waitFor(async () => {
    const { request_id: id } = await moving({ 'x-on-behalf-of': token });
    expect(codeOf(await give(ben, id, 'approve'))).toEqual([403, 'not_allowed']);
    expect((await give(bea, id, 'approve')).body.status).toBe('approved');
  });
});

async function detailOf({ view }: { readonly view: View }) {
  const { url, apiKey } = shared();
  const reply = await fetch(`${url}/v1/requests/${view.request_id}`, {
    headers: { 'x-agent-api-key': apiKey },
  });
  return (await reply.json()) as { readonly on_behalf_of: unknown; readonly digest: string };
}

const known = async (claims: Claims = deployers) =>
  await vi.waitFor(async () => {
    const answer = await ask(await makeToken(issuer.url, first, { claims }));
    expect(answer.view.decision).toBe('ALLOW');
    return answer;
  });

describe('a token that the issuer has signed for this service', () => {
  test('makes the person known to rules, and is recorded', async () => {
    const claims = {
      ...deployers,
      email: 'ann@example.com',
      email_verified: true,
      realm: { roles: ['lead'] },
    };
    const answer = await known(claims);
    expect(answer.view.reason).toBe('for u-ann');
    const user = { id: 'u-ann', email: 'ann@example.com', roles: ['lead'], groups: ['deployers'] };
    expect((await detailOf(answer)).on_behalf_of).toEqual({ user, unknown: null });
  });

  test('leaves facts unknown that it does not contain: an unverified address, an absent list', async () => {
    await known();
    const claims = { email: 'ann@example.com', groups: 'deployers', realm: { roles: ['a', 1] } };
    const answer = await ask(await makeToken(issuer.url, first, { claims }));
    expect(answer.view.decision).toBe('DENY');
    expect((await detailOf(answer)).on_behalf_of).toEqual({ user: { id: 'u-ann' }, unknown: null });
  });

  test.each([
    ['ann@EXAMPLE.com', { email: 'ann@example.com' }],
    ['ann of example.com', {}],
  ])('says %s in canonical form, where it is an address', async (email, known) => {
    const answer = await ask(await makeToken(issuer.url, first, { claims: { email, email_verified: true } }));
    const user = { id: 'u-ann', ...known };
    expect((await detailOf(answer)).on_behalf_of).toEqual({ user, unknown: null });
  });

  test('is ignored without settings for it: no person is known, and replies do not mention it', async () => {
    const answer = await ask(null);
    expect(answer.view.decision).toBe('DENY');
    expect((await detailOf(answer)).on_behalf_of).toBeNull();
  });
});

describe('no person is known by a token that', () => {
  const nowSeconds = () => Math.floor(Date.now() / 1_000);
  const part = (value: object) => Buffer.from(JSON.stringify(value)).toString('base64url');
  const claimed = (claims: Claims) => makeToken(issuer.url, first, { claims: { ...deployers, ...claims } });
  const body = () => ({ iss: issuer.url, aud: 'writ', sub: 'u-ann', exp: nowSeconds() + 600, ...deployers });

  const tokens: readonly (readonly [string, string, () => Promise<string>])[] = [
    ['has expired', 'has expired', () => claimed({ exp: nowSeconds() - 1 })],
    ['never expires', 'lacks a required claim', () => claimed({ exp: undefined })],
    ['is not valid yet', 'is not valid yet', () => claimed({ nbf: nowSeconds() + 300 })],
    ['is from another issuer', 'is from another issuer', () => claimed({ iss: 'https://evil.example' })],
    ['is for another service', 'is for another service', () => claimed({ aud: ['other'] })],
    ['is for nobody', 'is for another service', () => claimed({ aud: undefined })],
    ['names nobody', 'lacks a required claim', () => claimed({ sub: undefined })],
    ['names an empty subject', 'lacks a required claim', () => claimed({ sub: '' })],
    ['is bound to a key of its holder', 'lacks a required claim', () => claimed({ cnf: { jkt: 'x' } })],
    [
      'is a logout token',
      'lacks a required claim',
      () => makeToken(issuer.url, first, { claims: deployers, typ: 'logout+jwt' }),
    ],
    [
      'is signed by a key of somebody else under a name of the issuer',
      'has an invalid signature',
      async () => makeToken(issuer.url, await makeKey('first'), { claims: deployers }),
    ],
    [
      'is signed by a key that the issuer does not have',
      'is not signed with a current key of the issuer',
      async () => makeToken(issuer.url, await makeKey('foreign'), { claims: deployers }),
    ],
    [
      'has been changed after it was signed',
      'has an invalid signature',
      async () => {
        const [head, , signature] = (await claimed({ groups: ['none'] })).split('.');
        return `${head}.${part(body())}.${signature}`;
      },
    ],
    [
      'is signed with the public key as if it were a secret',
      'is signed with an algorithm that is not accepted',
      async () => {
        const key = await importJWK(first.publicJwk, 'ES256', { extractable: true });
        const text = `${part({ alg: 'HS256', kid: 'first' })}.${part(body())}`;
        const secret = await exportSPKI(key as CryptoKey);
        return `${text}.${createHmac('sha256', secret).update(text).digest('base64url')}`;
      },
    ],
    ['is not signed', 'is not a signed JWT', async () => `${part({ alg: 'none' })}.${part(body())}.`],
    [
      'says that it is not signed, with a signature',
      'is signed with an algorithm that is not accepted',
      async () => `${part({ alg: 'none' })}.${part(body())}.${part({})}`,
    ],
    ['is no token', 'is not a signed JWT', async () => 'Bearer u-ann'],
    ['is empty', 'is not a signed JWT', async () => ''],
    ['is two tokens', 'is not a signed JWT', async () => `${await claimed({})}, ${await claimed({})}`],
  ];

  test.each(tokens)('%s', async (_, why, token) => {
    await known();
    const answer = await ask(await token());
    expect(answer.view.decision).toBe('DENY');
    expect((await detailOf(answer)).on_behalf_of).toEqual({ user: null, unknown: `The token ${why}` });
  });
});

test('a new key of the issuer counts without a restart, and a withdrawn key no longer does', async () => {
  const answer = await known();
  const old = await makeToken(issuer.url, first, { claims: deployers });
  expect((await ask(old)).view.decision).toBe('ALLOW');
  const second = await makeKey('second', 'EdDSA');
  issuer.keys = [second];
  const token = await makeToken(issuer.url, second, { claims: deployers });
  await vi.waitFor(async () => expect((await ask(token)).view.decision).toBe('ALLOW'));
  // The key of the old token was known a moment ago; the issuer no longer publishes it.
  expect((await ask(old)).view.decision).toBe('DENY');
  expect(answer.view.decision).toBe('ALLOW');
  issuer.keys = [first];
  await vi.waitFor(async () => {
    await ask(await makeToken(issuer.url, await makeKey('nobody'), {}));
    expect((await ask(old)).view.decision).toBe('ALLOW');
  });
});

test('no decision waits for an issuer that does not answer, and its known keys stay valid', async () => {
  await known();
  const before = issuer.asked;
  issuer.mood = 'hangs';
  const foreign = await makeToken(issuer.url, await makeKey('new'), { claims: deployers });
  // Each of these tokens has an unknown key, for which the service would fetch the keys.
  const answers = await Promise.all(Array.from({ length: 5 }, () => ask(foreign)));
  await vi.waitFor(() => expect(issuer.asked).toBeGreaterThan(before));
  expect(answers.every(({ view }) => view.decision === 'DENY')).toBe(true);
  expect((await ask(foreign)).view.decision).toBe('DENY');
  expect((await ask(await makeToken(issuer.url, first, { claims: deployers }))).view.decision).toBe('ALLOW');
  expect(issuer.asked).toBe(before + 1);
  issuer.mood = 'answers';
});

describe('another person', () => {
  const tokenOf = (sub: string) => makeToken(issuer.url, first, { claims: { sub, ...deployers } });

  test('has a separate meter, and an unknown person has none', async () => {
    await known();
    const [ann, ben] = [await tokenOf('ann'), await tokenOf('ben')];
    const action = 'site.count';
    const decided = [ann, ann, ben, null];
    const got: string[] = [];
    for (const token of decided) got.push((await ask(token, { action })).view.decision);
    expect(got).toEqual(['ALLOW', 'DENY', 'ALLOW', 'DENY']);
  });

  test('cannot use an approval or an idempotency key of the first person', async () => {
    await known();
    const service: Service = shared();
    const [ann, ben] = [await tokenOf('ann'), await tokenOf('ben')];
    const attach = { action: 'site.ask', headers: { prefer: 'attach' } };
    const asked = await ask(ann, attach);
    expect(asked.view.status).toBe('pending');
    const admin = await firstAdmin(service);
    const approver = await personWith(service, admin, {
      email: 'fin@example.com',
      roles: ['approver'],
      groups: ['finance'],
    });
    expect(codeOf(await give(approver, asked.view.request_id, 'approve'))).toEqual([200, 'approved']);
    for (const token of [ben, null, 'forged'])
      expect((await ask(token, attach)).view.request_id).not.toBe(asked.view.request_id);
    const taken = await ask(ann, attach);
    expect(taken.view).toMatchObject({ request_id: asked.view.request_id, decision: 'ALLOW' });

    // An export holds all that is needed to decide a request again.
    const exported = await (await tokenClient(service, admin)).send('/v1/requests/export?action=site.ask');
    const lines = String(exported.body).trimEnd().split('\n');
    const given = lines.map((line) => givenOf(exportLineOf(JSON.parse(line) as JsonObject)!));
    expect(given.filter((one) => one !== null).map(({ request }) => Object(request).user)).toContainEqual({
      id: 'ann',
      ...deployers,
    });

    const keyed = { headers: { 'idempotency-key': 'k-1' } };
    expect((await ask(ann, keyed)).view.decision).toBe('ALLOW');
    expect((await ask(ann, keyed)).status).toBe(200);
    for (const token of [ben, null]) {
      const { status, view } = await ask(token, keyed);
      expect([status, view.type]).toEqual([400, 'urn:writ:error:idempotency_mismatch']);
    }
  });
});

describe('says for whom it asks:', () => {
  const tokens = async () => [
    await makeToken(issuer.url, first, { claims: deployers }),
    await makeToken(issuer.url, first, { claims: { groups: ['readers'] } }),
  ];

  test('the client, for all calls or for one, by a token that can be renewed', async () => {
    await known();
    const [deployer = '', reader = ''] = await tokens();
    let present: string | undefined = deployer;
    const { url, apiKey: key } = shared();
    const writ = connect({ url, key, onBehalfOf: () => present });
    const kindFor = async (options = {}) =>
      (await writ.authorize('site.deploy', { place: 'a' }, options)).kind;
    expect(await kindFor()).toBe('allowed');
    expect(await kindFor({ onBehalfOf: reader })).toBe('denied');
    present = undefined;
    expect(await kindFor()).toBe('denied');
    expect(await kindFor({ onBehalfOf: deployer })).toBe('allowed');
  });

  test('a client of the proxy, with each call', async () => {
    await known();
    const server = countingServer(tool('deploy'));
    const url = await listenForClients(proxySettings(shared(), server, { as: 'site' }));
    const callFor = async (token: string | undefined, id: number) => {
      const params = { name: 'deploy', arguments: { place: 'a' }, ...modern() };
      const reply = await fetch(url, {
        method: 'POST',
        headers: {
          authorization: `Bearer ${shared().apiKey}`,
          accept: 'application/json, text/event-stream',
          'content-type': 'application/json',
          'mcp-protocol-version': '2026-07-28',
          'mcp-method': 'tools/call',
          'mcp-name': 'deploy',
          ...(token === undefined ? {} : { 'x-on-behalf-of': token }),
        },
        body: JSON.stringify({ jsonrpc: '2.0', id, method: 'tools/call', params }),
      });
      return (await reply.json()) as unknown;
    };
    for (const [at, token] of [...(await tokens()), undefined].entries()) await callFor(token, at + 1);
    expect(server.calls()).toHaveLength(1);
  });
});
