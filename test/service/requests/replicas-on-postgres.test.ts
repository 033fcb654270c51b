// Several replicas decide on one PostgreSQL database at the same time. INVARIANT: each recorded reading of a
// meter equals the sum of the records before it, whichever replica made them; so no budget is exceeded, and
// each is used up.

import { setTimeout as sleep } from 'node:timers/promises';
import { beforeAll, expect, onTestFinished, test } from 'vitest';
import { verifyChain } from '../../../src/service/audit/verify.ts';
import type { Store } from '../../../src/service/store/contract/store.ts';
import { keptPostgres, type PostgresServer } from '../store/postgres-server.ts';
import { agentRow, keyRow, startMs } from '../store/rows.ts';
import { activeOf } from './active-of.ts';
import { approverOf } from './bystanders.ts';
import { begin, type World } from './metered.ts';

let server: PostgresServer;
beforeAll(async () => {
  server = await keptPostgres();
});

const budget = 100;
const policies = `
  approvers finance "Finance"
  action pay.send { amount: money(currency) 0.01.., currency: "USD" }
  meter spent = sum(payload.amount) in USD of pay.send per session over 24h
  policy budget on pay.send {
    allow all
    escalate large to finance within 1h when payload.amount > 50 USD
    deny beyond when spent > ${budget} USD
  }`;

const pay = (amount: number) => ({ amount, currency: 'USD' });
const caller = approverOf(['finance']);
const vote = { caller, group: null, comment: 'fine' };

async function setUp(count: number) {
  const database = await server.createDatabase();
  const agent = agentRow();
  const active = activeOf(policies);
  const replicas = await Promise.all(
    Array.from({ length: count }, async (_, at) => {
      // The clocks of the replicas differ.
      const world: World = { nowMs: startMs + 600 * at, active };
      const replica = await begin(database, world, agent);
      onTestFinished(() => replica.end());
      return replica;
    }),
  );
  await replicas[0]!.store.agents.add(agent, keyRow(agent.id));
  for (const replica of replicas) {
    await replica.store.serve();
    await replica.take(activeOf(policies));
  }
  return { replicas, agent, database };
}

interface Walk {
  readonly spent: ReadonlyMap<string, number>;
  readonly wrong: readonly unknown[];
}

/** The totals from the records, in their order. */
async function walk(store: Store): Promise<Walk> {
  const { records } = await store.chain.segment(0, 1_000_000);
  const spent = new Map<string, number>();
  const wrong: unknown[] = [];
  for (const { entry } of records.filter(({ entry: { kind } }) => kind === 'request')) {
    const record = JSON.parse(String(entry.record_json)) as {
      readonly payload: { readonly amount: number };
      readonly request: { readonly session: string };
      readonly meters: { readonly spent: { readonly high?: string } };
    };
    const { session } = record.request;
    const after = (spent.get(session) ?? 0) + record.payload.amount;
    if (record.meters.spent.high !== String(after))
      wrong.push([entry.sequence, session, record.meters, after]);
    if (entry.status === 'auto_approved') spent.set(session, after);
  }
  return { spent, wrong };
}

test('three replicas spend from the same budgets, each to the end and none beyond', async () => {
  const { replicas } = await setUp(3);
  const sessions = ['hot', 'own-0', 'own-1', 'own-2'];
  await Promise.all(
    replicas.flatMap(({ ask }, at) =>
      Array.from({ length: 8 }, async () => {
        for (let count = 0; count < 24; count += 1) {
          const session = count % 3 === 0 ? `own-${at}` : 'hot';
          await ask(pay(1 + (count % 3)), { session });
        }
      }),
    ),
  );
  for (const session of sessions)
    for (let left = 0; left < 4; left += 1) await replicas[left % 3]!.ask(pay(1), { session });
  const { spent, wrong } = await walk(replicas[0]!.store);
  expect(wrong).toEqual([]);
  expect(spent.get('hot')).toBe(budget);
  for (const total of spent.values()) expect(total).toBeLessThanOrEqual(budget);
  expect(await verifyChain(replicas[1]!.store)).toMatchObject({ kind: 'whole' });
});

