// What the database server promises: to keep what it acknowledges, and the time. A process that serves checks
// the promise at every write, and uses the server's clock.

import { afterAll, beforeAll, expect, onTestFinished, test, vi } from 'vitest';
import type { Durability } from '../../../src/service/store/contract/durability.ts';
import type { Store } from '../../../src/service/store/contract/store.ts';
import { openStore } from '../../../src/service/store/open.ts';
import { ServerClock } from '../../../src/service/store/postgres/server/liveness.ts';
import { startFakeStandby } from './fake-standby.ts';
import { type PostgresServer, startPostgres } from './postgres-server.ts';
import { requestRow } from './rows.ts';

let server: PostgresServer;
beforeAll(async () => {
  server = await startPostgres();
});
afterAll(() => server.stop());

const limits = { openMax: 20 };

async function open(durability: Durability): Promise<Store> {
  const store = await openStore({ ...(await server.createDatabase()), durability });
  onTestFinished(() => store.close());
  return store;
}

/** Applies a setting such as `full_page_writes = off` until the test has finished. */
async function set(setting: string): Promise<void> {
  const [name = ''] = setting.split(' ');
  const change = async (text: string) => {
    await server.query(`ALTER SYSTEM ${text}`);
    await server.query('SELECT pg_reload_conf()');
  };
  await change(`SET ${setting}`);
  onTestFinished(() => change(`RESET ${name}`));
  const value = setting.split('= ')[1]?.replaceAll("'", '');
  const present = async () =>
    (await server.query<{ value: string }>(`SELECT current_setting('${name}') AS value`))[0];
  await expect.poll(present, { interval: 10 }).toEqual({ value });
}

async function expectStored(store: Store): Promise<void> {
  const append = () => store.requests.append(requestRow(), limits).catch((error) => error.code);
  await expect.poll(append, { interval: 20 }).toBe('stored');
  expect(store.isWritable()).toBe(true);
  expect(store.fault()).toBeNull();
}

async function expectRefused(store: Store, setting: string): Promise<void> {
  const named = expect.stringContaining(setting);
  await expect(store.requests.append(requestRow(), limits)).rejects.toMatchObject({
    code: 'unwritable',
    message: named,
  });
  expect(store.isWritable()).toBe(false);
  expect(store.fault()).toEqual(named);
}

test('a server that stops keeping what it acknowledges stores nothing until it does again', async () => {
  const store = await open('single');
  await store.serve();
  await expectStored(store);
  await set('full_page_writes = off');
  await expectRefused(store, 'full_page_writes');
  await set('full_page_writes = on');
  await expectStored(store);
});

test('a server that loses its durability settings makes its replicas not ready, also without requests', async () => {
  const store = await open('managed');
  await store.serve();
  await set('full_page_writes = off');
  await expect.poll(() => store.isWritable(), { interval: 10 }).toBe(false);
  await set('full_page_writes = on');
  await expect.poll(() => store.isWritable(), { interval: 10 }).toBe(true);
});

test('a server that has no standby is served from only where that is not promised', async () => {
  const replicated = await open('replicated');
  await expect(replicated.serve()).rejects.toMatchObject({
    code: 'unwritable',
    message: expect.stringMatching(/second copy.*synchronous_standby_names.*store\.durability/),
  });
  await set("synchronous_standby_names = 'second'");
  await expect(replicated.serve()).rejects.toMatchObject({
    code: 'unreachable',
    message: expect.stringContaining('none is connected'),
  });
});

test('a server that no longer waits for its standby stores nothing of a replica that requires one', async () => {
  const [replicated, managed] = [await open('replicated'), await open('managed')];
  await set("synchronous_standby_names = 'second'");
  const standby = await startFakeStandby(server, 'second');
  onTestFinished(() => standby.stop());
  await replicated.serve();
  await managed.serve();
  await expectStored(replicated);
  await set("synchronous_standby_names = ''");
  await expectRefused(replicated, 'synchronous_standby_names');
  await expectStored(managed);
  await set("synchronous_standby_names = 'second'");
  await expectStored(replicated);
});

test('a server that does not wait for its disk, because a pooler said so, is refused', async () => {
  const store = await open('single');
  const [{ name } = { name: '' }] = await server.query<{ name: string }>(
    `SELECT datname AS name FROM pg_database ORDER BY oid DESC LIMIT 1`,
  );
  // Simulates a session whose options were not applied.
  await server.query(
    `CREATE OR REPLACE FUNCTION pooled() RETURNS text LANGUAGE sql SET synchronous_commit = off AS 'SELECT writ_fault()'`,
    name,
  );
  const [found] = await server.query<{ pooled: string }>('SELECT pooled()', name);
  expect(found?.pooled).toContain('synchronous_commit to off');
  await store.serve();
});

test("a process goes by the server's clock, whatever its own says", async () => {
  const store = await open('single');
  const now = vi.spyOn(Date, 'now').mockReturnValue(Date.now() + 45_000);
  onTestFinished(() => now.mockRestore());
  expect(store.serverNow()).toBeNull();
  await store.serve();
  const [before = { ms: 0 }] = await server.query<{ ms: number }>(clock);
  const told = store.serverNow() ?? 0;
  const [after = { ms: 0 }] = await server.query<{ ms: number }>(clock);
  // Tolerance: half of a round trip to a local server, and other work on the machine.
  expect(told).toBeGreaterThan(before.ms - 200);
  expect(told).toBeLessThan(after.ms + 200);
});

const clock = 'SELECT (extract(epoch FROM clock_timestamp()) * 1000)::float8 AS ms';

test('of the answers of a server the quickest tells its time, until that is old or cannot be true any more', () => {
  const clock = new ServerClock();
  const elapsed = vi.spyOn(performance, 'now').mockReturnValue(0);
  onTestFinished(() => elapsed.mockRestore());
  const take = (serverMs: number, askedAt: number, answeredAt: number) =>
    clock.take({ serverMs, askedAt, answeredAt });
  expect(clock.now()).toBeNull();
  take(1_000, 0, 100);
  expect(clock.now()).toBe(950);
  take(1_102, 98, 102);
  expect(clock.now()).toBe(1_002);
  take(1_240, 200, 300);
  expect(clock.now()).toBe(1_002);
  take(1_500, 300, 310);
  expect(clock.now()).toBe(1_195);
  take(10_500 + 1_100, 10_400, 10_600);
  expect(clock.now()).toBe(1_100);
});
