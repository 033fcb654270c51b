// `writ store` as an operator uses it: moving the records of a running service into a database.

import { mkdtempSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { beforeAll, expect, onTestFinished, test } from 'vitest';
import { addAgent, ask, type Service, startService, temporary } from '../e2e/acceptance/service.ts';
import { keptPostgres, type PostgresServer } from '../service/store/postgres-server.ts';
import { writ } from './writ.ts';

let server: PostgresServer;
beforeAll(async () => {
  server = await keptPostgres();
});

const policy = `
  action pay.send { amount: money(currency) 0.01.., currency: "USD" }
  meter spent = sum(payload.amount) in USD of pay.send per agent over 24h
  policy budget on pay.send { allow all  deny beyond when spent > 100 USD }`;

async function setUp() {
  const data = temporary('data');
  const policies = mkdtempSync(join(tmpdir(), 'writ-policies-'));
  writeFileSync(join(policies, 'a.policy'), policy);
  const start = async (env: Readonly<Record<string, string>> = {}): Promise<Service> => {
    const service = await startService({ policies, data, env });
    onTestFinished(() => void service.end('SIGKILL'));
    return service;
  };
  const service = await start();
  const key = await addAgent(data, 'buyer');
  const pay = async (amount: number, url: string) => {
    const request = { action_key: 'pay.send', payload: { amount, currency: 'USD' } };
    const { body } = await ask(url, key, request);
    return body.decision ?? body.type;
  };
  const store = (...args: readonly string[]) => writ(['store', ...args, '--data', data]);
  return { data, start, service, pay, store };
}

test('the records of a running service are moved into a database with their budgets', async () => {
  const { data, start, service, pay, store } = await setUp();
  const { url } = await server.createEmptyDatabase();
  expect(await pay(60, service.url)).toBe('ALLOW');
  const copying = store('copy', '--to', url, '--json');
  // The service grants more while the command copies; the command waits for the end of the service.
  expect(await pay(30, service.url)).toBe('ALLOW');
  await new Promise((resolve) => setTimeout(resolve, 1_500));
  await service.end('SIGTERM');
  const { code, stdout, stderr } = await copying;
  expect({ code, stderr }).toMatchObject({
    code: 0,
    stderr: expect.stringContaining('stop it to copy the rest'),
  });
  expect(JSON.parse(stdout)).toMatchObject({ ok: true, hash: expect.stringMatching(/^[0-9a-f]{64}$/) });
  const next = await start({ WRIT_STORE: url });
  expect(await pay(11, next.url)).toBe('DENY');
  expect(await pay(10, next.url)).toBe('ALLOW');
  const verified = await writ(['audit', 'verify', '--data', data, '--store', url]);
  expect(verified.stdout).toContain('are unchanged');
  await expect(start()).rejects.toThrow('the records have moved to postgres://');
  expect((await writ(['agent', 'list', '--data', data])).stderr).toContain('the records have moved to');
});

test('reports invalid arguments', async () => {
  const data = temporary('data');
  const wrong = [
    ['store', 'copy', '--data', data],
    ['store', 'copy', '--data', data, '--to', 'mysql://a/b'],
    ['store', 'copy', '--data', data, '--to', 'postgres://127.0.0.1:1/writ'],
  ];
  const ran = await Promise.all(wrong.map((args) => writ(args)));
  expect(ran.map(({ code, stderr }) => `${code} ${stderr.split('\n')[0]}`)).toEqual([
    "2 error: required option '--to <address>' not specified",
    '2 error: --to must be an address such as postgres://user@host/database',
    `1 error: there is no store at ${data}/writ.db: name the data directory of the service with --data`,
  ]);
});