test('without the comparison of meters the walk finds readings that are wrong', async () => {
  const { replicas, database } = await setUp(2);
  const [{ text } = { text: '' }] = await server.query<{ text: string }>(
    "SELECT pg_get_functiondef('writ_append'::regproc) AS text",
    database.name,
  );
  const unguarded = text.replace('WHEN at = ANY (moved) THEN', 'WHEN false THEN');
  expect(unguarded).not.toBe(text);
  await server.query(unguarded, database.name);
  for (let round = 0; round < 10; round += 1)
    await Promise.all(replicas.map(({ ask }) => ask(pay(20), { session: `s${round}` })));
  expect((await walk(replicas[0]!.store)).wrong).not.toEqual([]);
});

test('what waits on one replica counts on the others, until it ends there or here', async () => {
  const { replicas } = await setUp(2);
  const [one, two] = [replicas[0]!, replicas[1]!];
  const { request_id: id } = await one.ask(pay(60), { session: 's' });
  expect((await two.ask(pay(41), { session: 's' })).decision).toBe('DENY');
  await two.requestChanges.reject(id, vote);
  expect((await one.ask(pay(41), { session: 's' })).decision).toBe('ALLOW');
  const { request_id: next } = await two.ask(pay(55), { session: 's' });
  await one.requestChanges.approve(next, vote);
  expect((await two.ask(pay(5), { session: 's' })).decision).toBe('DENY');
  expect((await one.ask(pay(4), { session: 's' })).decision).toBe('ALLOW');
});

test('an approval counts what another replica has granted meanwhile, and of two that exclude each other one is made', async () => {
  const { replicas } = await setUp(2);
  const [one, two] = [replicas[0]!, replicas[1]!];
  for (let round = 0; round < 5; round += 1) {
    const session = `round ${round}`;
    const { request_id: id } = await one.ask(pay(60), { session });
    await two.ask(pay(30), { session });
    const [approved, rejected] = await Promise.all([
      one.requestChanges.approve(id, vote),
      two.requestChanges.reject(id, vote),
    ]);
    expect([approved.kind, rejected.kind].toSorted()).toEqual(['changed', 'conflict']);
    const decided = (await two.store.requests.events(id)).find(({ what }) => what === 'decided');
    if (decided !== undefined) expect(decided.detail).toMatchObject({ meters: { spent: { high: '90' } } });
  }
  // No record is missing from the chain, and none is in it twice.
  await sleep(0);
  expect(await verifyChain(one.store)).toMatchObject({ kind: 'whole' });
});

test('a nonce and an idempotency key are good once, whichever replica they come to', async () => {
  const { replicas, agent } = await setUp(2);
  const { createRequestId } = await import('../../../src/service/requests/record/id.ts');
  for (let round = 0; round < 10; round += 1) {
    const nonce = `${agent.id} nonce-${round}`;
    const results = await Promise.all(
      replicas.map(async ({ store, authorizer }) => {
        store.nonces.note({ nonce, usedAtMs: startMs, keptUntilMs: startMs + 600_000 });
        return await authorizer.authorize({
          agent,
          key: { id: 'key00001', notAfterMs: null },
          actionKey: 'pay.send',
          payload: pay(1),
          isSigned: true,
          session: 'n',
          clientAddress: '192.0.2.7',
          nonce,
          idempotencyKey: null,
          bodyDigest: null,
          requestId: createRequestId(startMs),
        });
      }),
    );
    expect(results.map(({ kind }) => kind).toSorted()).toEqual(['decided', 'not-allowed-now']);
    const both = await Promise.all(
      replicas.map(({ authorizer }) =>
        authorizer.authorize({
          agent,
          key: { id: 'key00001', notAfterMs: null },
          actionKey: 'pay.send',
          payload: pay(1),
          isSigned: false,
          session: 'n',
          clientAddress: '192.0.2.7',
          idempotencyKey: `key-${round}`,
          bodyDigest: 'd',
          requestId: createRequestId(startMs),
        }),
      ),
    );
    const ids = both.map((result) => (result.kind === 'decided' ? result.request.request_id : result.kind));
    expect(ids[0]).toBe(ids[1]);
  }
});
