// The service as real processes on a store in PostgreSQL: what a user sees, and what happens when the server
// goes away, when a second process starts, and when a stopped process wakes.

import { execFile } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, beforeAll, expect, onTestFinished, test } from 'vitest';
import { writ } from '../../cli/writ.ts';
import { isOnPostgres } from '../../service/store/place.ts';
import { type PostgresServer, startPostgres } from '../../service/store/postgres-server.ts';
import { addAgent, ask, type Reply, type Service, startService, temporary } from './service.ts';

const entry = join(import.meta.dirname, '../../../src/cli/writ.js');
const policy = `
  action pay.send { amount: money(currency) 0.01.., currency: "USD" }
  meter spent = sum(payload.amount) in USD of pay.send per agent over 24h
  policy budget on pay.send { allow all  deny beyond when spent > 100 USD }`;

let server: PostgresServer;
beforeAll(async () => {
  server = await startPostgres();
});
afterAll(() => server.stop());

async function setUp() {
  const database = await server.createEmptyDatabase();
  const env = { WRIT_STORE: database.url };
  const data = temporary('data');
  const policies = mkdtempSync(join(tmpdir(), 'writ-policies-'));
  writeFileSync(join(policies, 'a.policy'), policy);
  const start = async (): Promise<Service> => {
    const service = await startService({ policies, data, env });
    onTestFinished(async () => {
      service.process.kill('SIGCONT');
      await service.end('SIGKILL');
    });
    return service;
  };
  const service = await start();
  const key = await addAgent(data, 'buyer', env);
  const pay = (amount: number, url = service.url): Promise<Reply> =>
    ask(url, key, { action_key: 'pay.send', payload: { amount, currency: 'USD' } });
  const ready = async (url = service.url) => (await fetch(`${url}/readyz`)).status;
  const run = async (...args: readonly string[]) => {
    return (await writ([...args, '--data', data], { env })).stdout;
  };
  return { database, data, start, service, pay, ready, run };
}

test('decides, keeps its budget after a loss of the server, and is verified by the command', async () => {
  const { pay, ready, run, service, database } = await setUp();
  expect(service.output()).toContain(database.url);
  expect((await pay(60)).body).toMatchObject({ decision: 'ALLOW' });
  expect(await ready()).toBe(200);
  await server.kill();
  const killedAt = performance.now();
  await expect.poll(() => ready(), { interval: 20 }).toBe(503);
  console.info(`not ready after ${(performance.now() - killedAt).toFixed(0)} ms`);
  expect(await pay(10)).toMatchObject({ status: 500, body: { type: 'urn:writ:error:record_failed' } });
  await server.start();
  const backAt = performance.now();
  await expect.poll(() => ready(), { interval: 20 }).toBe(200);
  console.info(`ready after ${(performance.now() - backAt).toFixed(0)} ms`);
  // Until the meters have been read again they are unknown, and nothing is granted.
  const granted = expect.poll(async () => (await pay(30)).body, { interval: 20 });
  await granted.toMatchObject({ decision: 'ALLOW' });
  expect((await pay(11)).body).toMatchObject({ decision: 'DENY' });
  expect(await run('audit', 'verify')).toMatch(/are unchanged/);
});

test('a second process shares the budget, and continues when the first is killed', async () => {
  const { start, service, pay, ready } = await setUp();
  expect((await pay(60)).body).toMatchObject({ decision: 'ALLOW' });
  const next = await start();
  expect(await ready(next.url)).toBe(200);
  expect((await pay(30, next.url)).body).toMatchObject({ decision: 'ALLOW' });
  expect((await pay(11)).body).toMatchObject({ decision: 'DENY' });
  await service.end('SIGKILL');
  expect((await pay(11, next.url)).body).toMatchObject({ decision: 'DENY' });
  expect((await pay(10, next.url)).body).toMatchObject({ decision: 'ALLOW' });
});

test('a process that was suspended grants nothing with outdated facts afterwards', async () => {
  const { start, service, pay } = await setUp();
  expect((await pay(60)).body).toMatchObject({ decision: 'ALLOW' });
  const next = await start();
  service.process.kill('SIGSTOP');
  expect((await pay(40, next.url)).body).toMatchObject({ decision: 'ALLOW' });
  service.process.kill('SIGCONT');
  // By its own memory this process would still have room for 40 more.
  const answers = await Promise.all(Array.from({ length: 20 }, () => pay(1)));
  expect(answers.filter(({ body }) => body.decision === 'ALLOW')).toEqual([]);
  expect((await pay(1, next.url)).body).toMatchObject({ decision: 'DENY' });
});

test('a process that has lost its slot logs the reason and exits with code 1, so that its supervisor restarts it', async () => {
  const { database, service, start, pay } = await setUp();
  service.process.kill('SIGSTOP');
  await server.query(
    "UPDATE replicas SET epoch = epoch + 1, instance = 'other' WHERE slot = 0",
    database.name,
  );
  const ended = once(service.process, 'exit');
  service.process.kill('SIGCONT');
  expect(await ended).toEqual([1, null]);
  expect(service.output()).toContain('another process has taken the place of this one');
  const next = await start();
  expect((await pay(10, next.url)).body).toMatchObject({ decision: 'ALLOW' });
});

/** With TEST_STORE=postgres every start has a database address. */
const withoutAddress = test.skipIf(isOnPostgres);

withoutAddress('a start without the address of the database does not begin another store', async () => {
  const { service, data } = await setUp();
  await service.end('SIGTERM');
  const policies = mkdtempSync(join(tmpdir(), 'writ-policies-'));
  writeFileSync(join(policies, 'a.policy'), policy);
  await expect(startService({ policies, data })).rejects.toThrow('are in a database: name it with --store');
  const listing = promisify(execFile)(process.execPath, [entry, 'agent', 'list', '--data', data]);
  await expect(listing).rejects.toMatchObject({ stderr: expect.stringContaining('name it with --store') });
});
