// What `writ serve` and the other commands print when the data directory is not in order: one line, and what
// to do. INVARIANT: a process that was killed leaves a directory that is in order
// (test/service/store/kill-rounds.ts).

import { chmodSync, mkdirSync, readFileSync, rmSync, truncateSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import Database from 'better-sqlite3';
import { describe, expect, test } from 'vitest';
import { openStore } from '../../../src/service/store/open.ts';
import { writ, writProcess } from '../../cli/writ.ts';
import { fillStore } from '../audit/filled.ts';
import { temporaryFolder } from '../store/rows.ts';

async function createData(): Promise<{ data: string; path: string; policies: string }> {
  const folder = temporaryFolder();
  const data = join(folder, 'var');
  const policies = join(folder, 'policies');
  mkdirSync(policies);
  writeFileSync(join(policies, 'a.policy'), 'action "a.b"\n');
  const path = join(data, 'writ.db');
  const store = await openStore({ path });
  await fillStore(store);
  await store.close();
  return { data, path, policies };
}

const serve = (data: string, policies: string) => [
  'serve',
  '--port',
  '0',
  '--data',
  data,
  '--policies',
  policies,
];

/**
 * Opens the directory in each of three ways: the service, a command that changes agents, and one that reads
 * records.
 */
function start(data: string, policies: string) {
  return Promise.all([
    writ(serve(data, policies)),
    writ(['agent', 'list', '--data', data]),
    writ(['audit', 'verify', '--data', data]),
  ]);
}

describe('every command refuses, in one line', () => {
  test('a key without its database, and an emptied database', async () => {
    const { data, path, policies } = await createData();
    truncateSync(path);
    for (const { code, stderr } of await start(data, policies)) {
      expect(code).toBe(1);
      expect(stderr).toMatch(/is missing or empty, but its master key .* is there: restore .*\n$/);
    }
    rmSync(path);
    const [served] = await start(data, policies);
    expect(served).toMatchObject({ code: 1, stderr: expect.stringContaining('is missing or empty') });
    expect(served.stderr.trimEnd().split('\n')).toHaveLength(1);
    await expect(openStore({ path })).rejects.toMatchObject({ code: 'unsafe-files' });
  });

  test('a database without its key', async () => {
    const { data, path, policies } = await createData();
    rmSync(`${path}.key`);
    const all = [await writProcess(serve(data, policies)), ...(await start(data, policies))];
    for (const { code, stderr } of all) {
      expect(code).toBe(1);
      expect(stderr).toMatch(/the master key .* is missing: restore it.*\n$/);
    }
  });

  test.each([0o666, 0o644, 0o640, 0o620, 0o604])('a master key of mode %o', async (mode) => {
    const { data, path, policies } = await createData();
    chmodSync(`${path}.key`, mode);
    for (const { code, stderr } of await start(data, policies)) {
      expect(code).toBe(1);
      expect(stderr).toContain(`chmod 600 ${path}.key`);
      expect(stderr.trimEnd().split('\n')).toHaveLength(1);
    }
  });

  test('an added trigger, and a database that every user can write', async () => {
    const { data, path, policies } = await createData();
    const database = new Database(path);
    database.exec("CREATE TRIGGER t AFTER UPDATE ON agents BEGIN UPDATE agents SET status = 'active'; END");
    database.close();
    for (const { code, stderr } of await start(data, policies)) {
      expect({ code, stderr }).toEqual({
        code: 1,
        stderr: expect.stringContaining('the trigger `t` is no part'),
      });
    }
    chmodSync(path, 0o666);
    await expect(openStore({ path })).rejects.toMatchObject({ code: 'unsafe-files' });
  });
});

test.each([
  ["UPDATE agents SET status = 'active', name = 'mallory' WHERE id = 'agent-1'", 'agent `agent-1`'],
  ["UPDATE keys SET not_after_ms = 9 WHERE agent_id = 'agent-2'", 'key `'],
  ["DELETE FROM documents WHERE kind = 'switch'", 'switch `switch-3`'],
  ["UPDATE documents SET document_json = '{}' WHERE kind = 'session'", 'session `session-1`'],
  ['DELETE FROM meter_entries', 'table `meter_entries`'],
  ["UPDATE nonce_batches SET uses_json = '[]'", 'table `nonce_batches`'],
  ['DELETE FROM requests WHERE sequence = (SELECT max(sequence) FROM requests)', 'record '],
])('the service does not start on what was changed by hand: %s', async (statement, name) => {
  const { data, path, policies } = await createData();
  const database = new Database(path);
  database.exec(statement);
  database.close();
  const { code, stderr } = await writ(serve(data, policies));
  expect(code).toBe(1);
  expect(stderr).toContain(name);
  expect(stderr).toMatch(
    /: see `writ audit verify`; restore a backup, or accept it with `writ audit accept`\n$/,
  );
  expect(stderr.trimEnd().split('\n')).toHaveLength(1);
});

test('a first start that was killed before its key was stored continues with the same key', async () => {
  const path = join(temporaryFolder(), 'writ.db');
  const store = await openStore({ path });
  await store.close();
  const text = readFileSync(`${path}.key`, 'utf8');
  rmSync(`${path}.key`);
  writeFileSync(`${path}.key.new`, text, { mode: 0o600 });
  await (await openStore({ path })).close();
  expect(readFileSync(`${path}.key`, 'utf8')).toBe(text);
  // A process that was killed before it had created a database also leaves an unfinished key file.
  const other = join(temporaryFolder(), 'writ.db');
  writeFileSync(`${other}.key.new`, text, { mode: 0o600 });
  writeFileSync(other, '', { mode: 0o600 });
  await (await openStore({ path: other })).close();
  expect(readFileSync(`${other}.key`, 'utf8')).toBe(text);
});

test('processes that create one store together agree on its key', async () => {
  const path = join(temporaryFolder(), 'writ.db');
  const stores = await Promise.all([1, 2, 3, 4].map(() => openStore({ path })));
  expect(new Set(stores.map(({ masterKey }) => Buffer.from(masterKey).toString('hex'))).size).toBe(1);
  for (const store of stores) await store.close();
});
