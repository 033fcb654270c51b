// Fallbacks on one PostgreSQL database that three replicas serve. INVARIANT: a fallback is asked once, whichever replicas
// look for it; it never approves before it is asked, whatever the clocks say; and a server that is killed neither loses
// a fallback that was asked nor asks it twice.

import { afterAll, beforeAll, expect, onTestFinished, test } from 'vitest';
import { verifyChain } from '../../../src/service/audit/verify.ts';
import { askFallbacks } from '../../../src/service/requests/approvals/ask-fallbacks.ts';
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

const policies = (needs: string): string => `
  approvers finance "Finance"
  approvers security "Security"
  action pay.send { vendor: string }
  policy pay on pay.send {
    allow all
    escalate new to finance ${needs} within 1h then to security within 1h
  }`;

const payload = { vendor: 'Staples' };
const hourMs = 3_600_000;
const fay = approverOf(['finance'], { id: 'fay', email: 'fay@example.com' });
const sam = approverOf(['security'], { id: 'sam', email: 'sam@example.com' });
const voteOf = (caller: typeof fay) => ({ caller, group: null, comment: 'fine' });

async function setUp(count: number, needs = '') {
  const place = await server.createDatabase();
  const agent = agentRow();
  const active = activeOf(policies(needs));
  const replicas = await Promise.all(
    Array.from({ length: count }, async (_, at) => {
      // The clocks of the replicas differ by ten minutes.
      const world: World = { nowMs: startMs + 600_000 * at, active };
      const replica = await begin(place, world, agent);
      onTestFinished(() => replica.end());
      const { store, metering } = replica;
      const deps = { store, metering, clock: () => world.nowMs, policies: () => active, ...bystanders };
      const look = async (id: string): Promise<void> => {
        const due = await store.requests.dueFallbacks(world.nowMs, 10);
        if (due.includes(id)) await askFallbacks(deps, id);
      };
      return { ...replica, world, look };
    }),
  );
  const [first] = replicas as [(typeof replicas)[0]];
  await first.store.agents.add(agent, keyRow(agent.id, { id: 'key00001' }));
  for (const replica of replicas) {
    await replica.store.serve();
    await replica.take(active);
  }
  return { replicas, first };
}

async function eventsOf(store: Store, id: string): Promise<readonly string[]> {
  return (await store.requests.events(id)).map(({ what }) => what);
}

test('three replicas that look at once ask a fallback once, and only by a clock that says so', async () => {
  const { replicas, first } = await setUp(3);
  const { request_id: id } = await first.ask(payload);
  const lookAll = () => Promise.all(replicas.flatMap(({ look }) => [look(id), look(id)]));
  await lookAll();
  expect(await eventsOf(first.store, id)).toEqual([]);
  for (const { requestChanges } of replicas)
    expect(await requestChanges.approve(id, voteOf(sam))).toMatchObject({ kind: 'not-allowed' });
  for (const { world } of replicas) world.nowMs += hourMs - 300_000;
  await lookAll();
  await lookAll();
  expect(await eventsOf(first.store, id)).toEqual(['fallback-asked']);
  // The clock of the first replica is behind; what is on record counts there, too.
  expect(await first.requestChanges.approve(id, voteOf(sam))).toMatchObject({ kind: 'changed' });
  expect(await eventsOf(first.store, id)).toEqual(['fallback-asked', 'approved', 'decided']);
  expect(await verifyChain(first.store)).toMatchObject({ kind: 'whole' });
});

test('votes at the moment of the fallback count once each, and no more than are needed', async () => {
  const { replicas, first } = await setUp(3, 'needs 2');
  for (let round = 0; round < 12; round += 1) {
    const { request_id: id } = await first.ask(payload);
    for (const { world } of replicas) world.nowMs += hourMs;
    const results = await Promise.all(
      replicas.flatMap(({ look, requestChanges }) => [
        look(id).then(() => null),
        requestChanges.approve(id, voteOf(fay)),
        requestChanges.approve(id, voteOf(sam)),
      ]),
    );
    const events = await eventsOf(first.store, id);
    const voters = results.filter((one) => one?.kind === 'changed').length;
    expect(events.filter((what) => what === 'fallback-asked').length).toBeLessThanOrEqual(1);
    expect(events.filter((what) => what === 'approved')).toHaveLength(voters);
    expect(voters).toBeLessThanOrEqual(2);
    const { status } = (await first.store.requests.find(id))!;
    expect(status).toBe(voters === 2 ? 'approved' : 'pending');
    if (voters === 2) expect(events).toContain('fallback-asked');
    if (status === 'pending')
      expect(await first.requestChanges.reject(id, voteOf(fay))).toMatchObject({ kind: 'changed' });
  }
  expect(await verifyChain(first.store)).toMatchObject({ kind: 'whole' });
});

test('a server that is killed while fallbacks are asked asks each once', { timeout: 120_000 }, async () => {
  const { first } = await setUp(1);
  const ids: string[] = [];
  for (let count = 0; count < 20; count += 1) ids.push((await first.ask(payload)).request_id);
  first.world.nowMs += hourMs;
  const lookAll = () => Promise.allSettled(ids.map((id) => first.look(id)));
  const looking = lookAll();
  await server.kill();
  await server.start();
  await looking;
  await expect.poll(() => first.store.isWritable(), { timeout: 60_000 }).toBe(true);
  await expect
    .poll(
      async () => {
        await lookAll();
        return await first.store.requests.dueFallbacks(first.world.nowMs, 100);
      },
      { timeout: 60_000 },
    )
    .toEqual([]);
  for (const id of ids) expect(await eventsOf(first.store, id)).toEqual(['fallback-asked']);
  expect(await verifyChain(first.store)).toMatchObject({ kind: 'whole' });
});
