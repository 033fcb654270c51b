// Standing approvals on one PostgreSQL database that three replicas serve. INVARIANT: a standing approval is used
// exactly as often as it may be, whichever replica decides; after a revocation no replica grants under it; and a
// server that is killed never gives one use more.

import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, expect, onTestFinished, test } from 'vitest';
import { verifyChain } from '../../../src/service/audit/verify.ts';
import { createStandingApprovals } from '../../../src/service/requests/standing/standing-approvals.ts';
import type { Store } from '../../../src/service/store/contract/store.ts';
import { type PostgresServer, startPostgres } from '../store/postgres-server.ts';
import { agentRow, keyRow, startMs } from '../store/rows.ts';
import { activeOf } from './active-of.ts';
import { approverOf, bystanders } from './bystanders.ts';
import { begin, type World } from './metered.ts';

let server: PostgresServer;
beforeAll(async () => {
  server = await startPostgres();
});
afterAll(() => server.stop());

const policiesWith = (limit: string): string => `
  approvers finance "Finance"
  action pay.send { vendor: string }
  policy pay on pay.send {
    allow all
    escalate new to finance within 1h
      standing per payload.vendor for 8h ${limit}
  }`;

const payload = { vendor: 'Staples' };
const caller = approverOf(['finance']);
const vote = { caller, group: null, comment: 'fine', standing: { untilMs: null, times: null } };

async function setUp(count: number, limit: string) {
  const place = await server.createDatabase();
  const agent = agentRow();
  const active = activeOf(policiesWith(limit));
  const replicas = await Promise.all(
    Array.from({ length: count }, async (_, at) => {
      // The clocks of the replicas differ.
      const world: World = { nowMs: startMs + 600 * at, active };
      const replica = await begin(place, world, agent);
      onTestFinished(() => replica.end());
      return { ...replica, world };
    }),
  );
  const [first] = replicas as [(typeof replicas)[0]];
  await first.store.agents.add(agent, keyRow(agent.id, { id: 'key00001' }));
  for (const replica of replicas) {
    await replica.store.serve();
    await replica.take(active);
  }
  const { request_id: id } = await first.ask(payload);
  expect(await first.requestChanges.approve(id, vote)).toMatchObject({ kind: 'changed' });
  for (const { world } of replicas) world.nowMs += 10_000;
  return { replicas, first };
}

/** How many requests are recorded as granted under a standing approval. */
async function usesIn(store: Store): Promise<number> {
  const { records } = await store.chain.segment(0, 1_000_000);
  return records.filter(({ entry }) => {
    if (entry.kind !== 'request' || entry.status !== 'auto_approved') return false;
    const { satisfied } = JSON.parse(String(entry.record_json)) as { satisfied: { standing?: object } };
    return Object.keys(satisfied.standing ?? {}).length > 0;
  }).length;
}

test('64 requests at once over three replicas use a count of 10 exactly 10 times', async () => {
  const { replicas, first } = await setUp(3, 'up to 10 times');
  const views = await Promise.all(Array.from({ length: 64 }, (_, at) => replicas[at % 3]!.ask(payload)));
  expect(views.filter(({ decision }) => decision === 'ALLOW')).toHaveLength(10);
  expect(await usesIn(first.store)).toBe(10);
  expect(await verifyChain(first.store)).toMatchObject({ kind: 'whole' });
});

test('after a revocation on one replica no other grants under it', async () => {
  const { replicas, first } = await setUp(3, '');
  const approvals = createStandingApprovals({
    store: first.store,
    policies: () => first.world.active,
    clock: () => first.world.nowMs,
    metering: first.metering,
    ...bystanders,
  });
  const [standing] = (await approvals.list(caller, { after: null, countMax: 10, agentId: null })).items;
  let isAcknowledged = false;
  const told = { granted: 0, late: 0 };
  const asking = replicas.flatMap(({ ask }) =>
    Array.from({ length: 4 }, async () => {
      for (let count = 0; count < 12; count += 1) {
        const wasAcknowledged = isAcknowledged;
        const { decision } = await ask(payload);
        if (decision !== 'ALLOW') continue;
        told.granted += 1;
        if (wasAcknowledged) told.late += 1;
      }
    }),
  );
  await expect.poll(() => told.granted).toBeGreaterThan(12);
  await approvals.revoke(caller, standing!.approval.id);
  isAcknowledged = true;
  await Promise.all(asking);
  expect(told.late).toBe(0);
  for (const { ask } of replicas) expect((await ask(payload)).decision).toBe('ESCALATE');
});

test('is never used once too often, whenever the server is killed', { timeout: 120_000 }, async () => {
  const { first } = await setUp(1, 'up to 60 times');
  let isOver = false;
  const asking = Array.from({ length: 8 }, async () => {
    while (!isOver) {
      await first.ask(payload).catch(() => undefined);
      await sleep(30);
    }
  });
  for (let kills = 0; kills < 3; kills += 1) {
    await sleep(150 + 60 * kills);
    await server.kill();
    await server.start();
    await expect.poll(() => first.store.isWritable()).toBe(true);
  }
  await expect.poll(() => usesIn(first.store), { timeout: 60_000 }).toBe(60);
  isOver = true;
  await Promise.all(asking);
  expect(await usesIn(first.store)).toBe(60);
  expect(await verifyChain(first.store)).toMatchObject({ kind: 'whole' });
});
