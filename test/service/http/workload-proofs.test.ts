// Proofs of possession (DPoP) over HTTP: for tokens of workloads, and for people's tokens that are bound to a key.

import { hash } from 'node:crypto';
import { beforeAll, expect, test } from 'vitest';
import { createDirectory } from '../../../src/service/people/directory.ts';
import { createToken } from '../../../src/service/people/tokens.ts';
import { makeKey, type SigningKey, shareIssuer } from './issuer.ts';
import { firstAdmin, send } from './person-client.ts';
import { type Holder, makeHolder, type ProofDraft, proofBy, publicUrl } from './proofs.ts';
import { startService } from './service.ts';
import { ask, granted, issuerSettings, startWorkloadService, workloadToken } from './workload-service.ts';

const issuer = shareIssuer();
let key: SigningKey;

let holder: Holder;
let stranger: Holder;
const proofFor = (token: string, draft: ProofDraft = {}) => proofBy(holder, token, draft);

beforeAll(async () => {
  key = await makeKey('first');
  issuer.keys = [key];
  [holder, stranger] = [await makeHolder(), await makeHolder()];
});

test('a token that is bound to a key identifies the agent with a proof for this request, once', async () => {
  const { service, map } = await startWorkloadService([issuerSettings(issuer)], { publicUrl });
  await map();
  await granted(service, await workloadToken(issuer.url, key));
  const token = await workloadToken(issuer.url, key, { cnf: { jkt: holder.jkt } });
  const proved = (proof: string) => ask(service, token, { scheme: 'DPoP', headers: { dpop: proof } });
  const proof = await proofFor(token);
  expect((await proved(proof)).code).toBe('ALLOW');
  const again = await proved(proof);
  expect([again.status, again.code, again.detail]).toEqual([
    401,
    'invalid_dpop_proof',
    'the proof has been used',
  ]);
  expect(again.challenge).toMatch(/^DPoP error="invalid_dpop_proof", algs="ES256 /);
  expect(
    (await proved(await proofFor(token, { claims: { htu: `${publicUrl}:443/v1/authorize?x#y` } }))).code,
  ).toBe('ALLOW');
  const now = Math.floor(Date.now() / 1_000);
  const other = await workloadToken(issuer.url, key, { cnf: { jkt: holder.jkt }, jti: 'another' });
  const drafts: Readonly<Record<string, ProofDraft>> = {
    'of another key than the one': { by: stranger },
    'is for another method': { claims: { htm: 'GET' } },
    'is for another address': { claims: { htu: `${publicUrl}/v1/plans` } },
    'is for another token': { claims: { ath: hash('sha256', other, 'base64url') } },
    'more than a minute ago': { claims: { iat: now - 120 } },
    'or in the future': { claims: { iat: now + 120 } },
    'is not a signed JWT of the type': { header: { typ: 'JWT' } },
    'signed JWT': { header: { jwk: { ...holder.jwk, d: 'AAAA' } } },
    'invalid signature': { header: { jwk: stranger.jwk } },
  };
  for (const [words, draft] of Object.entries(drafts)) {
    const answer = await proved(await proofFor(token, draft));
    expect([answer.code, answer.detail]).toEqual(['invalid_dpop_proof', expect.stringContaining(words)]);
  }
  for (const htu of [`http://writ.example.com/v1/authorize`, 'https://evil.example/v1/authorize', 'nothing'])
    expect((await proved(await proofFor(token, { claims: { htu } }))).detail).toContain('another address');
  expect((await ask(service, token, { scheme: 'DPoP' })).detail).toContain('is missing');
  const bearer = await ask(service, token, { headers: { dpop: await proofFor(token) } });
  expect([bearer.code, bearer.detail]).toEqual(['invalid_token', expect.stringContaining('bound to a key')]);
  const plain = await workloadToken(issuer.url, key);
  const unbound = await ask(service, plain, { scheme: 'DPoP', headers: { dpop: await proofFor(plain) } });
  expect([unbound.code, unbound.detail]).toEqual(['invalid_token', expect.stringContaining('not bound')]);
});

test("a person's token that is bound to a key needs a proof", async () => {
  const service = await startService({ publicUrl });
  const person = await firstAdmin(service);
  const directory = createDirectory(service.store.documents, Date.now);
  const actor = { person, roles: person.roles };
  const made = await createToken(directory, actor, {
    name: 'ci',
    roles: person.roles,
    days: 1,
    jkt: holder.jkt,
  });
  if (made.kind !== 'made') throw new Error(made.kind);
  const claims = { htm: 'GET', htu: `${publicUrl}/v1/agents` };
  const list = (headers: Readonly<Record<string, string>>) => send(service, '/v1/agents', { headers });
  const authorization = `DPoP ${made.text}`;
  const proof = await proofFor(made.text, { claims });
  expect((await list({ authorization, dpop: proof })).status).toBe(200);
  expect((await list({ authorization, dpop: proof })).body.detail).toBe('the proof has been used');
  const stolen = await proofFor(made.text, { claims, by: stranger });
  expect((await list({ authorization, dpop: stolen })).body.detail).toContain('of another key');
  expect((await list({ authorization })).body.detail).toContain('is missing');
  const bearer = await list({ authorization: `Bearer ${made.text}` });
  expect([bearer.status, bearer.body.detail]).toEqual([401, expect.stringContaining('bound to a key')]);
  const wrong = await createToken(directory, actor, {
    name: 'ci',
    roles: person.roles,
    days: 1,
    jkt: 'short',
  });
  expect(wrong.kind).toBe('invalid');
});
