// Proofs of possession (DPoP) for tests, right and wrong.

import { hash } from 'node:crypto';
import { calculateJwkThumbprint, exportJWK, generateKeyPair, type JWK, SignJWT } from 'jose';

export interface Holder {
  readonly privateKey: CryptoKey;
  readonly jwk: JWK;
  readonly jkt: string;
}

export async function makeHolder(): Promise<Holder> {
  const { privateKey, publicKey } = await generateKeyPair('ES256', { extractable: true });
  const jwk = await exportJWK(publicKey);
  return { privateKey, jwk, jkt: await calculateJwkThumbprint(jwk) };
}

export const publicUrl = 'https://writ.example.com';

export interface ProofDraft {
  readonly claims?: Readonly<Record<string, unknown>>;
  readonly header?: Readonly<Record<string, unknown>>;
  readonly by?: Holder;
}

/** A proof for `POST /v1/authorize` with the token, unless the draft sets other values. */
export async function proofBy(
  holder: Holder,
  token: string,
  { claims = {}, header = {}, by = holder }: ProofDraft = {},
): Promise<string> {
  const named = {
    jti: crypto.randomUUID(),
    htm: 'POST',
    htu: `${publicUrl}/v1/authorize`,
    iat: Math.floor(Date.now() / 1_000),
    ath: hash('sha256', token, 'base64url'),
    ...claims,
  };
  return await new SignJWT(named)
    .setProtectedHeader({ typ: 'dpop+jwt', alg: 'ES256', jwk: by.jwk, ...header })
    .sign(by.privateKey);
}
