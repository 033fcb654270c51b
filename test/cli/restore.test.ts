// `writ restore` as an operator uses it: one command puts a backup in place, and whatever is wrong with the backup
// or the disk, the store stays as it was.

import { execFile, spawnSync } from 'node:child_process';
import { copyFileSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import Database from 'better-sqlite3';
import { expect, onTestFinished, test } from 'vitest';
import { addAgent, ask, startService } from '../e2e/acceptance/service.ts';
import { temporaryFolder } from '../service/store/rows.ts';
import { writ, writProcess } from './writ.ts';

const policy = `
  action pay.send, pay.metered { amount: money(currency) 0.01.., currency: "USD" }
  meter sent = sum(payload.amount) in USD of pay.metered per agent over 24h
  policy all_payments on pay.send { allow all }
  policy metered_payments on pay.metered { allow little when sent <= 100 USD }`;

/** A store with the agent `early`, a backup of it, and the agent `late`, which the backup lacks. */
async function setUp() {
  const folder = temporaryFolder();
  const data = join(folder, 'data');
  const backup = join(folder, 'backup.db');
  const key = await addAgent(data, 'early');
  expect(await run('backup', backup)).toMatchObject({ code: 0 });
  await addAgent(data, 'late');
  function run(...args: readonly string[]) {
    return writ([...args, '--data', data]);
  }
  const agents = async (place = data) => (await writ(['agent', 'list', '--data', place])).stdout;
  return { folder, data, backup, key, run, agents };
}

/** The files of a directory with their content, but for the lock file, which holds nothing. */
function contentOf(folder: string): readonly (readonly [string, string])[] {
  return readdirSync(folder)
    .filter((name) => !name.endsWith('.serving'))
    .map((name) => [name, readFileSync(join(folder, name), 'base64')]);
}

test('a backup replaces the store, everything stays stopped, and the old store is kept', async () => {
  const { folder, data, backup, key, run, agents } = await setUp();
  const policies = join(folder, 'policies');
  mkdirSync(policies);
  writeFileSync(join(policies, 'a.policy'), policy);
  const start = async () => {
    const service = await startService({ policies, data });
    onTestFinished(() => void service.end('SIGKILL'));
    return service;
  };
  const request = { action_key: 'pay.send', payload: { amount: 1, currency: 'USD' } };
  const first = await start();
  expect((await ask(first.url, key, request)).body.decision).toBe('ALLOW');
  expect(await run('restore', backup)).toMatchObject({
    code: 1,
    stderr: expect.stringContaining('another process serves'),
  });
  await first.end('SIGTERM');

  const restored = await run('restore', backup);
  expect(restored).toMatchObject({ code: 0, stderr: '' });
  const kept = /is kept, unchanged, in (.*)$/m.exec(restored.stdout)?.[1] ?? '';
  expect(await agents(kept)).toContain('late');
  expect(await agents()).not.toContain('late');
  expect(readdirSync(data).filter((name) => name.includes('restoring'))).toEqual([]);
  expect((await run('audit', 'verify')).code).toBe(0);

  const next = await start();
  expect((await ask(next.url, key, request)).body.type).toBe('urn:writ:error:stopped');
  // The printed command, pasted into a shell at the checkout, ends the stop.
  const [resume = ''] = /npm run -s writ -- kill-switch off .*/.exec(restored.stdout) ?? [];
  expect((await promisify(execFile)('sh', ['-c', resume])).stdout).toContain('all is off');
  await expect.poll(async () => (await ask(next.url, key, request)).body.decision).toBe('ALLOW');
  // Grants after the backup are forgotten, so the meter is unknown for the whole of its window.
  expect(restored.stdout).toContain('meters are unknown until their windows have passed');
  const { body: metered } = await ask(next.url, key, { ...request, action_key: 'pay.metered' });
  const [, until = ''] =
    /the meter sent counts are missing: ask again after (\S+)\.$/.exec(String(metered.message)) ?? [];
  expect(metered.decision).toBe('DENY');
  expect(Math.abs(Date.parse(until) - Date.now() - 24 * 60 * 60_000)).toBeLessThan(120_000);
  await next.end('SIGTERM');

  // It is a backup like any other, so a restore that was a mistake can be undone.
  expect(await run('restore', join(kept, 'writ.db'))).toMatchObject({ code: 0 });
  expect(await agents()).toContain('late');
});

test('a backup is restored without an old store, and described as JSON', async () => {
  const { data, backup, run, agents } = await setUp();
  rmSync(data, { recursive: true });
  const { code, stdout } = await run('restore', backup, '--json');
  expect(code).toBe(0);
  expect(JSON.parse(stdout)).toMatchObject({ ok: true, ended: 0, sessions: 0, kept_in: null });
  expect(await agents()).toContain('early');
});

const faults: readonly (readonly [string, (backup: string) => void, RegExp])[] = [
  ['no backup', (backup) => rmSync(backup), /^error: there is no backup at .*backup\.db\n/],
  ['no key', (backup) => rmSync(`${backup}.key`), /the key of the backup, .*backup\.db\.key`, is missing/],
  [
    'the key of another store',
    (backup) => writeFileSync(`${backup}.key`, `${'a'.repeat(64)}\nsealed\n`),
    /backup\.db\.key` is not the master key of this database/,
  ],
  ['no database', (backup) => writeFileSync(backup, 'text'), /backup\.db` is damaged or is not a database/],
  ['an empty file', (backup) => writeFileSync(backup, ''), /backup\.db` is missing or empty/],
  ['half a file', (backup) => writeFileSync(backup, readFileSync(backup).subarray(0, 100_000)), /is damaged/],
  ['a damaged page', (backup) => damage(backup), /is damaged or is not a database: restore another backup/],
  [
    'a row that was changed',
    (backup) => change(backup, "UPDATE agents SET risk_tier = 'critical'"),
    /backup\.db.* was changed after it was made|backup\.db.*the service did not/,
  ],
  [
    'the schema of a later version',
    (backup) => change(backup, 'PRAGMA user_version = 900'),
    /backup\.db` was written by a later version of Writ/,
  ],
  [
    'the database of another program',
    (backup) => change(backup, 'PRAGMA application_id = 7'),
    /backup\.db` .*another program/,
  ],
];

function damage(path: string): void {
  const bytes = readFileSync(path);
  bytes.fill(0xff, 3 * 4096, 30 * 4096);
  writeFileSync(path, bytes);
}

function change(path: string, sql: string): void {
  const database = new Database(path);
  database.exec(sql);
  database.close();
}

test.each(faults)('with %s nothing is changed', async (_name, breakBackup, message) => {
  const { data, backup, run, agents } = await setUp();
  breakBackup(backup);
  const before = contentOf(data);
  const { code, stdout, stderr } = await run('restore', backup);
  expect([code, stdout]).toEqual([1, '']);
  expect(stderr).toMatch(message);
  expect(stderr).toMatch(/\nnothing was changed\n$/);
  expect(stderr).not.toContain('restoring');
  expect(contentOf(data)).toEqual(before);
  expect(await agents()).toContain('late');
});

test('the store itself, and one that a service uses, are refused as backups', async () => {
  const { data, run, folder } = await setUp();
  expect((await run('restore', join(data, 'writ.db'))).stderr).toContain('is the store itself');
  const policies = join(folder, 'policies');
  mkdirSync(policies);
  writeFileSync(join(policies, 'a.policy'), policy);
  const other = await startService({ policies, data: join(folder, 'other') });
  onTestFinished(() => void other.end('SIGKILL'));
  const refused = await run('restore', join(other.data, 'writ.db'));
  expect(refused.stderr).toContain('make a backup of it with `writ backup`');
});

test('on a full disk nothing is changed, and with room the same command restores', () => {
  const folder = temporaryFolder();
  const script = fileURLToPath(new URL('./restore-on-full-disk.ts', import.meta.url));
  const ownMounts = [
    'unshare',
    ...(process.getuid?.() === 0 ? [] : ['--user', '--map-root-user']),
    '--mount',
  ];
  const mount = ['sh', '-c', 'mount -t tmpfs -o size=2m none "$1" && shift && exec "$@"', 'sh', folder];
  const canMount = spawn([...ownMounts, ...mount, 'true']).status === 0;
  const program = [process.execPath, script, folder];
  const ran = spawn(canMount ? [...ownMounts, ...mount, ...program, 'tmpfs'] : [...program, 'limit']);
  expect(ran).toMatchObject({ status: 0, stderr: '' });
  expect(JSON.parse(ran.stdout)).toMatchObject({
    whileFull: { code: 1, stderr: expect.stringMatching(/^error: (.|\n)*\nnothing was changed\n$/) },
    isUnchanged: true,
    after: { code: 0 },
  });
  if (canMount) expect(ran.stdout).toContain('its disk is full: free space there');
});

function spawn([program = '', ...args]: readonly string[]) {
  return spawnSync(program, args, { encoding: 'utf8', timeout: 60_000 });
}

test('a restore that was killed halfway leaves a store that every command refuses, or none changed', async () => {
  const { data, backup, run, agents } = await setUp();
  // As after a power loss: a copy that was being prepared, and a database that had left its place.
  copyFileSync(backup, join(data, 'writ.db.restoring'));
  expect(await agents()).toContain('late');
  rmSync(join(data, 'writ.db'));
  expect((await run('agent', 'list')).stderr).toContain('there is no store');
  expect((await run('agent', 'add', 'new', '--tier', 'low', '--owner', 'ann@example.com')).stderr).toContain(
    'but its master key',
  );
  expect(await run('restore', backup)).toMatchObject({ code: 0 });
  expect(await agents()).toContain('early');
});

test('wrong usage names the correct one, and a database needs its own tools', async () => {
  const { backup, run } = await setUp();
  const database = ['--store', 'postgres://writ@127.0.0.1:1/writ'];
  for (const [args, message] of [
    [[], 'name the backup: `writ restore FILE`'],
    [['--in-place', backup], 'not both'],
    [[backup, ...database], 'run `pg_restore`'],
    [database, 'run `pg_restore`'],
  ] as const) {
    const { code, stderr } = await run('restore', ...args);
    expect([args, code, stderr]).toEqual([args, 2, expect.stringContaining(message)]);
  }
});

test('a store that was restored by other tools is prepared in place', async () => {
  const { data, agents, run } = await setUp();
  const { code, stdout } = await writProcess(['restore', '--in-place', '--data', data]);
  expect([code, stdout]).toEqual([0, expect.stringContaining('the kill switch is on for everything')]);
  expect(await agents()).toContain('late');
  expect((await run('audit', 'export')).stdout).toContain('store-restored');
});
