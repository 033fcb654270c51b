// What must hold when things break: a killed process, a full disk, a writer that is lost.

import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import { expect, onTestFinished, test } from 'vitest';
import { openStore } from '../../src/store/open.ts';
import { startWriter } from '../../src/store/sqlite.ts';
import { requestColumns } from '../../src/store/sqlite-rows.ts';
import { openWriteQueue } from '../../src/store/write-queue.ts';
import { requestRow, temporaryFolder } from './rows.ts';

const appendUntilKilledScript = fileURLToPath(new URL('./append-until-killed.ts', import.meta.url));
const appendOnFullDiskScript = fileURLToPath(new URL('./append-on-full-disk.ts', import.meta.url));

test('of a process killed at any moment, every acknowledged request is in the file', {
  timeout: 20_000,
}, async () => {
  const path = join(temporaryFolder(), 'writ.db');
  const acknowledged: string[] = [];
  for (const enough of [1, 150, 400]) acknowledged.push(...(await appendUntilKilled(path, enough)));
  expect(acknowledged.length).toBeGreaterThanOrEqual(551);

  const store = await openStore({ path });
  onTestFinished(() => store.close());
  const found = await Promise.all(acknowledged.map((id) => store.requests.find(id)));
  expect(found.filter((record) => record === null)).toEqual([]);
});

/** The ids that a process printed before it was killed, shortly after the first `enough` of them. */
async function appendUntilKilled(path: string, enough: number): Promise<readonly string[]> {
  const child = spawn(process.execPath, [appendUntilKilledScript, path], {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  onTestFinished(() => void child.kill('SIGKILL'));
  const ids: string[] = [];
  for await (const line of createInterface({ input: child.stdout })) {
    if (line.length === 36) ids.push(line);
    if (ids.length === enough) child.kill('SIGKILL');
  }
  if (child.exitCode === null && child.signalCode === null) await once(child, 'exit');
  expect(child.signalCode).toBe('SIGKILL');
  return ids;
}

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
  });
});

/** Begins a command that has its own view of the file systems, so that no mount can be left behind. */
const ownMounts: readonly string[] =
  process.getuid?.() === 0 ? ['unshare', '--mount'] : ['unshare', '--user', '--map-root-user', '--mount'];

function run([program = '', ...args]: readonly string[]) {
  return spawnSync(program, args, { encoding: 'utf8', timeout: 10_000 });
}

test('when the writer is lost, waiting and later writes reject', async () => {
  const path = join(temporaryFolder(), 'writ.db');
  const worker = startWriter({ path, busyTimeoutMs: 1000 });
  const queue = await openWriteQueue(worker, 100);
  const append = () =>
    queue.write({ kind: 'append-request', row: requestColumns(requestRow()), openMax: 20 });
  expect(await append()).toBe('stored');

  const waiting = Promise.allSettled([append(), append()]);
  await worker.terminate();
  for (const result of await waiting) expect(result).toMatchObject({ reason: { code: 'writer-died' } });
  await expect(append()).rejects.toMatchObject({ code: 'writer-died' });
  expect(queue.isWritable()).toBe(false);
  await queue.close();
});
