// What happens to a store in PostgreSQL when the server, the network or the process itself fails. Each fault
// is injected for real. Answers and stored rows must agree.

import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, expect, onTestFinished, test, vi } from 'vitest';
import { verifyChain } from '../../../src/service/audit/verify.ts';
import type { MeterEntryRow } from '../../../src/service/store/contract/metering.ts';
import type { RefusalRecord } from '../../../src/service/store/contract/records.ts';
import type { Store } from '../../../src/service/store/contract/store.ts';
import { openStore } from '../../../src/service/store/open.ts';
import { openWire, type Wire } from './cut-wire.ts';
import { type PostgresServer, startPostgres, type TestDatabase } from './postgres-server.ts';
import { agentRow, keyRow, refusalRecord, requestRow } from './rows.ts';

let server: PostgresServer;
beforeAll(async () => {
  server = await startPostgres();
});
afterAll(() => server.stop());

const limits = { openMax: 20 };

async function setUp() {
  const database = await server.createDatabase();
  const store = await openStore(database);
  onTestFinished(() => store.close());
  await store.serve();
  return { database, store };
}

/** The answer for a request: a word of the store, or the code of an error. */
async function told(append: Promise<unknown>): Promise<string> {
  try {
    return String(await append);
  } catch (error) {
    return error instanceof Error && 'code' in error ? String(error.code) : String(error);
  }
}

async function untilWritable(store: Store): Promise<void> {
  await expect.poll(() => store.isWritable(), { interval: 20 }).toBe(true);
}

/** Appends without a pause until `end` resolves; returns the answers by request id. */
async function askUntil(store: Store, end: Promise<unknown>): Promise<ReadonlyMap<string, string>> {
  const answers = new Map<string, string>();
  let isOver = false;
  const ask = async () => {
    while (!isOver) {
      const row = requestRow();
      const answer = await told(store.requests.append(row, limits));
      answers.set(row.id, answer);
      // Refusals come at once, so a pause keeps a long outage from producing a hundred thousand of them.
      await sleep(answer === 'stored' ? 1 : 20);
    }
  };
  const asking = Array.from({ length: 16 }, ask);
  await end;
  isOver = true;
  await Promise.all(asking);
  return answers;
}

/**
 * Checks the answers against the store: a request with the answer `stored` is stored, a refused request is
 * not, and the others may or may not be.
 */
async function expectTruth(store: Store, answers: ReadonlyMap<string, string>): Promise<void> {
  const wrong: string[] = [];
  for (const [id, answer] of answers) {
    const isStored = (await store.requests.find(id)) !== null;
    if (answer !== 'uncertain' && isStored !== (answer === 'stored')) wrong.push(`${answer}: ${isStored}`);
  }
  expect(wrong).toEqual([]);
  expect(await verifyChain(store)).toMatchObject({ kind: 'whole' });
}

test('after a server is killed and restarted, acknowledged records are there, and the store continues without help', async () => {
  const { store } = await setUp();
  const answers = await askUntil(
    store,
    (async () => {
      for (let round = 0; round < 3; round += 1) {
        await sleep(200);
        await server.kill();
        await server.start();
        await untilWritable(store);
      }
      await sleep(200);
    })(),
  );
  expect(new Set(answers.values())).toContain('stored');
  expect(new Set(answers.values())).toContain('unreachable');
  await expectTruth(store, answers);
});

test('without a server nothing is stored, and the store says within a second that it cannot', async () => {
  const { store } = await setUp();
  await server.kill();
  const cutAt = performance.now();
  await expect.poll(() => store.isWritable(), { interval: 5 }).toBe(false);
  const saidAfterMs = performance.now() - cutAt;
  expect(await told(store.requests.append(requestRow(), limits))).toBe('unreachable');
  await server.start();
  await untilWritable(store);
  expect(await told(store.requests.append(requestRow(), limits))).toBe('stored');
  console.info(`said after ${saidAfterMs.toFixed(0)} ms`);
});

/** A wire to a new database, closed when the test has finished. */
async function wired(): Promise<{ readonly database: TestDatabase; readonly wire: Wire }> {
  const database = await server.createDatabase();
  const wire = await openWire(server, database);
  onTestFinished(() => wire.close());
  return { database: { ...database, url: wire.url }, wire };
}

test('a process that was busy longer than an answer may take reads what has arrived, and loses nothing', async () => {
  const { database, wire } = await wired();
  const store = await openStore(database);
  onTestFinished(() => store.close());
  await store.serve();
  wire.slow(100);
  const asked = told(store.requests.append(requestRow(), limits));
  const read = told(store.requests.countOpen('agent', 0));
  await sleep(50);
  // Longer than any answer may take, with the request and renewals of the slot on their way.
  Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 3_500);
  const next = told(store.requests.append(requestRow(), limits));
  expect([await asked, await read, await next]).toEqual(['stored', '0', 'stored']);
});

