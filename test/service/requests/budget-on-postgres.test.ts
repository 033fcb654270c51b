// A budget on PostgreSQL while the server is killed under load, again and again. INVARIANT: the recorded
// grants are at most the budget, each reading equals the sum of the records before it, and in the end the
// budget is used up.

import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, expect, onTestFinished, test } from 'vitest';
import { verifyChain } from '../../../src/service/audit/verify.ts';
import type { Store } from '../../../src/service/store/contract/store.ts';
import { type PostgresServer, startPostgres } from '../store/postgres-server.ts';
import { agentRow, startMs } from '../store/rows.ts';
import { activeOf } from './active-of.ts';
import { begin, type World } from './metered.ts';

let server: PostgresServer;
beforeAll(async () => {
  server = await startPostgres();
});
afterAll(() => server.stop());

const budget = 300;
const policies = `
  action pay.send { amount: money(currency) 0.01.., currency: "USD" }
  meter spent = sum(payload.amount) in USD of pay.send per agent over 24h
  policy budget on pay.send { allow all  deny beyond when spent > ${budget} USD }`;

interface Row {
  readonly status: string;
  readonly recordJson: string;
}

/** All requests, in the order of their records. */
async function rowsOf(store: Store): Promise<readonly Row[]> {
  const { records } = await store.chain.segment(0, 1_000_000);
  return records
    .filter(({ entry }) => entry.kind === 'request')
    .map(({ entry }) => ({ status: String(entry.status), recordJson: String(entry.record_json) }));
}

test('is never passed and used to the end, whenever the server is killed', async () => {
  const world: World = { nowMs: startMs, active: activeOf(policies) };
  const service = await begin(await server.createDatabase(), world, agentRow());
  onTestFinished(() => service.end());
  await service.store.serve();
  await service.ask({ amount: 1, currency: 'USD' });
  let isOver = false;
  const told = { ALLOW: 1, DENY: 0, failed: 0 };
  const ask = async () => {
    while (!isOver) {
      try {
        const { decision } = await service.ask({ amount: 1, currency: 'USD' });
        told[decision === 'ALLOW' ? 'ALLOW' : 'DENY'] += 1;
      } catch {
        told.failed += 1;
        await sleep(5);
      }
      await sleep(20);
    }
  };
  const asking = Array.from({ length: 8 }, ask);
  for (let kills = 0; kills < 4; kills += 1) {
    await sleep(100 + 40 * kills);
    await server.kill();
    await server.start();
    await expect.poll(() => service.store.isWritable()).toBe(true);
  }
  const granted = async () =>
    (await rowsOf(service.store)).filter(({ status }) => status === 'auto_approved');
  await expect.poll(async () => (await granted()).length).toBe(budget);
  isOver = true;
  await Promise.all(asking);
  let spent = 0;
  const wrong: unknown[] = [];
  for (const { status, recordJson } of await rowsOf(service.store)) {
    const { spent: reading } = (JSON.parse(recordJson) as { meters: Record<string, { high?: string }> })
      .meters;
    if (reading?.high !== undefined && reading.high !== String(spent + 1)) wrong.push({ reading, spent });
    if (status === 'auto_approved') spent += 1;
  }
  expect(wrong).toEqual([]);
  expect(spent).toBe(budget);
  expect(told.ALLOW).toBeLessThanOrEqual(spent);
  expect(told.failed).toBeGreaterThan(0);
  expect(await verifyChain(service.store)).toMatchObject({ kind: 'whole' });
});

test('starts anew where its meter says so, also in a process that begins later', async () => {
  const text = `${policies.replace('of pay.send', 'of pay.send since pay.review')}
    action pay.review {}
    policy review on pay.review { allow all }`;
  const world: World = { nowMs: startMs, active: activeOf(text) };
  const place = await server.createDatabase();
  const agent = agentRow();
  const first = await begin(place, world, agent);
  await first.store.serve();
  const spend = async (by: typeof first, amount: number) => {
    world.nowMs += 1;
    return (await by.ask({ amount, currency: 'USD' })).decision;
  };
  const review = async (by: typeof first) => {
    world.nowMs += 1;
    return (await by.ask({}, { action: 'pay.review' })).decision;
  };
  expect(await spend(first, budget)).toBe('ALLOW');
  expect(await spend(first, 1)).toBe('DENY');
  expect(await review(first)).toBe('ALLOW');
  expect(await spend(first, budget - 10)).toBe('ALLOW');
  await first.end();
  const second = await begin(place, world, agent);
  await second.store.serve();
  expect(await spend(second, 11)).toBe('DENY');
  expect(await spend(second, 10)).toBe('ALLOW');
  expect(await review(second)).toBe('ALLOW');
  expect(await spend(second, budget)).toBe('ALLOW');
});

test('is there again with the next day of its zone, also in a process that begins later', async () => {
  const text = policies.replace('over 24h', 'over today in "Europe/Berlin"');
  const dayMs = 24 * 60 * 60 * 1000;
  const world: World = { nowMs: Date.parse('2026-10-24T22:00:00Z'), active: activeOf(text) };
  const place = await server.createDatabase();
  const agent = agentRow();
  const spend = async (by: Awaited<ReturnType<typeof begin>>, amount: number) =>
    (await by.ask({ amount, currency: 'USD' })).decision;
  const first = await begin(place, world, agent);
  await first.store.serve();
  expect(await spend(first, budget)).toBe('ALLOW');
  world.nowMs += dayMs;
  expect(await spend(first, 1)).toBe('DENY');
  await first.end();
  const second = await begin(place, world, agent);
  await second.store.serve();
  expect(await spend(second, 1)).toBe('DENY');
  world.nowMs += dayMs / 24;
  expect(await spend(second, budget)).toBe('ALLOW');
  expect(await spend(second, 1)).toBe('DENY');
});

test('knows what calls returned, also in a process that begins later', async () => {
  const text = `action db.query {} result { rows: integer 0.. }
    meter rows = sum(result.rows) of db.query per agent over 24h
    policy p on db.query { allow all  deny many when rows > 10 }`;
  const world: World = { nowMs: startMs, active: activeOf(text) };
  const place = await server.createDatabase();
  const agent = agentRow();
  const first = await begin(place, world, agent);
  await first.store.serve();
  const ask = (by: typeof first) => by.ask({}, { action: 'db.query' });
  const report = async (by: typeof first, id: string, rows: number) =>
    (
      await by.requestChanges.report(id, {
        executed: true,
        result: { rows },
        by: { agent },
        mayRelease: false,
      })
    ).kind;
  const asked = await ask(first);
  expect(asked.decision).toBe('ALLOW');
  expect((await ask(first)).decision).toBe('DENY');
  await first.end();
  const second = await begin(place, world, agent);
  await second.store.serve();
  expect((await ask(second)).decision).toBe('DENY');
  expect(await report(second, asked.request_id, 10)).toBe('changed');
  const next = await ask(second);
  expect(next.decision).toBe('ALLOW');
  expect(await report(second, next.request_id, 1)).toBe('changed');
  await second.end();
  const third = await begin(place, world, agent);
  await third.store.serve();
  expect((await third.record((await ask(third)).request_id)).meters).toEqual({
    rows: { low: '11', high: '11' },
  });
});
