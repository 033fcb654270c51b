// What must hold when things break: a killed process, a full disk, a lost writer.

import { spawnSync } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { statSync } from 'node:fs';
import { join } from 'node:path';
import { setImmediate } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import Database from 'better-sqlite3';
import { expect, onTestFinished, test } from 'vitest';
import { verifyChain } from '../../../src/service/audit/verify.ts';
import { openStore } from '../../../src/service/store/open.ts';
import { openWriteQueue } from '../../../src/service/store/sqlite/write-queue.ts';
import { runKillRounds } from './kill-rounds.ts';
import { nextWriter } from './next-writer.ts';
import { requestRow, startMs, temporaryFolder } from './rows.ts';

const appendOnFullDiskScript = fileURLToPath(new URL('./append-on-full-disk.ts', import.meta.url));

test('of a process killed at any moment, every acknowledged request is in the file and the chain is whole', async () => {
  const result = await runKillRounds(join(temporaryFolder(), 'writ.db'), 5);
  expect(result).toMatchObject({ lost: [], broken: null });
  expect(result.recordCount).toBeGreaterThanOrEqual(result.acknowledgedCount);
  expect(result.acknowledgedCount).toBeGreaterThanOrEqual(5);
});

test('on a full disk whole batches are refused, and later writes succeed once there is room', () => {
  const folder = temporaryFolder();
  const script = [process.execPath, appendOnFullDiskScript, folder];
  const mountThenRun = [
    'sh',
    '-c',
    'mount -t tmpfs -o size=1m none "$1" && shift && exec "$@"',
    'sh',
    folder,
  ];
  const canMount = run([...ownMounts, ...mountThenRun, 'true']).status === 0;
  const result = run(canMount ? [...ownMounts, ...mountThenRun, ...script, 'tmpfs'] : [...script, 'limit']);
  expect(result).toMatchObject({ status: 0, stderr: '' });

  const refused = { outcomes: [canMount ? 'full' : 'io'], foundCount: 0, isWritable: false };
  expect(JSON.parse(result.stdout)).toEqual({
    before: { outcomes: ['stored'], foundCount: 3, isWritable: true },
    whileFull: [refused, refused],
    after: { outcomes: ['stored'], foundCount: 40, isWritable: true },
    chain: 'whole',
  });
});

/** Begins a command with its own view of the file systems, so that no mount can be left behind. */
const ownMounts: readonly string[] =
  process.getuid?.() === 0 ? ['unshare', '--mount'] : ['unshare', '--user', '--map-root-user', '--mount'];

function run([program = '', ...args]: readonly string[]) {
  return spawnSync(program, args, { encoding: 'utf8', timeout: 10_000 });
}

test('while a store serves, a thread folds the log into the file, and the writer need not', async () => {
  const path = join(temporaryFolder(), 'writ.db');
  const store = await openStore({ path });
  onTestFinished(() => store.close());
  await store.serve();
  const recordJson = JSON.stringify({ text: 'x'.repeat(200_000) });
  const append = () => store.requests.append({ ...requestRow(), recordJson }, { openMax: 1_000 });
  // All rows together take some 6,000 pages: more than the thread waits for, fewer than the writer folds by itself.
  for (let batch = 0; batch < 6; batch += 1) await Promise.all(Array.from({ length: 40 }, append));
  await expect.poll(() => statSync(path).size).toBeGreaterThan(30e6);
});

test('when the writer is lost, waiting and later writes reject', async () => {
  const path = join(temporaryFolder(), 'writ.db');
  const worker = nextWriter();
  const guards = { masterKey: randomBytes(32), isSealed: false, isUpgradeAllowed: false };
  const data = { path, busyTimeoutMs: 1000, actor: 'system', ...guards };
  const queue = await openWriteQueue(data, 100);
  const append = () =>
    queue.write({
      kind: 'append-request',
      row: requestRow(),
      openMax: 20,
      precondition: null,
      entries: [],
    });
  expect(await append()).toBe('stored');

  const waiting = Promise.allSettled([append(), append()]);
  await worker.terminate();
  for (const result of await waiting) expect(result).toMatchObject({ reason: { code: 'writer-died' } });
  await expect(append()).rejects.toMatchObject({ code: 'writer-died' });
  expect(queue.isWritable()).toBe(false);
  await queue.close();
});