test('a read without an answer is given up, and the next one is answered', async () => {
  const { database, wire } = await wired();
  const store = await openStore(database);
  onTestFinished(() => store.close());
  const read = () => told(store.requests.countOpen('agent', 0));
  expect(await read()).toBe('0');
  wire.cut();
  expect(await read()).toBe('unreachable');
  wire.fix();
  expect(await read()).toBe('0');
});

test('a network that swallows all: what was on its way is uncertain, the rest is refused, and it heals', async () => {
  const { database, wire } = await wired();
  const store = await openStore(database);
  onTestFinished(() => store.close());
  await store.serve();
  const answers = await askUntil(
    store,
    (async () => {
      await sleep(300);
      // A batch waits for this lock at the server, so one is on its way when the network fails.
      const holding = server.query('SELECT pg_advisory_lock(1465012566), pg_sleep(1)', database.name);
      await whoWait(database, 'PgSleep');
      await whoWait(database, 'advisory');
      wire.cut();
      await holding;
      await expect.poll(() => store.isWritable(), { interval: 5 }).toBe(false);
      // The store has given up its queue, so a new request does not wait.
      await expect.poll(() => store.queueDepth(), { interval: 5 }).toBe(0);
      expect(await told(store.requests.append(requestRow(), limits))).toBe('unreachable');
      wire.fix();
      await untilWritable(store);
      await sleep(100);
    })(),
  );
  expect(new Set([...answers.values(), 'unreachable'])).toEqual(
    new Set(['stored', 'uncertain', 'unreachable']),
  );
  await expectTruth(store, answers);
});

/** Requests that enter a meter, and the entries that were taken back. */
function spending(store: Store) {
  const takenBack = new Set<string>();
  const place = { definition: 'spent', key: 'a' };
  const spend = async (): Promise<readonly [id: string, told: string]> => {
    const row = requestRow();
    const revertMeters = () => void takenBack.add(row.id);
    const entries = [{ ...place, isCertain: true, value: '1' }];
    return [row.id, await told(store.meters.spend([place], () => ({ row, limits, entries, revertMeters })))];
  };
  return { spend, takenBack };
}

/**
 * Repeats the call until its answer is not `stored`, because a server applies a new setting after a while.
 */
async function untilDoubt<T extends readonly [string, string]>(spend: () => Promise<T>): Promise<T> {
  for (;;) {
    const answer = await spend();
    if (answer[1] !== 'stored') return answer;
  }
}

/** Applies a function to the server processes that wait for an event, once there are some. */
async function whoWait({ name }: TestDatabase, event: string, what = 'pid'): Promise<void> {
  const text = `SELECT ${what} FROM pg_stat_activity WHERE datname = '${name}' AND wait_event = '${event}'`;
  await expect.poll(async () => (await server.query(text)).length, { interval: 5 }).toBeGreaterThan(0);
}

test.each([
  ['not stored', 'advisory'],
  ['stored', 'SyncRep'],
])('what was in doubt counts in meters where it is stored, and these stay known: %s', async (what, event) => {
  const { database, store } = await setUp();
  let doubts = 0;
  store.meters.onUncertain(() => {
    doubts += 1;
  });
  const { spend, takenBack } = spending(store);
  expect((await spend())[1]).toBe('stored');
  // Either another write holds the exclusive lock, or commits wait for a standby that never comes.
  const holding =
    event === 'advisory'
      ? server.query('SELECT pg_advisory_lock(1465012566), pg_sleep(1)', database.name)
      : server
          .query("ALTER SYSTEM SET synchronous_standby_names = 'nobody'")
          .then(() => server.query('SELECT pg_reload_conf()'));
  if (event === 'advisory') await whoWait(database, 'PgSleep');
  else await holding;
  const asked = Promise.all([untilDoubt(spend), untilDoubt(spend)]);
  await whoWait(database, event, 'pg_terminate_backend(pid)');
  const answers = await asked;
  await holding;
  await server.query('ALTER SYSTEM RESET synchronous_standby_names');
  await server.query('SELECT pg_reload_conf()');
  expect(answers.map(([, word]) => word)).toEqual(['uncertain', 'uncertain']);
  await expect.poll(async () => (await spend())[1]).toBe('stored');
  const stored = await Promise.all(answers.map(async ([id]) => (await store.requests.find(id)) !== null));
  expect(stored).toEqual(what === 'stored' ? [true, true] : [false, false]);
  const lost = answers.filter((_, at) => stored[at] !== true).map(([id]) => id);
  expect(answers.filter(([id]) => takenBack.has(id)).map(([id]) => id)).toEqual(lost);
  expect(doubts).toBe(0);
});

