// The keys of an issuer of workloads while it changes, fails, hangs and floods: no decision waits for it, and keys
// that it has not confirmed for a while identify nobody.

import { writeFile } from 'node:fs/promises';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { performance } from 'node:perf_hooks';
import { pathToFileURL } from 'node:url';
import { beforeEach, expect, onTestFinished, test, vi } from 'vitest';
import { makeKey, type SigningKey, shareIssuer } from './issuer.ts';
import { temporaryDirectory } from './service.ts';
import {
  account,
  ask,
  granted,
  issuerSettings,
  startWorkloadService,
  workloadToken,
} from './workload-service.ts';

const issuer = shareIssuer();
let key: SigningKey;

beforeEach(async () => {
  key = await makeKey('first');
  issuer.keys = [key];
  issuer.mood = 'answers';
});

test('after a rotation, new tokens pass soon and tokens of a key that was withdrawn do not', async () => {
  const { service, map } = await startWorkloadService([issuerSettings(issuer)]);
  await map();
  const old = await workloadToken(issuer.url, key);
  await granted(service, old);
  const second = await makeKey('second');
  issuer.keys = [second];
  await granted(service, await workloadToken(issuer.url, second));
  expect((await ask(service, old)).code).toBe('invalid_token');
});

test('while the issuer is down, known keys identify for a while, and then nobody', async () => {
  const { service, map } = await startWorkloadService([
    issuerSettings(issuer, { everyMs: 50, staleMs: 1_000 }),
  ]);
  await map();
  const token = await workloadToken(issuer.url, key);
  await granted(service, token);
  issuer.mood = 'fails';
  expect((await ask(service, token)).code).toBe('ALLOW');
  const stale = await vi.waitFor(
    async () => {
      const answer = await ask(service, token);
      expect(answer.code).toBe('issuer_keys_unknown');
      return answer;
    },
    { timeout: 5_000, interval: 50 },
  );
  expect(stale.status).toBe(503);
  expect(service.log.filter((line) => line.includes("an agents' issuer"))).toHaveLength(1);
  issuer.mood = 'answers';
  await granted(service, token);
});

test('an issuer that hangs, floods or lies delays no reply and identifies nobody', async () => {
  issuer.mood = 'hangs';
  const flood = createServer((_, reply) => {
    const write = () => {
      while (reply.write(Buffer.alloc(65_536, 32))) if (reply.destroyed) return;
    };
    reply.on('drain', write).writeHead(200, { 'content-type': 'application/json' });
    write();
  });
  await new Promise<void>((done) => flood.listen(0, '127.0.0.1', done));
  onTestFinished(() => {
    flood.closeAllConnections();
    flood.close();
  });
  const huge = { url: `http://127.0.0.1:${(flood.address() as AddressInfo).port}` };
  const lying = { ...issuerSettings({ url: 'http://127.0.0.1:9' }), keys: `${huge.url}/keys` };
  const { service, map } = await startWorkloadService([issuerSettings(issuer), issuerSettings(huge), lying]);
  await map();
  for (const url of [issuer.url, huge.url, lying.issuer]) {
    const startedAt = performance.now();
    const answer = await ask(service, await workloadToken(url, key));
    expect([answer.status, answer.code]).toEqual([503, 'issuer_keys_unknown']);
    expect(performance.now() - startedAt).toBeLessThan(4_000);
  }
});

test('keys in a file are read again when they change', async () => {
  const path = join(temporaryDirectory(), 'keys.json');
  const write = (one: SigningKey) => writeFile(path, JSON.stringify({ keys: [one.publicJwk] }));
  await write(key);
  const settings = { ...issuerSettings(issuer), keys: pathToFileURL(path).href };
  const { service, map } = await startWorkloadService([settings]);
  await map({ required_claims: { sub: [account, 'another'] } });
  await granted(service, await workloadToken(issuer.url, key));
  const second = await makeKey('second');
  await write(second);
  await granted(service, await workloadToken(issuer.url, second));
});
