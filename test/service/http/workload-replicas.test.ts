// Tokens of workloads at two replicas of a database: what one replica has ended or accepted, the other does not grant.

import { beforeAll, expect, onTestFinished, test } from 'vitest';
import { openStore } from '../../../src/service/store/open.ts';
import { keptPostgres, type PostgresServer } from '../store/postgres-server.ts';
import { makeKey, type SigningKey, shareIssuer } from './issuer.ts';
import { firstAdmin, tokenClient } from './person-client.ts';
import { makeHolder, proofBy, publicUrl } from './proofs.ts';
import { startReplica } from './replica.ts';
import { account, ask, granted, issuerSettings, workloadToken } from './workload-service.ts';

const issuer = shareIssuer();
let key: SigningKey;
let server: PostgresServer;

beforeAll(async () => {
  server = await keptPostgres();
  key = await makeKey('first');
  issuer.keys = [key];
});

const text = `
action demo.pay { ... }
policy demo on demo.* { allow all for 10m }
`;

test('an identity ends and a proof counts once for both', async () => {
  const database = await server.createDatabase();
  const options = { text, publicUrl, agentIssuers: [issuerSettings(issuer)] };
  const first = await startReplica(database, 'a (1)', options);
  const store = await openStore(database);
  onTestFinished(() => store.close());
  await store.agents.describe({ ...first.agent, agentId: first.agent.id, name: 'first', atMs: Date.now() });
  const second = await startReplica(database, 'b (2)', options);
  const admin = await tokenClient(first, await firstAdmin(first));
  const path = `/v1/agents/${first.agent.id}/identities`;
  const body = { issuer: issuer.url, required_claims: { sub: account } };
  const { body: identity } = await admin.send(path, { method: 'POST', body });

  const token = await workloadToken(issuer.url, key);
  for (const replica of [first, second]) await granted(replica, token);
  const holder = await makeHolder();
  const bound = await workloadToken(issuer.url, key, { cnf: { jkt: holder.jkt } });
  const proved = async (replica: typeof first, proof: string) =>
    (await ask(replica, bound, { scheme: 'DPoP', headers: { dpop: proof } })).code;
  const proof = await proofBy(holder, bound);
  const codes = await Promise.all([first, second, first, second].map((replica) => proved(replica, proof)));
  expect(codes.toSorted()).toEqual(['ALLOW', ...Array(3).fill('invalid_dpop_proof')]);

  // The second replica still has the token in its cache; the write of the grant finds that the identity has ended.
  await granted(second, token);
  expect((await admin.send(`${path}/${identity.id}`, { method: 'DELETE' })).status).toBe(200);
  const late = await ask(second, token);
  expect([late.status, late.code]).toEqual([401, 'invalid_token']);
});