test('meters are read anew after the server was started anew, also where nothing was under way', async () => {
  const { store } = await setUp();
  let doubts = 0;
  store.meters.onUncertain(() => {
    doubts += 1;
  });
  await server.kill();
  await server.start();
  await untilWritable(store);
  expect(await told(store.requests.append(requestRow(), limits))).toBe('stored');
  expect(doubts).toBe(1);
});

test('refusals that come together are few writes, and one that the database refuses harms no other', async () => {
  const { database, store } = await setUp();
  const refuse = (change: Partial<RefusalRecord> = {}) =>
    told(store.requests.appendRefusal(refusalRecord(change)));
  const words = await Promise.all(Array.from({ length: 100 }, () => refuse()));
  const [writes] = await server.query<{ count: string }>(
    'SELECT count(DISTINCT xmin::text) FROM refusals',
    database.name,
  );
  expect(words).toEqual(words.map(() => 'undefined'));
  expect(Number(writes?.count)).toBeLessThan(5);
  const others = [refuse(), refuse(), refuse({ atMs: 2 ** 70 }), refuse({ detail: 'a\0b' }), refuse()];
  expect(await Promise.all(others)).toEqual(['undefined', 'undefined', 'internal', 'zero-byte', 'undefined']);
  const [stored] = await server.query<{ count: string }>('SELECT count(*) FROM refusals', database.name);
  expect(Number(stored?.count)).toBe(103);
  expect(await verifyChain(store)).toMatchObject({ kind: 'whole' });
});

test('where no wait has ended nothing is written', async () => {
  const { database, store } = await setUp();
  const batches = () => server.query('SELECT sum(batch) FROM replicas', database.name);
  await store.requests.append(requestRow(), limits);
  const before = await batches();
  expect(await store.requests.expireDue(Number.MAX_SAFE_INTEGER, 10)).toEqual([]);
  expect(await batches()).toEqual(before);
});

test('a process that was replaced stores nothing, whatever it still has, and its successor does', async () => {
  const { database, wire } = await wired();
  const paused = await openStore(database);
  onTestFinished(() => paused.close());
  await paused.serve();
  expect(await told(paused.requests.append(requestRow(), limits))).toBe('stored');
  wire.cut();
  // Makes the process look unseen for a minute, so that its slot is the first that is free.
  await server.query("UPDATE replicas SET seen_at = now() - interval '1 min' WHERE slot = 0", database.name);
  const next = await openStore({ ...database, url: server.urlOf(database.name) });
  onTestFinished(() => next.close());
  await next.serve();
  wire.fix();
  await expect.poll(() => told(paused.requests.append(requestRow(), limits))).toBe('fenced');
  expect(paused.isWritable()).toBe(false);
  const agent = agentRow();
  await expect(paused.agents.add(agent, keyRow(agent.id))).rejects.toMatchObject({ code: 'fenced' });
  expect(await told(next.requests.append(requestRow(), limits))).toBe('stored');
  expect(await verifyChain(next)).toMatchObject({ kind: 'whole', end: { sequence: 2 } });
});

test('the epoch is compared by the statement that stores: a claim between two batches fences the second', async () => {
  const { database, store } = await setUp();
  expect(await told(store.requests.append(requestRow(), limits))).toBe('stored');
  await server.query('UPDATE replicas SET epoch = epoch + 1 WHERE slot = 0', database.name);
  const answers = await Promise.all(
    Array.from({ length: 3 }, () => told(store.requests.append(requestRow(), limits))),
  );
  expect(answers).toEqual(['fenced', 'fenced', 'fenced']);
  const rows = await server.query<{ count: string }>('SELECT count(*) FROM requests', database.name);
  expect(rows[0]?.count).toBe('1');
});

test('each process that serves has a slot of its own, and where all are taken one more is refused', async () => {
  const { database, store } = await setUp();
  const second = await openStore(database);
  onTestFinished(() => second.close());
  await second.serve();
  const replicas = await store.replicas?.now();
  expect(replicas?.replicas.map(({ slot }) => slot)).toEqual([0, 1]);
  expect(await told(store.requests.append(requestRow(), limits))).toBe('stored');
  expect(await told(second.requests.append(requestRow(), limits))).toBe('stored');
  await server.query(
    "UPDATE replicas SET instance = 'other', seen_at = 'infinity' WHERE slot > 1",
    database.name,
  );
  const third = await openStore(database);
  onTestFinished(() => third.close());
  await expect(third.serve()).rejects.toMatchObject({ code: 'already-served' });
  await store.close();
  await third.serve();
  // The process that ended has left a knot.
  expect(await verifyChain(third)).toMatchObject({ kind: 'whole', end: { sequence: 3 } });
});