test('a nonce outlasts a batch that failed, and is there when a later write is', async () => {
  const path = join(temporaryFolder(), 'writ.db');
  const store = await openStore({ path, busyTimeoutMs: 50 });
  const holder = new Database(path);
  holder.exec('BEGIN IMMEDIATE');
  const use = { nonce: 'agent-1 n', usedAtMs: startMs, keptUntilMs: startMs + 600_000 };
  store.nonces.note(use);
  const append = () => store.requests.append(requestRow(), { openMax: 20 });
  await expect(append()).rejects.toMatchObject({ code: 'locked' });
  holder.exec('ROLLBACK');
  holder.close();
  await append();
  expect(await store.nonces.list()).toEqual([use]);
  await store.close();
});

test('the nonces of a commit are one row, which goes once all of them have ended', async () => {
  const path = join(temporaryFolder(), 'writ.db');
  const store = await openStore({ path });
  onTestFinished(() => store.close());
  const rows = () => {
    const database = new Database(path, { readonly: true });
    const found = database.prepare('SELECT count(*) FROM nonce_batches').pluck().get();
    database.close();
    return found;
  };
  const note = (count: number, usedAtMs: number) => {
    for (let at = 0; at < count; at += 1)
      store.nonces.note({ nonce: `agent-1 ${usedAtMs}-${at}`, usedAtMs, keptUntilMs: usedAtMs + 600_000 });
    return store.requests.append(requestRow(), { openMax: 20 });
  };
  await note(3, startMs);
  expect(rows()).toBe(1);
  expect(await store.nonces.list()).toHaveLength(3);
  await note(1, startMs + 500_000);
  expect(await store.nonces.list()).toHaveLength(4);
  // The first three have ended, the fourth has not.
  await note(2, startMs + 700_000);
  expect(rows()).toBe(2);
  expect((await store.nonces.list()).map(({ usedAtMs }) => usedAtMs - startMs)).toEqual([
    500_000, 700_000, 700_000,
  ]);
});

test('a nonce that no write follows is stored soon', async () => {
  const path = join(temporaryFolder(), 'writ.db');
  const store = await openStore({ path });
  onTestFinished(() => store.close());
  const use = { nonce: 'agent-1 n', usedAtMs: startMs, keptUntilMs: startMs + 600_000 };
  store.nonces.note(use);
  await expect.poll(() => store.nonces.list()).toEqual([use]);
});

test('where the time of writes went is told by step', async () => {
  const store = await openStore({ path: join(temporaryFolder(), 'writ.db') });
  onTestFinished(() => store.close());
  const before = store.writeTimes!();
  await Promise.all(Array.from({ length: 5 }, () => store.requests.append(requestRow(), { openMax: 20 })));
  const { writes, commits, seconds } = store.writeTimes!();
  expect(writes - before.writes).toBe(5);
  expect(commits - before.commits).toBe(1);
  expect(seconds.commit).toBeGreaterThan(before.seconds.commit);
  for (const step of ['queue', 'message', 'answer'] as const)
    expect(seconds[step]).toBeGreaterThanOrEqual(before.seconds[step]);
});

test('a nonce of a batch that failed goes with the batch that was already sent behind it', async () => {
  const path = join(temporaryFolder(), 'writ.db');
  const store = await openStore({ path, busyTimeoutMs: 500 });
  const holder = new Database(path);
  holder.exec('BEGIN IMMEDIATE');
  const use = { nonce: 'agent-1 n', usedAtMs: startMs, keptUntilMs: startMs + 600_000 };
  const append = () => store.requests.append(requestRow(), { openMax: 20 });
  store.nonces.note(use);
  const first = append();
  await afterTurns(2);
  // These leave as a second batch while the first one waits for the lock.
  const behind = Promise.all(Array.from({ length: 10 }, append));
  await afterTurns(2);
  await expect(first).rejects.toMatchObject({ code: 'locked' });
  holder.exec('ROLLBACK');
  holder.close();
  expect(new Set(await behind)).toEqual(new Set(['stored']));
  expect(await store.nonces.list()).toEqual([use]);
  expect(await verifyChain(store)).toMatchObject({ kind: 'whole', end: { sequence: 10 } });
  await store.close();
});

async function afterTurns(count: number): Promise<void> {
  for (let turn = 0; turn < count; turn += 1) await setImmediate();
}

test('after a failed batch the chain continues without a gap', async () => {
  const path = join(temporaryFolder(), 'writ.db');
  const store = await openStore({ path, busyTimeoutMs: 50 });
  onTestFinished(() => store.close());
  const append = () => store.requests.append(requestRow(), { openMax: 20 });
  await append();
  const holder = new Database(path);
  holder.exec('BEGIN IMMEDIATE');
  await expect(append()).rejects.toMatchObject({ code: 'locked' });
  holder.exec('ROLLBACK');
  holder.close();
  await append();
  expect(await verifyChain(store)).toMatchObject({ kind: 'whole', end: { sequence: 2 } });
});
