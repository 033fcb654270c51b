// An issuer of tokens on this machine: its keys, its discovery document, and tokens of every kind.

import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { exportJWK, generateKeyPair, type JWK, SignJWT } from 'jose';
import { afterAll, beforeAll } from 'vitest';

export interface SigningKey {
  readonly kid: string;
  readonly alg: string;
  readonly privateKey: CryptoKey;
  readonly publicJwk: JWK;
}

export interface Issuer {
  readonly url: string;
  /** The keys that the issuer publishes. */
  keys: SigningKey[];
  /** How the issuer answers a request for its keys. */
  mood: 'answers' | 'fails' | 'hangs';
  /** How often the keys were fetched. */
  asked: number;
}

export async function makeKey(kid: string, alg = 'ES256'): Promise<SigningKey> {
  const { privateKey, publicKey } = await generateKeyPair(alg, { extractable: true });
  return { kid, alg, privateKey, publicJwk: { ...(await exportJWK(publicKey)), kid, alg, use: 'sig' } };
}

/** One issuer for all tests of a file. */
export function shareIssuer(): Issuer {
  const issuer = { url: '', keys: [] as SigningKey[], mood: 'answers' as Issuer['mood'], asked: 0 };
  const server = createServer((request, reply) => {
    const say = (body: unknown) =>
      reply.setHeader('content-type', 'application/json').end(JSON.stringify(body));
    if (request.url === '/.well-known/openid-configuration')
      return void say({ issuer: issuer.url, jwks_uri: `${issuer.url}/keys` });
    issuer.asked += 1;
    if (issuer.mood === 'fails') return void reply.writeHead(503).end();
    if (issuer.mood === 'answers') say({ keys: issuer.keys.map(({ publicJwk }) => publicJwk) });
  });
  beforeAll(async () => {
    await new Promise<void>((done) => server.listen(0, '127.0.0.1', done));
    issuer.url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  });
  afterAll(() => {
    server.closeAllConnections();
    server.close();
  });
  return issuer;
}

export type Claims = Readonly<Record<string, unknown>>;

export interface TokenDraft {
  readonly claims?: Claims;
  /** The `typ` of the token's header. */
  readonly typ?: string;
}

/**
 * A signed token that is valid for ten minutes, for the audience `writ`, unless the claims set other values.
 * A claim that is undefined is left out.
 */
export async function makeToken(issuer: string, key: SigningKey, draft: TokenDraft = {}): Promise<string> {
  const nowSeconds = Math.floor(Date.now() / 1_000);
  const claims = {
    iss: issuer,
    aud: 'writ',
    sub: 'u-ann',
    iat: nowSeconds,
    exp: nowSeconds + 600,
    ...draft.claims,
  };
  const { typ } = draft;
  return await new SignJWT(claims)
    .setProtectedHeader({ alg: key.alg, kid: key.kid, ...(typ === undefined ? {} : { typ }) })
    .sign(key.privateKey);
}