test.each(['fsync', 'full_page_writes'])('a server with %s off is not served from', async (name) => {
  const store = await openStore(await server.createDatabase());
  onTestFinished(() => store.close());
  const set = async (change: string) => {
    await server.query(`ALTER SYSTEM ${change}`);
    await server.query('SELECT pg_reload_conf()');
    await sleep(200);
  };
  await set(`SET ${name} = off`);
  onTestFinished(() => set(`RESET ${name}`));
  await expect(store.serve()).rejects.toMatchObject({
    code: 'unwritable',
    message: expect.stringContaining(name),
  });
});

test('a process whose clock is more than a minute off does not serve', async () => {
  const store = await openStore(await server.createDatabase());
  onTestFinished(() => store.close());
  const now = vi.spyOn(Date, 'now').mockReturnValue(Date.now() + 61_500);
  onTestFinished(() => now.mockRestore());
  await expect(store.serve()).rejects.toMatchObject({
    code: 'unwritable',
    message: expect.stringContaining('clocks'),
  });
  now.mockRestore();
  await store.serve();
});

test('a commit whose wait for the standby is cancelled counts as uncertain, not as stored', async () => {
  const { store } = await setUp();
  onTestFinished(async () => {
    await server.query('ALTER SYSTEM RESET synchronous_standby_names');
    await server.query('SELECT pg_reload_conf()');
  });
  // Requests arrive all the time, so that a batch waits. The process's heartbeats also wait now and then.
  const cancel = `SELECT pg_cancel_backend(pid) AS done FROM pg_stat_activity
    WHERE wait_event = 'SyncRep' AND query LIKE '%writ_append%'`;
  const answers = await askUntil(
    store,
    (async () => {
      await sleep(100);
      await server.query("ALTER SYSTEM SET synchronous_standby_names = 'nobody'");
      await server.query('SELECT pg_reload_conf()');
      await expect.poll(async () => (await server.query(cancel)).length, { interval: 20 }).toBeGreaterThan(0);
    })(),
  );
  expect(new Set(answers.values())).toContain('uncertain');
});

test('a row that the database refuses harms no other of its batch', async () => {
  const { store } = await setUp();
  const rows = Array.from({ length: 5 }, () => requestRow());
  const broken = { ...requestRow(), createdAtMs: 2 ** 70 };
  const answers = await Promise.all([...rows, broken].map((row) => told(store.requests.append(row, limits))));
  expect(answers).toEqual([...rows.map(() => 'stored'), 'internal']);
});

test('a text with a zero byte is refused by what it is, and harms no other', async () => {
  const { store } = await setUp();
  const place = { definition: 'spent', key: '"a\0b' };
  const spend = (entries: readonly MeterEntryRow[]) => () => ({
    row: requestRow(),
    limits,
    entries,
    revertMeters: () => undefined,
  });
  const agent = agentRow({ name: 'a\0b' });
  const answers = [
    store.requests.append(requestRow(), limits),
    store.requests.append(requestRow({ actionKey: 'a\0b' }), limits),
    store.meters.spend([], spend([{ ...place, isCertain: true, value: '1' }])),
    store.meters.spend([place], spend([])),
    store.agents.add(agent, keyRow(agent.id)),
    store.agents.find('\0'),
    store.requests.append(requestRow(), limits),
  ];
  const words = ['stored', ...Array.from({ length: 5 }, () => 'zero-byte'), 'stored'];
  expect(await Promise.all(answers.map(told))).toEqual(words);
});

test('another master key is refused, and so is a database of another program', async () => {
  const { database } = await setUp();
  const other = join(server.folder, 'other.key');
  const opening = openStore({ ...database, keyFile: other });
  await expect(opening).rejects.toMatchObject({ code: 'master-key' });
  expect(existsSync(other)).toBe(false);
  await server.query('CREATE DATABASE foreign_tables');
  await server.query('CREATE TABLE control (name text)', 'foreign_tables');
  const foreign = openStore({ ...database, url: server.urlOf('foreign_tables') });
  await expect(foreign).rejects.toMatchObject({ code: 'foreign-database' });
  await server.query('UPDATE control SET schema_version = 999', database.name);
  await expect(openStore(database)).rejects.toMatchObject({ code: 'newer-database' });
});
