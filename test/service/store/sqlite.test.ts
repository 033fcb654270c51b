// The contract of a store on SQLite files, and what is particular to a file: its modes, its version, its
// owner, its limits.

import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import Database from 'better-sqlite3';
import { expect, onTestFinished, test } from 'vitest';
import { verifyChain } from '../../../src/service/audit/verify.ts';
import type { Store } from '../../../src/service/store/contract/store.ts';
import { openStore } from '../../../src/service/store/open.ts';
import { copyDatabase } from '../../../src/service/store/sqlite/file/copy.ts';
import type { SqliteOptions } from '../../../src/service/store/sqlite/sqlite.ts';
import { describeAppendTogether } from './append-together-contract.ts';
import { describeStore } from './contract.ts';
import { describeDocuments } from './documents-contract.ts';
import { describeGrantPrecondition } from './grant-precondition-contract.ts';
import { describeMeters } from './meters-contract.ts';
import { describeRecords } from './records-contract.ts';
import { describeRequestLists } from './request-lists-contract.ts';
import { agentRow, keyRow, requestRow, temporaryFolder } from './rows.ts';
import { describeSearch } from './search-contract.ts';
import { describeStatistics } from './statistics-contract.ts';

const createPlace = async () => {
  const folder = mkdtempSync(join(tmpdir(), 'writ-test-'));
  return {
    open: () => openStore({ path: join(folder, 'writ.db') }),
    remove: async () => rmSync(folder, { recursive: true }),
  };
};

describeStore('the SQLite store', createPlace);
describeDocuments('the SQLite store', createPlace);
describeAppendTogether('the SQLite store', createPlace);
describeGrantPrecondition('the SQLite store', createPlace);
describeRequestLists('the SQLite store', createPlace);
describeMeters('the SQLite store', createPlace);
describeRecords('the SQLite store', createPlace);
describeStatistics('the SQLite store', createPlace);
describeSearch('the SQLite store', createPlace);

async function open(options: SqliteOptions): Promise<Store> {
  const store = await openStore(options);
  onTestFinished(() => store.close());
  return store;
}

const limits = { openMax: 20 };
const modeOf = (path: string) => statSync(path).mode & 0o777;

test('missing folders are made, and all files are for their owner alone', async () => {
  const folder = temporaryFolder();
  const store = await open({ path: join(folder, 'a/b/writ.db') });
  await store.requests.append(requestRow(), limits);
  expect([modeOf(join(folder, 'a')), modeOf(join(folder, 'a/b'))]).toEqual([0o700, 0o700]);
  const files = readdirSync(join(folder, 'a/b')).sort();
  expect(files).toEqual(['writ.db', 'writ.db-shm', 'writ.db-wal', 'writ.db.key']);
  for (const file of files) expect([file, modeOf(join(folder, 'a/b', file))]).toEqual([file, 0o600]);
});

test('a closed store leaves the file and its key, no log', async () => {
  const folder = temporaryFolder();
  const store = await openStore({ path: join(folder, 'writ.db') });
  await store.close();
  expect(readdirSync(folder).sort()).toEqual(['writ.db', 'writ.db.key']);
});

test('several openings of a new file agree', async () => {
  const path = join(temporaryFolder(), 'writ.db');
  const stores = await Promise.all([open({ path }), open({ path }), open({ path }), open({ path })]);
  const keys = stores.map((store) => Buffer.from(store.masterKey).toString('hex'));
  expect(new Set(keys).size).toBe(1);
});

test('a database of a later version is refused and left as it is', async () => {
  const path = join(temporaryFolder(), 'writ.db');
  await (await openStore({ path })).close();
  const database = new Database(path);
  database.pragma('user_version = 999');
  database.close();
  const before = readFileSync(path);
  await expect(openStore({ path })).rejects.toMatchObject({
    name: 'StoreError',
    code: 'newer-database',
    message: expect.stringContaining('later version of Writ (schema 999'),
  });
  expect(readFileSync(path)).toEqual(before);
});

