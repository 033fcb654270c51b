// `node bench/service/identify.ts [--rounds 300]`: what it costs to identify an agent by a token that is known
// already, compared with its key, in one run. The fastest of the rounds counts. Exits with 1 when the token takes
// over 1.2 times as long.

import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { performance } from 'node:perf_hooks';
import { setTimeout as sleep } from 'node:timers/promises';
import { pathToFileURL } from 'node:url';
import { parseArgs } from 'node:util';
import type { FastifyRequest } from 'fastify';
import { exportJWK, generateKeyPair, SignJWT } from 'jose';
import { addIdentity } from '../../src/service/agents/identities/change-identity.ts';
import { addAgent } from '../../src/service/agents/registry.ts';
import { createIdentifier } from '../../src/service/http/auth/identify-agent.ts';
import { openStore } from '../../src/service/store/open.ts';
import { createWorkloadTokenReader } from '../../src/service/workloads/read-token.ts';

const ratioMax = 1.2;
const perRound = 1_000;
const { values } = parseArgs({ options: { rounds: { type: 'string', default: '300' } } });
const directory = mkdtempSync(join(tmpdir(), 'writ-bench-'));
const store = await openStore({ path: join(directory, 'writ.db') });
const added = await addAgent(store, { name: 'bench', riskTier: 'low', controlOwner: 'bench', tags: [] });
if (added.kind !== 'added') throw new Error('the agent could not be added');

const { privateKey, publicKey } = await generateKeyPair('RS256', { extractable: true });
const keys = join(directory, 'keys.json');
writeFileSync(keys, JSON.stringify({ keys: [{ ...(await exportJWK(publicKey)), kid: 'bench' }] }));
const [issuer, audience] = ['https://issuer.example.com', 'https://writ.example.com'];
const settings = { issuer, audience, keys: pathToFileURL(keys).href, lifetimeSeconds: 86_400 };
const by = { documents: store.documents, who: 'bench', nowMs: Date.now() };
await addIdentity(by, added.agent, { issuer, claims: { sub: ['bench'] }, actors: [] });
// As long as the token of a pod in a cluster.
const token = await new SignJWT({ iss: issuer, aud: audience, sub: 'bench', pod: 'x'.repeat(400) })
  .setProtectedHeader({ alg: 'RS256', kid: 'bench' })
  .setIssuedAt()
  .setExpirationTime('12h')
  .sign(privateKey);
const workloadTokens = createWorkloadTokenReader([settings], (error) => console.error(error));
workloadTokens.start();
while ('fault' in (await workloadTokens.read(token, Date.now()))) await sleep(10);

const { identify } = createIdentifier({
  store,
  rate: { perMinute: 1_000_000_000, burst: 1_000_000_000 },
  clock: Date.now,
  readyForDelegates: async () => undefined,
  workloadTokens,
  proofs: { check: async () => 'missing' },
});

/** Microseconds for one request with these headers. */
async function measure(headers: Readonly<Record<string, string>>): Promise<number> {
  const startedAtMs = performance.now();
  for (let count = 0; count < perRound; count += 1) {
    const request = { headers, replyHeaders: {}, clientAddress: '127.0.0.1', startedAtMs: performance.now() };
    await identify(request as unknown as FastifyRequest);
  }
  return ((performance.now() - startedAtMs) * 1_000) / perRound;
}

let [byKey, byToken] = [Number.POSITIVE_INFINITY, Number.POSITIVE_INFINITY];
for (let round = 0; round < Number(values.rounds); round += 1) {
  byKey = Math.min(byKey, await measure({ 'x-agent-api-key': added.apiKey }));
  byToken = Math.min(byToken, await measure({ authorization: `Bearer ${token}` }));
}
workloadTokens.close();
await store.close();
rmSync(directory, { recursive: true });
const ratio = byToken / byKey;
console.log(
  `by key ${byKey.toFixed(2)} µs, by token ${byToken.toFixed(2)} µs: ${ratio.toFixed(2)} (at most ${ratioMax})`,
);
process.exitCode = ratio <= ratioMax ? 0 : 1;
