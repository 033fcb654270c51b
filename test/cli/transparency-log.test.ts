// `writ audit prove`, `consistency` and `witness` as an operator and a witness run them: output, exit codes and files
// of the real process.

import { type ChildProcess, spawn } from 'node:child_process';
import { readdirSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { canonicalJson } from '../../src/service/store/contract/canonical-json.ts';
import type { Store } from '../../src/service/store/contract/store.ts';
import { openStore } from '../../src/service/store/open.ts';
import {
  checkpointNoteText,
  readCheckpointNote,
} from '../../src/service/transparency-log/checkpoint-note.ts';
import { isConsistent, isIncluded, leafHash } from '../../src/service/transparency-log/merkle-tree.ts';
import type { ConsistencyProof, InclusionProof } from '../../src/service/transparency-log/prove.ts';
import { verifierKeyText } from '../../src/service/transparency-log/signed-note.ts';
import { createTransparencyLog } from '../../src/service/transparency-log/transparency-log.ts';
import { readWitnesses, type Witness } from '../../src/service/transparency-log/witnesses.ts';
import { createFolder } from '../service/policies/folder.ts';
import { requestRow, startMs } from '../service/store/rows.ts';
import { writ } from './writ.ts';

async function openFilled(data: string): Promise<{ readonly store: Store; readonly ids: readonly string[] }> {
  const store = await openStore({ path: join(data, 'writ.db') });
  onTestFinished(() => store.close());
  const rows = [requestRow(), requestRow(), requestRow()];
  for (const row of rows) await store.requests.append(row, { openMax: 20 });
  return { store, ids: rows.map(({ id }) => id) };
}

function logOf(store: Store, witnesses: readonly Witness[] = []) {
  let nowMs = startMs;
  const log = createTransparencyLog({
    store,
    origin: 'writ.example.com/writ',
    witnesses,
    quorum: witnesses.length,
    clock: () => (nowMs += 60_000),
    onFault: () => undefined,
    onFailure: () => undefined,
  });
  onTestFinished(() => log.close());
  return log;
}

const bytes = (texts: readonly string[]) => texts.map((text) => Buffer.from(text, 'base64'));

test('a request is proved, and a later checkpoint shown to continue an earlier one', async () => {
  const data = createFolder();
  const { store, ids } = await openFilled(data);
  const run = (...args: readonly string[]) => writ(['audit', ...args, '--data', data]);
  expect(await run('prove', ids[1]!)).toMatchObject({
    code: 1,
    stderr: expect.stringContaining('no published checkpoint'),
  });
  const log = logOf(store);
  await log.turn();
  const earlier = (await log.published())!;
  const note = join(data, 'earlier.note');
  writeFileSync(note, checkpointNoteText(earlier));
  const proved = await run('prove', ids[1]!);
  const [proof] = (JSON.parse(proved.stdout) as { items: readonly InclusionProof[] }).items;
  const claim = { leaf: leafHash(canonicalJson(proof!.entry)), index: proof!.leaf_index, ...earlier };
  expect(isIncluded(claim, bytes(proof!.inclusion))).toBe(true);
  const text = await run('prove', '--sequence', '2', '--text');
  expect(text.stdout).toBe(
    `c2sp.org/tlog-proof@v1\nindex 1\n${proof!.inclusion.join('\n')}\n\n${checkpointNoteText(earlier)}`,
  );

  await store.requests.append(requestRow(), { openMax: 20 });
  expect(await run('prove', '--sequence', '4')).toMatchObject({
    code: 1,
    stderr: expect.stringContaining('does not cover record 4 yet'),
  });
  await log.turn();
  const continued = await run('consistency', note);
  const consistency = JSON.parse(continued.stdout) as ConsistencyProof;
  const later = readCheckpointNote(consistency.checkpoint)!;
  expect(later.size).toBe(4);
  expect(
    isConsistent(readCheckpointNote(consistency.old_checkpoint!)!, later, bytes(consistency.consistency)),
  ).toBe(true);

  expect(await run('verify', '--checkpoint', note)).toMatchObject({
    code: 0,
    stdout: expect.stringContaining('checkpoints match'),
  });
  writeFileSync(note, checkpointNoteText(earlier).replace('\n3\n', '\n2\n'));
  expect(await run('consistency', note)).toMatchObject({
    code: 1,
    stderr: expect.stringContaining('does not continue'),
  });
  expect(await run('verify', '--checkpoint', note)).toMatchObject({
    code: 1,
    stderr: expect.stringContaining('no valid signature'),
  });
  for (const wrong of [
    ['prove'],
    ['prove', ids[0]!, '--sequence', '1'],
    ['prove', ids[0]!, '--text'],
    ['consistency', data],
  ])
    expect((await run(...wrong)).code).toBe(2);
});

test('a witness cosigns over restarts, refuses a fork, and shows both checkpoints', async () => {
  const data = createFolder();
  const { store } = await openFilled(data);
  const copy = join(data, 'copy.db');
  await store.copyTo(copy);
  const directory = join(data, 'witness');
  const key = verifierKeyText(logOf(store).key);
  const first = await startWitness(directory, key);
  const log = logOf(store, readWitnesses(`${first.key} ${first.address}`)!);
  await log.turn();
  expect(await log.published()).toMatchObject({ size: 3 });
  await first.stop();
  expect(readdirSync(directory).filter((name) => name.endsWith('.checkpoint'))).toHaveLength(1);
  expect(statSync(join(directory, 'key')).mode & 0o077).toBe(0);

  const second = await startWitness(directory, key);
  expect(second.key).toBe(first.key);
  const other = await writ([
    'audit',
    'witness',
    '--name',
    'witness.example.com',
    '--log',
    key,
    '--directory',
    directory,
    '--port',
    '0',
  ]);
  expect(other).toMatchObject({ code: 2, stderr: expect.stringContaining('another witness uses') });
  const restored = await openStore({ path: copy });
  onTestFinished(() => restored.close());
  await store.requests.append(requestRow(), { openMax: 20 });
  const witnesses = readWitnesses(`${second.key} ${second.address}`)!;
  const again = logOf(store, witnesses);
  await again.turn();
  expect(await again.published()).toMatchObject({ size: 4 });
  await restored.requests.append(requestRow(), { openMax: 20 });
  const fork = logOf(restored, witnesses);
  await fork.turn();
  expect((await fork.faults())[0]).toMatchObject({ isContradiction: true });
  const { stderr } = await second.stop();
  expect(stderr).toMatch(/^refused: the log forked.*\n--- the last checkpoint that was cosigned\n/);
  expect(stderr.split('writ.example.com/writ\n4\n').length).toBeGreaterThanOrEqual(3);
});

interface StartedWitness {
  readonly key: string;
  readonly address: string;
  readonly stop: () => Promise<{ readonly stderr: string }>;
}

async function startWitness(directory: string, log: string): Promise<StartedWitness> {
  const args = [
    'audit',
    'witness',
    '--name',
    'witness.example.com',
    '--log',
    log,
    '--directory',
    directory,
    '--port',
    '0',
  ];
  const child: ChildProcess = spawn(process.execPath, ['src/cli/writ.js', ...args], {
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  onTestFinished(() => void child.kill('SIGKILL'));
  let [stdout, stderr] = ['', ''];
  child.stdout?.on('data', (part) => (stdout += part));
  child.stderr?.on('data', (part) => (stderr += part));
  const exited = new Promise((resolve) => child.once('exit', resolve));
  await expect.poll(() => `${stdout}${stderr}`, { timeout: 60_000 }).toContain('listening on');
  const [, key = '', address = ''] = /key of this witness: (\S+)\nlistening on (\S+)\n/.exec(stdout) ?? [];
  return {
    key,
    address,
    stop: async () => {
      child.kill('SIGTERM');
      await exited;
      return { stderr };
    },
  };
}