test('a database of another program is refused and left as it is', async () => {
  const path = join(temporaryFolder(), 'other.db');
  const database = new Database(path);
  database.exec('CREATE TABLE theirs (x)');
  database.close();
  const before = readFileSync(path);
  await expect(openStore({ path })).rejects.toMatchObject({ code: 'foreign-database' });
  expect(readFileSync(path)).toEqual(before);
});

test('a file that is no database is refused', async () => {
  const path = join(temporaryFolder(), 'text.db');
  writeFileSync(path, 'no database at all '.repeat(1000));
  await expect(openStore({ path })).rejects.toMatchObject({ code: 'corrupt' });
});

test('a path that cannot be written is refused', async () => {
  const folder = temporaryFolder();
  await expect(openStore({ path: folder })).rejects.toMatchObject({ code: 'unwritable' });
  writeFileSync(join(folder, 'file'), '');
  await expect(openStore({ path: join(folder, 'file/writ.db') })).rejects.toMatchObject({
    code: 'unwritable',
  });
  mkdirSync(join(folder, 'writ.db.key'));
  await expect(openStore({ path: join(folder, 'writ.db') })).rejects.toMatchObject({ code: 'master-key' });
});

test('a lost, damaged or exchanged master key is noticed at start', async () => {
  const path = join(temporaryFolder(), 'writ.db');
  await (await openStore({ path })).close();
  const kept = readFileSync(`${path}.key`, 'utf8');

  rmSync(`${path}.key`);
  await expect(openStore({ path })).rejects.toMatchObject({ code: 'master-key' });
  const restore = (text: string) => writeFileSync(`${path}.key`, text, { mode: 0o600 });
  restore(kept.slice(1));
  await expect(openStore({ path })).rejects.toMatchObject({ code: 'master-key' });
  restore('ab'.repeat(32));
  await expect(openStore({ path })).rejects.toMatchObject({ code: 'master-key' });
  restore(kept);
  await open({ path });
});

test('the master key is not in the database', async () => {
  const path = join(temporaryFolder(), 'writ.db');
  const store = await openStore({ path });
  await store.close();
  const bytes = readFileSync(path);
  expect(bytes.includes(Buffer.from(store.masterKey))).toBe(false);
  expect(bytes.includes(Buffer.from(store.masterKey).toString('hex'))).toBe(false);
});

test('a database held by another process is `locked`, and free again afterwards', async () => {
  const path = join(temporaryFolder(), 'writ.db');
  const store = await open({ path, busyTimeoutMs: 50 });
  const holder = new Database(path);
  holder.exec('BEGIN IMMEDIATE');
  const record = requestRow();
  await expect(store.requests.append(record, limits)).rejects.toMatchObject({ code: 'locked' });
  expect(await store.requests.find(record.id)).toBeNull();
  holder.exec('ROLLBACK');
  holder.close();
  expect(await store.requests.append(record, limits)).toBe('stored');
});

test('a write that the database refuses fails alone', async () => {
  const store = await open({ path: join(temporaryFolder(), 'writ.db') });
  const [first, second] = [agentRow(), agentRow()];
  const key = keyRow(first.id);
  await store.agents.add(first, key);
  const requests = [requestRow(), requestRow()] as const;
  const results = await Promise.allSettled([
    store.requests.append(requests[0], limits),
    // The agent is inserted before the store finds that its key is in use.
    store.agents.add(second, { ...key, agentId: second.id }),
    store.requests.append(requests[1], limits),
  ]);
  expect(results).toMatchObject([
    { value: 'stored' },
    { reason: { name: 'StoreError', code: 'internal' } },
    { value: 'stored' },
  ]);
  expect(await store.agents.find(second.id)).toBeNull();
  expect(store.isWritable()).toBe(true);
  const { records } = await store.chain.segment(0, 10);
  expect(records.map(({ entry }) => [entry.sequence, entry.kind, entry.id ?? entry.what])).toEqual([
    [1, 'change', 'agent-added'],
    [2, 'request', requests[0].id],
    [3, 'request', requests[1].id],
  ]);
});

