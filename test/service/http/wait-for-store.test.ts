// A start waits for a store that is away, for as long as the settings allow, and a service whose store has
// ended under it stops.

import { mkdtempSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, onTestFinished, test } from 'vitest';
import { type RunningServer, serve } from '../../../src/service/http/main.ts';
import { createWaitForStore } from '../../../src/service/http/wait-for-store.ts';
import { StoreError } from '../../../src/service/store/contract/store-error.ts';
import { openWire } from '../store/cut-wire.ts';
import { nextWriter } from '../store/next-writer.ts';
import { type PostgresServer, startPostgres } from '../store/postgres-server.ts';
import { temporaryFolder } from '../store/rows.ts';

let server: PostgresServer;
beforeAll(async () => {
  server = await startPostgres();
});
afterAll(() => server.stop());

const policies = mkdtempSync(join(tmpdir(), 'writ-policies-'));
writeFileSync(
  join(policies, 'a.policy'),
  'action payment.create { amount: number 0.. }\npolicy small on payment.create { allow all }\n',
);

interface Starting {
  readonly log: string[];
  readonly serving: Promise<RunningServer>;
}

function start(store: string | undefined, waitSeconds: number): Starting {
  const log: string[] = [];
  const data = join(temporaryFolder(), 'var');
  const flags = {
    port: 0,
    policies,
    data,
    store,
    'store.durability': 'single',
    'store.wait_seconds': waitSeconds,
  };
  const logStream = { write: (line: string) => void log.push(line) };
  const serving = serve({ directory: data, environment: {}, flags, logStream, print: () => undefined });
  onTestFinished(async () => (await serving.catch(() => null))?.stop());
  return { log, serving };
}

async function expectTried(log: readonly string[], reason: RegExp): Promise<void> {
  const lines = () => log.filter((line) => line.includes('not available yet; retrying')).join('');
  await expect.poll(lines, { timeout: 30_000 }).toMatch(reason);
}

test('a start waits until the database server is up', async () => {
  const { url } = await server.createEmptyDatabase();
  await server.stop();
  const { log, serving } = start(url, 600);
  await expectTried(log, /cannot be reached.*(ENOENT|ECONNREFUSED)/);
  await server.start();
  const { url: address } = await serving;
  await expect.poll(async () => (await fetch(`${address}/readyz`)).status, { timeout: 30_000 }).toBe(200);
});

test('a start continues with a server that takes longer than a statement may', async () => {
  const database = await server.createEmptyDatabase();
  const wire = await openWire(server, database);
  onTestFinished(() => wire.close());
  wire.slow(5_000);
  const { log, serving } = start(wire.url, 600);
  await expectTried(log, /cannot be reached/);
  wire.fix();
  wire.slow(0);
  const { url } = await serving;
  await expect.poll(async () => (await fetch(`${url}/readyz`)).status, { timeout: 30_000 }).toBe(200);
});

test('a start that has waited for the maximum time exits, and says for what and how long', async () => {
  await server.stop();
  onTestFinished(() => server.start());
  await expect(start(server.urlOf('none'), 1).serving).rejects.toMatchObject({
    exitCode: 1,
    message: expect.stringMatching(
      /^writ: the database cannot be reached.*for 1 s \(store\.wait_seconds\).*E/,
    ),
  });
});

test('a permanent error ends a start at once', async () => {
  const { log, serving } = start(server.urlOf('missing'), 600);
  await expect(serving).rejects.toThrow(/refuses this user/);
  expect(log.join('')).not.toContain('tries again');
});

test('steps of a start share one time limit, and each temporary error is tried again', async () => {
  const log = { level: 'silent', stream: { write: () => undefined } } as const;
  const waiting = createWaitForStore({ forMs: 60_000, log });
  for (const code of ['unreachable', 'locked', 'uncertain'] as const) {
    const left = [new StoreError(code, 'away')];
    const step = async () => {
      const error = left.pop();
      if (error !== undefined) throw error;
      return 'done';
    };
    expect(await waiting(step)).toBe('done');
  }
  const over = createWaitForStore({ forMs: 0, log });
  await expect(over(() => Promise.reject(new StoreError('locked', 'away')))).rejects.toThrow(
    'store.wait_seconds',
  );
  for (const code of ['tampered', 'already-served', 'unwritable', 'newer-database'] as const)
    await expect(waiting(() => Promise.reject(new StoreError(code, 'no')))).rejects.toMatchObject({ code });
});

test('a service whose writer has ended exits, and says why', async () => {
  const writer = nextWriter();
  const { log, serving } = start(undefined, 60);
  const { ended, url } = await serving;
  await writer.terminate();
  await ended;
  await expect
    .poll(() =>
      fetch(url).then(
        () => 'answers',
        () => 'closed',
      ),
    )
    .toBe('closed');
  expect(log.join('')).toContain('can no longer store anything');
});
