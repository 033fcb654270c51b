// Reads of a store in PostgreSQL when there are more of them than connections.

import { setImmediate as nextTurn } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest';
import { openStore } from '../../../src/service/store/open.ts';
import { createReadPool, type ReadPoolLimits } from '../../../src/service/store/postgres/server/read-pool.ts';
import { Semaphore } from '../../../src/service/store/postgres/server/semaphore.ts';
import { keptPostgres, type TestDatabase } from './postgres-server.ts';

let database: TestDatabase;
beforeAll(async () => {
  database = await (await keptPostgres()).createDatabase();
});
afterAll(() => database.drop());

function openPool(limits?: ReadPoolLimits) {
  const pool = createReadPool(database.url, limits);
  onTestFinished(() => pool.close());
  return pool;
}

const sleep = 'SELECT pg_sleep($1)';

describe('more reads than connections', () => {
  test('take turns, and none is refused because others are slow', async () => {
    const pool = openPool();
    // Together they take more time than a connection may take to open.
    const slow = Array.from({ length: 80 }, () => pool.rows(sleep, [0.2]));
    expect(pool.waiting()).toBe(76);
    expect(await Promise.all(slow)).toHaveLength(80);
    expect([pool.waiting(), pool.refused()]).toEqual([0, 0]);
  });

  test('have their turns in the order in which they came', async () => {
    const semaphore = new Semaphore({ atOnce: 2, waitingMax: 100, waitMaxMs: 60_000 });
    const begun: number[] = [];
    const all = Array.from({ length: 8 }, async (_, at) => {
      await semaphore.acquire();
      begun.push(at);
    });
    for (let given = 0; given < 8; given += 1) {
      await nextTurn();
      expect(begun).toEqual([0, 1, 2, 3, 4, 5, 6, 7].slice(0, 2 + given));
      semaphore.release();
    }
    await Promise.all(all);
    await semaphore.acquire();
    expect(semaphore.waiting).toBe(0);
  });

  test('beyond the limits are refused as too many, and counted, while the others go on', async () => {
    const pool = openPool({ waitingMax: 3, waitMaxMs: 60_000 });
    const reads = Array.from({ length: 10 }, () => pool.rows(sleep, [0.3]));
    const results = await Promise.allSettled(reads);
    const refused = results.filter(({ status }) => status === 'rejected');
    expect(refused).toHaveLength(3);
    for (const one of refused) expect(one).toMatchObject({ reason: { code: 'overloaded' } });
    expect(pool.refused()).toBe(3);
  });

  test('that have waited too long are refused as too many', async () => {
    const pool = openPool({ waitingMax: 100, waitMaxMs: 50 });
    const reads = Array.from({ length: 6 }, () => pool.rows(sleep, [1]));
    const results = await Promise.allSettled(reads);
    expect(results.map(({ status }) => status).filter((status) => status === 'rejected')).toHaveLength(2);
    expect(results.at(-1)).toMatchObject({ reason: { code: 'overloaded' } });
    expect([pool.waiting(), pool.refused()]).toEqual([0, 2]);
  });

  test('give their turn back when they fail', async () => {
    const pool = openPool({ waitingMax: 100 });
    const failed = Array.from({ length: 40 }, () => pool.rows('SELECT 1 / 0'));
    for (const one of await Promise.allSettled(failed)) expect(one.status).toBe('rejected');
    const broken = pool.snapshot(async () => {
      throw new TypeError('a mistake');
    });
    await expect(broken).rejects.toMatchObject({ code: 'internal' });
    expect(await Promise.all(Array.from({ length: 8 }, () => pool.rows('SELECT 1')))).toHaveLength(8);
    expect(pool.waiting()).toBe(0);
  });
});

test('hundreds of looks at once are all answered, and the store stays writable', async () => {
  const { url, keyFile } = database;
  const store = await openStore({ url, keyFile });
  onTestFinished(() => store.close());
  const looks = Array.from({ length: 400 }, () => store.requests.find('none'));
  expect(store.readQueue().waiting).toBeGreaterThan(300);
  expect(await Promise.all(looks)).toEqual(looks.map(() => null));
  expect([store.isWritable(), store.fault()]).toEqual([true, null]);
  expect(store.readQueue()).toEqual({ waiting: 0, refused: 0 });
});