test('writes are counted from when they are asked for until they are durable', async () => {
  const store = await open({ path: join(temporaryFolder(), 'writ.db') });
  expect(store.queueDepth()).toBe(0);
  const writes = [1, 2, 3].map(() => store.requests.append(requestRow(), limits));
  expect(store.queueDepth()).toBe(3);
  await Promise.all(writes);
  expect(store.queueDepth()).toBe(0);
});

test('beyond the limit of waiting writes, further ones are refused', async () => {
  const path = join(temporaryFolder(), 'writ.db');
  const store = await open({ path, writesPendingMax: 3 });
  const records = Array.from({ length: 5 }, () => requestRow());
  const results = await Promise.allSettled(records.map((record) => store.requests.append(record, limits)));
  expect(results.map((result) => result.status)).toEqual([
    'fulfilled',
    'fulfilled',
    'fulfilled',
    'rejected',
    'rejected',
  ]);
  expect(results[4]).toMatchObject({ reason: { code: 'overloaded' } });
  expect(await store.requests.append(records[4]!, limits)).toBe('stored');
});

test('a copy made under load is whole, opens with its own key, and is for its owner alone', async () => {
  const folder = temporaryFolder();
  const store = await open({ path: join(folder, 'writ.db') });
  const acknowledged: string[] = [];
  let isLoading = true;
  const load = Array.from({ length: 20 }, async () => {
    while (isLoading) {
      const row = requestRow();
      await store.requests.append(row, limits);
      acknowledged.push(row.id);
    }
  });
  while (acknowledged.length < 200) await new Promise((resolve) => setTimeout(resolve, 5));
  const before = [...acknowledged];
  const target = join(folder, 'copy/of.db');
  mkdirSync(join(folder, 'copy'));
  await store.copyTo(target);
  isLoading = false;
  await Promise.all(load);

  expect(readdirSync(join(folder, 'copy')).sort()).toEqual(['of.db', 'of.db.key']);
  expect([modeOf(target), modeOf(`${target}.key`)]).toEqual([0o600, 0o600]);
  const copy = await open({ path: target });
  expect(Buffer.from(copy.masterKey)).toEqual(Buffer.from(store.masterKey));
  const found = await Promise.all(before.map((id) => copy.requests.find(id)));
  expect(found.filter((row) => row === null)).toEqual([]);
  expect(await verifyChain(copy)).toMatchObject({ kind: 'whole' });
});

test.each(['copy.db', 'copy.db.key'])('a copy replaces nothing: %s is there', async (name) => {
  const folder = temporaryFolder();
  const store = await open({ path: join(folder, 'writ.db') });
  writeFileSync(join(folder, name), 'mine');
  await expect(store.copyTo(join(folder, 'copy.db'))).rejects.toMatchObject({
    code: 'unwritable',
    message: expect.stringContaining('already exists'),
  });
  expect(readFileSync(join(folder, name), 'utf8')).toBe('mine');
  expect(readdirSync(folder).filter((file) => file.startsWith('copy'))).toEqual([name]);
});

test('of a damaged database no copy is kept', async () => {
  const folder = temporaryFolder();
  const path = join(folder, 'writ.db');
  const store = await openStore({ path });
  await Promise.all(Array.from({ length: 200 }, () => store.requests.append(requestRow(), limits)));
  await store.close();
  const bytes = readFileSync(path);
  // Pages from the middle of the file on are overwritten.
  bytes.fill(0xff, 4096 * 12, 4096 * 20);
  writeFileSync(path, bytes);
  await expect(copyDatabase(path, join(folder, 'copy.db'))).rejects.toMatchObject({ code: 'corrupt' });
  expect(readdirSync(folder).filter((file) => file.startsWith('copy'))).toEqual([]);
});

test('a copy into a missing folder is refused', async () => {
  const folder = temporaryFolder();
  const store = await open({ path: join(folder, 'writ.db') });
  await expect(store.copyTo(join(folder, 'no/copy.db'))).rejects.toMatchObject({ code: 'unwritable' });
});
