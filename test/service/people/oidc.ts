// A real OpenID Connect provider on this machine; a test changes its people, keys and answers.

import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { exportJWK, generateKeyPair, type JWK } from 'jose';
import Provider, { type AdapterFactory, type AdapterPayload } from 'oidc-provider';
import { onTestFinished } from 'vitest';

export interface Account {
  readonly email?: string | undefined;
  readonly email_verified?: boolean | undefined;
  readonly name?: string;
  readonly groups?: readonly string[];
}

export interface Oidc {
  readonly issuer: string;
  /** Accounts by subject; a removed account is unknown at once. */
  readonly accounts: Map<string, Account>;
  /** The present signing key. */
  key(): JWK;
  /** Replaces the signing key; the old key is no longer published. */
  rotate(): Promise<void>;
  /** `false` makes the provider answer every call with 503. */
  isThere: boolean;
  /** Changes the answers of the token endpoint. */
  alter: ((body: Record<string, unknown>) => Promise<void> | void) | null;
  /** How often a refresh token was used. */
  readonly refreshes: { count: number };
}

export const clientId = 'writ';
export const clientSecret = 'a secret that the provider knows';

/** Starts a provider; `redirectUri` is the service's callback address for browsers. */
export async function startOidc(redirectUri: () => string): Promise<Oidc> {
  let handler: ((request: IncomingMessage, response: ServerResponse) => void) | null = null;
  const oidc: { isThere: boolean; alter: Oidc['alter'] } = { isThere: true, alter: null };
  const server: Server = createServer((request, response) => {
    if (!oidc.isThere || handler === null) return void response.writeHead(503).end();
    handler(request, response);
  });
  await new Promise<void>((done) => server.listen(0, '127.0.0.1', done));
  onTestFinished(async () => {
    server.closeAllConnections();
    await new Promise((done) => server.close(done));
  });
  const issuer = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  const accounts = new Map<string, Account>();
  const refreshes = { count: 0 };
  const adapter = sharedMemory();
  let key: JWK = {};
  const rotate = async (): Promise<void> => {
    const { privateKey } = await generateKeyPair('RS256', { extractable: true });
    key = { ...(await exportJWK(privateKey)), alg: 'RS256', use: 'sig', kid: `k${Math.random()}` };
    handler = handlerOf({ issuer, key, adapter, accounts, redirectUri: redirectUri(), refreshes, oidc });
  };
  await rotate();
  return Object.assign(oidc, { issuer, accounts, refreshes, rotate, key: () => key });
}

interface HandlerOptions {
  readonly issuer: string;
  readonly key: JWK;
  readonly adapter: AdapterFactory;
  readonly accounts: ReadonlyMap<string, Account>;
  readonly redirectUri: string;
  readonly refreshes: { count: number };
  readonly oidc: Pick<Oidc, 'alter'>;
}

/** Storage that outlives a change of the provider's keys. */
function sharedMemory(): AdapterFactory {
  const stored = new Map<string, AdapterPayload>();
  return (model) => {
    const keyOf = (id: string): string => `${model}:${id}`;
    const findBy = async (isIt: (payload: AdapterPayload) => boolean) =>
      [...stored].find(([key, payload]) => key.startsWith(`${model}:`) && isIt(payload))?.[1];
    return {
      upsert: async (id, payload) => void stored.set(keyOf(id), payload),
      find: async (id) => stored.get(keyOf(id)),
      findByUid: (uid) => findBy((payload) => payload.uid === uid),
      findByUserCode: (userCode) => findBy((payload) => payload.userCode === userCode),
      destroy: async (id) => void stored.delete(keyOf(id)),
      consume: async (id) => {
        const payload = stored.get(keyOf(id));
        if (payload !== undefined) payload.consumed = Math.floor(Date.now() / 1_000);
      },
      revokeByGrantId: async (grantId) => {
        for (const [key, payload] of stored) if (payload.grantId === grantId) stored.delete(key);
      },
    };
  };
}

function handlerOf({ issuer, key, adapter, accounts, redirectUri, refreshes, oidc }: HandlerOptions) {
  const provider = new Provider(issuer, {
    adapter,
    clients: [
      {
        client_id: clientId,
        client_secret: clientSecret,
        grant_types: ['authorization_code', 'refresh_token'],
        redirect_uris: [redirectUri],
      },
    ],
    cookies: { keys: ['a key of this test'] },
    jwks: { keys: [key] as never },
    claims: { openid: ['sub'], email: ['email', 'email_verified'], profile: ['name', 'groups'] },
    features: { devInteractions: { enabled: true } },
    pkce: { required: () => true },
    issueRefreshToken: async () => true,
    rotateRefreshToken: true,
    findAccount: async (_, subject) => {
      const found = accounts.get(subject);
      if (found === undefined) return undefined;
      return { accountId: subject, claims: async () => ({ ...found, sub: subject }) };
    },
  });
  provider.use(
    async (ctx: { path: string; body: unknown; oidc?: { params?: object } }, next: () => Promise<void>) => {
      await next();
      if (ctx.path !== '/token') return;
      if (Object(ctx.oidc?.params).grant_type === 'refresh_token') refreshes.count += 1;
      if (oidc.alter !== null) await oidc.alter(ctx.body as Record<string, unknown>);
    },
  );
  return provider.callback();
}
