// Replicas that read directories of their own agree on one policy set. The set becomes active in all of them
// at one place of the chain, and a replica that has read something else decides by it, too.

import { mkdtempSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { beforeAll, expect, onTestFinished, test } from 'vitest';
import { openPolicies } from '../../../src/service/policies/policy-host.ts';
import { openReplicatedPolicies } from '../../../src/service/policies/replicated-policies.ts';
import type { Store } from '../../../src/service/store/contract/store.ts';
import { openStore } from '../../../src/service/store/open.ts';
import { keptPostgres, type PostgresServer, type TestDatabase } from '../store/postgres-server.ts';
import { agentRow, keyRow, requestRow, startMs } from '../store/rows.ts';

let server: PostgresServer;
beforeAll(async () => {
  server = await keptPostgres();
});

const text = (limit: number) =>
  `action pay.send { amount: number }\npolicy p on pay.send { allow all when payload.amount < ${limit} }\n`;
const log = { info: () => undefined, warn: () => undefined, error: () => undefined };

async function startReplica(database: TestDatabase, limit: number) {
  const directory = mkdtempSync(join(tmpdir(), 'writ-policies-'));
  const write = (next: number) => writeFileSync(join(directory, 'a.policy'), text(next));
  write(limit);
  const store = await openStore(database);
  await store.serve();
  const { replicas: agreement } = store;
  if (agreement === null) throw new Error('several processes may serve a database');
  const host = await openPolicies({ directory });
  const policies = await openReplicatedPolicies({ host, agreement, clock: () => startMs, log, everyMs: 50 });
  const end = async () => {
    await policies.close();
    await store.close();
  };
  onTestFinished(end);
  return {
    store,
    policies,
    write,
    digest: () => policies.current().digest,
    read: () => host.current().digest,
    end,
  };
}

test('a start waits until the database can be asked, and says why where it cannot for long', async () => {
  const { store } = await startReplica(await server.createDatabase(), 1);
  const { replicas } = store;
  if (replicas === null) throw new Error('several processes may serve a database');
  const agreeBut = async (failures: number) => {
    let left = failures;
    const now = async () => {
      left -= 1;
      if (left >= 0) throw new Error('locked');
      return await replicas.now();
    };
    const directory = mkdtempSync(join(tmpdir(), 'writ-policies-'));
    writeFileSync(join(directory, 'a.policy'), text(1));
    const host = await openPolicies({ directory });
    const agreement = { ...replicas, now };
    const policies = await openReplicatedPolicies({ host, agreement, clock: () => startMs, log, everyMs: 1 });
    onTestFinished(() => policies.close());
    return policies.current().digest;
  };
  expect(await agreeBut(3)).toBe((await replicas.now()).active);
  await expect(agreeBut(1_000)).rejects.toThrow('locked');
});

async function activations({ chain }: Store): Promise<readonly unknown[]> {
  const changes = await chain.changes({ beforeSequence: null, countMax: 100 });
  return changes
    .filter(({ what }) => what === 'policies-activated')
    .map(({ afterJson }) => JSON.parse(afterJson ?? ''));
}

test('a set takes over once all have read it, in all at once, and is recorded once', async () => {
  const database = await server.createDatabase();
  const one = await startReplica(database, 1);
  const two = await startReplica(database, 1);
  const first = one.digest();
  expect(two.digest()).toBe(first);
  one.write(2);
  await expect.poll(() => one.read() !== first).toBe(true);
  await one.policies.reload();
  expect([one.digest(), two.digest()]).toEqual([first, first]);
  expect(one.policies.state().status).toBe('stale');
  two.write(2);
  await expect.poll(() => [one.digest(), two.digest()]).toEqual([one.read(), one.read()]);
  expect(await activations(one.store)).toEqual([
    { digest: one.read(), epoch: 2 },
    { digest: first, epoch: 1 },
  ]);
});

test('of two that start at once with different sets one has its way, and both decide by that', async () => {
  const database = await server.createDatabase();
  const [one, two] = await Promise.all([startReplica(database, 1), startReplica(database, 2)]);
  expect(one.digest()).toBe(two.digest());
  expect(await activations(one.store)).toEqual([{ digest: one.digest(), epoch: 1 }]);
});

test('who has read another set decides by the active one, out of the store, and takes over its own once it is alone', async () => {
  const database = await server.createDatabase();
  const one = await startReplica(database, 1);
  const late = await startReplica(database, 3);
  expect(late.digest()).toBe(one.digest());
  expect(late.policies.isReady()).toBe(true);
  await one.end();
  await expect.poll(() => late.digest()).toBe(late.read());
});

test('what was decided by another set than the active one is not stored, and the replica looks again', async () => {
  const database = await server.createDatabase();
  const { store, digest } = await startReplica(database, 1);
  const agent = agentRow();
  await store.agents.add(agent, keyRow(agent.id));
  const precondition = {
    agentId: agent.id,
    agentVersion: 1,
    keyNotAfterMs: null,
    switchGeneration: 0,
    documents: [],
  };
  const append = (policies: string) =>
    store.requests.append(requestRow({ agentId: agent.id }), {
      openMax: 20,
      precondition: { ...precondition, policies },
    });
  expect(await append('another')).toBe('precondition-failed');
  expect(await append(digest())).toBe('stored');
  await expect(store.meters.note([], startMs, 'another')).rejects.toMatchObject({ code: 'not-ready' });
});
