// Proofs of possession across processes: what one process has accepted counts in no other, whether that one runs
// beside it or ran before it.

import { hash } from 'node:crypto';
import { calculateJwkThumbprint, exportJWK, generateKeyPair, SignJWT } from 'jose';
import { expect, test } from 'vitest';
import { createNonceCache } from '../../../src/service/agents/nonces.ts';
import type { NonceUse } from '../../../src/service/store/contract/records.ts';
import { createProofChecker } from '../../../src/service/workloads/proof.ts';

const origin = 'https://writ.example.com';

async function sentProof() {
  const { privateKey, publicKey } = await generateKeyPair('ES256');
  const jwk = await exportJWK(publicKey);
  const credential = 'a.b.c';
  const claims = { jti: 'one', htm: 'GET', htu: `${origin}/v1/actions`, iat: Math.floor(Date.now() / 1_000) };
  const proof = await new SignJWT({ ...claims, ath: hash('sha256', credential, 'base64url') })
    .setProtectedHeader({ typ: 'dpop+jwt', alg: 'ES256', jwk })
    .sign(privateKey);
  return {
    proof,
    credential,
    jkt: await calculateJwkThumbprint(jwk),
    method: 'GET',
    url: '/v1/actions?prefix=a',
  };
}

function keptNonces() {
  const uses: NonceUse[] = [];
  const store = {
    list: async () => uses,
    note: (use: NonceUse) => void uses.push(use),
    validFromMs: async () => null,
  };
  return { uses, store };
}

const checkerOn = (
  store: ReturnType<typeof keptNonces>['store'],
  settle: () => Promise<'settled' | 'nonce-used'> = async () => 'settled',
) => createProofChecker({ origin, nonces: createNonceCache({ store }), settle, clock: Date.now });

test('a proof counts once, also after a restart', async () => {
  const { store } = keptNonces();
  const sent = await sentProof();
  expect(await checkerOn(store).check(sent)).toBeNull();
  expect(await checkerOn(store).check(sent)).toBe('used');
});

test('a proof that another process has accepted does not count', async () => {
  expect(await checkerOn(keptNonces().store, async () => 'nonce-used').check(await sentProof())).toBe('used');
});

test('a proof does not count while nobody knows whether it was used', async () => {
  const { store } = keptNonces();
  const unread = { ...store, list: () => Promise.reject(new Error('the store is away')) };
  expect(await checkerOn(unread).check(await sentProof())).toBe('busy');
  const lost = checkerOn(store, () => Promise.reject(new Error('the store is away')));
  await expect(lost.check(await sentProof())).rejects.toThrow('the store is away');
});
