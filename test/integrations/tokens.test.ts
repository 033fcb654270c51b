// Agents without keys, through the clients: the token comes from a file that is renewed, and a token that is bound to
// a key is sent with a proof for each try.

import { renameSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { calculateJwkThumbprint, exportJWK } from 'jose';
import { beforeAll, expect, test } from 'vitest';
import { sessionOf } from '../../integrations/mcp/calls/authority.ts';
import { connect, UnreachableError } from '../../integrations/typescript/client.ts';
import { tokenFile } from '../../integrations/typescript/token-file.ts';
import { writ } from '../cli/writ.ts';
import { makeKey, type SigningKey, shareIssuer } from '../service/http/issuer.ts';
import { temporaryDirectory } from '../service/http/service.ts';
import {
  granted,
  issuerSettings,
  startWorkloadService,
  type WorkloadService,
  workloadToken,
} from '../service/http/workload-service.ts';
import { inPython, isReady } from './python/python.ts';

const issuer = shareIssuer();
let key: SigningKey;

beforeAll(async () => {
  key = await makeKey('first');
  issuer.keys = [key];
});

const publicUrl = 'https://writ.example.com';

async function start(): Promise<
  WorkloadService & { readonly file: string; readonly write: (text: string) => void }
> {
  const started = await startWorkloadService([issuerSettings(issuer)], { publicUrl });
  await started.map();
  await granted(started.service, await workloadToken(issuer.url, key));
  const file = join(temporaryDirectory(), 'token');
  // As a platform does: a new file takes the place of the old one.
  const write = (text: string) => {
    writeFileSync(`${file}.new`, `${text}\n`);
    renameSync(`${file}.new`, file);
  };
  return { ...started, file, write };
}

test('a client sends the token that is in the file at that moment', async () => {
  const { service, file, write } = await start();
  const client = connect({ url: service.url, key: tokenFile(file), wait: 0, timeout: 500 });
  write(await workloadToken(issuer.url, key));
  expect((await client.authorize('demo.pay', { amount: 5 })).kind).toBe('allowed');
  write(await workloadToken(issuer.url, key, { aud: 'another service' }));
  expect(await client.authorize('demo.pay', { amount: 5 })).toMatchObject({
    kind: 'denied',
    policy: 'invalid_token',
  });
  write(await workloadToken(issuer.url, key, { jti: 'renewed' }));
  expect((await client.authorize('demo.pay', { amount: 5 })).kind).toBe('allowed');
  rmSync(file);
  await expect(client.authorize('demo.pay', { amount: 5 })).rejects.toThrow(UnreachableError);
});

test('a client proves the key of its token for each request, and a sub-agent has a key of its own', async () => {
  const { service } = await start();
  const algorithm = { name: 'ECDSA', namedCurve: 'P-256' };
  const proofKey = (await crypto.subtle.generateKey(algorithm, false, ['sign', 'verify'])) as CryptoKeyPair;
  const jkt = await calculateJwkThumbprint(await exportJWK(proofKey.publicKey));
  const token = await workloadToken(issuer.url, key, { cnf: { jkt } });
  const client = connect({ url: service.url, key: token, proofKey, publicUrl, wait: 0 });
  for (let count = 0; count < 2; count += 1)
    expect((await client.authorize('demo.pay', { amount: 5 })).kind).toBe('allowed');
  expect(await client.actions()).toHaveLength(2);
  const unproved = connect({ url: service.url, key: token, wait: 0 });
  expect(await unproved.authorize('demo.pay', { amount: 5 })).toMatchObject({ policy: 'invalid_token' });
  const until = new Date(Date.now() + 60_000);
  const { client: sub } = await client.delegate({ name: 'planner', actions: ['demo.pay'], until });
  const grant = await sub.authorize('demo.pay', { amount: 5 });
  if (grant.kind !== 'allowed') throw new Error(grant.kind);
  // The agent looks the request up for its sub-agent, with its own token and proof.
  expect(await sub.getRequest(grant.requestId)).toMatchObject({ status: 'auto_approved' });
});

test('a hook asks with the token in WRIT_TOKEN_FILE', async () => {
  const { service, file, write } = await start();
  write(await workloadToken(issuer.url, key));
  const event = {
    session_id: 's',
    hook_event_name: 'PreToolUse',
    tool_name: 'mcp__demo__pay',
    tool_input: { amount: 5 },
    tool_use_id: 'one',
  };
  const hook = () =>
    writ(['hook', '--dialect', 'claude', '--url', service.url], {
      env: { WRIT_TOKEN_FILE: file, WRIT_API_KEY: '' },
      stdin: JSON.stringify(event),
    });
  expect(await hook()).toMatchObject({ code: 0, stdout: '{}\n' });
  write(await workloadToken(issuer.url, key, { aud: 'another service' }));
  expect(await hook()).toMatchObject({ code: 2, stderr: expect.stringContaining('for another service') });
  rmSync(file);
  const refused = await hook();
  expect([refused.code, refused.stderr]).toEqual([
    2,
    expect.stringContaining('nothing was granted: cannot read'),
  ]);
});

test('the session of the proxy stays the same when its token is renewed', async () => {
  const renewed = await workloadToken('https://issuer.example.com', key, { jti: 'renewed' });
  const other = await workloadToken('https://issuer.example.com', key, { sub: 'another' });
  let token = await workloadToken('https://issuer.example.com', key);
  const session = () => sessionOf({ key: () => token });
  const first = session();
  token = renewed;
  expect(session()).toBe(first);
  token = other;
  expect(session()).not.toBe(first);
});

test.runIf(isReady())('the client for Python reads the file again when it changes', async () => {
  const { service, file, write } = await start();
  write(await workloadToken(issuer.url, key));
  const renewed = await workloadToken(issuer.url, key, { aud: 'another service' });
  const program = `
import os
os.environ.pop('WRIT_API_KEY', None)
os.environ['WRIT_TOKEN_FILE'] = given['file']
client = writ.Writ(given['url'], wait=0)
kinds = [type(client.authorize('demo.pay', {'amount': 5})).__name__]
with open(given['file'] + '.new', 'w') as target:
    target.write(given['renewed'])
os.replace(given['file'] + '.new', given['file'])
try:
    kinds.append(client.authorize('demo.pay', {'amount': 5}).policy)
except writ.WritError as error:
    kinds.append(str(error))
say(kinds)
`;
  const kinds = await inPython({ url: service.url, file, renewed }, program);
  expect(kinds).toEqual(['AllowedDecision', expect.stringContaining('invalid_token')]);
});
