// The hash tree in PostgreSQL: records of several replicas become visible in another order than that of their numbers,
// and the tree takes them only up to where nothing can come between any more.

import { setTimeout as sleep } from 'node:timers/promises';
import pg from 'pg';
import { beforeAll, expect, onTestFinished, test } from 'vitest';
import { pruneRecords } from '../../../src/service/audit/prune.ts';
import { isWhole, verifyStore } from '../../../src/service/audit/verify-store.ts';
import type { Store } from '../../../src/service/store/contract/store.ts';
import { openStore } from '../../../src/service/store/open.ts';
import { growTree } from '../../../src/service/transparency-log/grow-tree.ts';
import { proveRecord } from '../../../src/service/transparency-log/prove.ts';
import { readEdge } from '../../../src/service/transparency-log/tiles.ts';
import { createTransparencyLog } from '../../../src/service/transparency-log/transparency-log.ts';
import { keptPostgres, type PostgresServer, type TestDatabase } from '../store/postgres-server.ts';
import { agentRow, keyRow, refusalRecord, requestRow, startMs } from '../store/rows.ts';

let server: PostgresServer;
beforeAll(async () => {
  server = await keptPostgres();
});

const limits = { openMax: 1_000 };

async function openStores(): Promise<{
  readonly database: TestDatabase;
  readonly stores: readonly [Store, Store];
}> {
  const database = await server.createDatabase();
  onTestFinished(() => database.drop());
  const open = async () => {
    const store = await openStore(database);
    onTestFinished(() => store.close());
    return store;
  };
  const stores = [await open(), await open()] as const;
  for (const store of stores) await store.serve();
  return { database, stores };
}

function append(store: Store, count: number): Promise<unknown> {
  return Promise.all(Array.from({ length: count }, () => store.requests.append(requestRow(), limits)));
}

function logOf(store: Store) {
  const log = createTransparencyLog({
    store,
    origin: 'writ.example.com/writ',
    witnesses: [],
    quorum: 0,
    clock: () => startMs,
    onFault: (message) => {
      throw new Error(message);
    },
    onFailure: () => undefined,
  });
  onTestFinished(() => log.close());
  return log;
}

test('two replicas that append at the same time make one tree of all records', async () => {
  const { stores } = await openStores();
  const [one, two] = stores;
  const agent = agentRow({ id: 'agent-1' });
  await one.agents.add(agent, keyRow(agent.id));
  const logs = stores.map(logOf);
  for (let round = 0; round < 3; round += 1) {
    await Promise.all([append(one, 40), append(two, 40), logs[0]!.turn()]);
    await two.requests.appendRefusal(refusalRecord());
  }
  await one.chain.tie();
  const edge = await growTree(one.tree);
  expect(await growTree(two.tree)).toEqual(edge);
  await logs[0]!.turn();
  await logs[1]!.turn();
  const checkpoint = (await logs[1]!.published())!;
  const { records } = await one.chain.segment(0, 1_000);
  expect(edge.size).toBe(records.length);
  expect(checkpoint.size).toBe(records.length);
  for (const { entry } of records.filter((_, at) => at % 37 === 0))
    expect(await proveRecord(two, entry.sequence, checkpoint)).toMatchObject({ sequence: entry.sequence });
  expect(isWhole(await verifyStore(one))).toBe(true);
});

test('a record in a lane is taken once a knot follows it', async () => {
  const { stores } = await openStores();
  const [one, two] = stores;
  await one.chain.tie();
  const before = (await growTree(one.tree)).size;
  await append(one, 3);
  const seen = (await growTree(one.tree)).size;
  await two.chain.tie();
  const after = (await growTree(one.tree)).size;
  // The service ties lanes each second by itself, so the records may be in the tree already.
  expect(seen === before || seen === after).toBe(true);
  expect(after).toBeGreaterThanOrEqual(before + 4);
});

test('a number whose record is still being written is waited for', async () => {
  const { database, stores } = await openStores();
  const [one] = stores;
  await append(one, 2);
  await one.chain.tie();
  await growTree(one.tree);
  const { url } = database;
  const client = new pg.Client(url);
  await client.connect();
  onTestFinished(() => client.end());
  // A write that has taken the shared lock of batches, as one that is under way has.
  await client.query('BEGIN');
  await client.query('SELECT writ_beside()');
  const tying = append(one, 1).then(() => one.chain.tie());
  const { size } = await readEdge(one.tree);
  for (let turns = 0; turns < 5; turns += 1) {
    await sleep(50);
    expect((await growTree(one.tree)).size).toBe(size);
  }
  await client.query('COMMIT');
  await tying;
  expect((await growTree(one.tree)).size).toBeGreaterThan(size);
});

test('after a pruning the rest is proved, and the store is verified', async () => {
  const { stores } = await openStores();
  const [one, two] = stores;
  for (const store of stores)
    for (let at = 0; at < 5; at += 1)
      await store.requests.append(
        requestRow({ createdAtMs: startMs + at, expiresAtMs: startMs + 10 }),
        limits,
      );
  const result = await pruneRecords(one, { beforeMs: startMs + 3, nowMs: startMs + 100_000 });
  expect(result.deletedCount).toBeGreaterThan(0);
  await two.chain.tie();
  await growTree(two.tree);
  const log = logOf(two);
  await log.turn();
  const checkpoint = (await log.published())!;
  const { records, pruning } = await two.chain.segment(0, 100);
  expect(await proveRecord(two, pruning!.sequence, checkpoint)).toBe('pruned');
  expect(await proveRecord(two, records[0]!.entry.sequence, checkpoint)).toMatchObject({
    log: 'writ.example.com/writ',
  });
  expect(isWhole(await verifyStore(two))).toBe(true);
});

test('an edit of the tree or of a record is found', async () => {
  const { database, stores } = await openStores();
  const [one] = stores;
  await append(one, 5);
  await one.chain.tie();
  await growTree(one.tree);
  await logOf(one).turn();
  for (const statement of [
    "UPDATE tree_tiles SET hashes = CASE substr(hashes, 1, 1) WHEN 'A' THEN 'B' ELSE 'A' END || substr(hashes, 2)",
    'UPDATE tree_tiles SET first_sequence = first_sequence + 1',
    'DELETE FROM tree_tiles',
  ]) {
    await server.query(`CREATE TABLE kept AS SELECT * FROM tree_tiles; ${statement}`, database.name);
    expect((await verifyStore(one)).tree.kind, statement).toBe('broken');
    await server.query(
      'DELETE FROM tree_tiles; INSERT INTO tree_tiles SELECT * FROM kept; DROP TABLE kept',
      database.name,
    );
    expect((await verifyStore(one)).tree.kind).toBe('whole');
  }
});
