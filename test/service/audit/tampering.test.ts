// Every stored table and column, and each kind of edit by someone without the master key: the verification
// finds the edit. Tables and columns are read from the schema, so a new one without a seal fails this test.

import { createHash, randomBytes } from 'node:crypto';
import { join } from 'node:path';
import Database from 'better-sqlite3';
import { describe, expect, onTestFinished, test } from 'vitest';
import { isWhole, verifyStore } from '../../../src/service/audit/verify-store.ts';
import { type ChainEntry, linkHash } from '../../../src/service/store/contract/chain.ts';
import { nameOfDifference } from '../../../src/service/store/contract/state.ts';
import type { Store } from '../../../src/service/store/contract/store.ts';
import { openStore } from '../../../src/service/store/open.ts';
import { keyRow, requestRow, startMs, temporaryFolder } from '../store/rows.ts';
import { type Column, fillStore, openForTampering, type Tampering } from './filled.ts';

async function createFilled(): Promise<{ store: Store; path: string; tampering: Tampering }> {
  const path = join(temporaryFolder(), 'writ.db');
  const store = await openStore({ path });
  onTestFinished(() => store.close());
  await fillStore(store);
  return { store, path, tampering: openForTampering(path) };
}

/** Expressions for another value of the same type, and for null. */
function otherValues({ name, type, isNullable }: Column): readonly string[] {
  const other = type === 'INTEGER' ? `coalesce(${name}, 0) + 1000003` : `coalesce(${name}, '') || 'x'`;
  return isNullable ? [other, `iif(${name} IS NULL, ${type === 'INTEGER' ? '0' : "''"}, NULL)`] : [other];
}

/** All ways to change a table by hand, as statements; each affects the first row that it fits. */
function edits(tampering: Tampering, table: string): readonly (readonly [string, readonly string[]])[] {
  const columns = tampering.columnsOf(table);
  const names = columns.map(({ name }) => name);
  const key = keyOf(tampering, table);
  const first = `${rowOf(key)} = (SELECT ${rowOf(key)} FROM ${table} LIMIT 1)`;
  const second = `${rowOf(key)} = (SELECT ${rowOf(key)} FROM ${table} LIMIT 1 OFFSET 1)`;
  const copied = columns.map((column) =>
    ['id', 'name'].includes(column.name) || key.includes(column.name) ? otherValues(column)[0] : column.name,
  );
  const swaps = names
    .filter((name) => !key.includes(name))
    .map(
      (name) =>
        [
          `swap ${name}`,
          [
            `CREATE TEMP TABLE held AS SELECT ${name} AS value FROM ${table} LIMIT 2`,
            // A unique text first gets a third value, so that the swap does not collide.
            `UPDATE ${table} SET ${name} = iif(typeof(${name}) = 'text', ${name} || '~', ${name}) WHERE ${second}`,
            `UPDATE ${table} SET ${name} = (SELECT value || '' FROM held LIMIT 1 OFFSET 1) WHERE ${first}`,
            `UPDATE ${table} SET ${name} = (SELECT value || '' FROM held LIMIT 1) WHERE ${second}`,
            'DROP TABLE held',
          ],
        ] as const,
    );
  return [
    ['insert', [`INSERT INTO ${table} SELECT ${copied} FROM ${table} WHERE ${first}`]],
    ['delete', [`DELETE FROM ${table} WHERE ${first}`]],
    ['delete all', [`DELETE FROM ${table}`]],
    ...columns.flatMap((column) =>
      otherValues(column).map(
        (value) =>
          [
            `${column.name} = ${value}`,
            [`UPDATE ${table} SET ${column.name} = ${value} WHERE ${first}`],
          ] as const,
      ),
    ),
    // Some tables have only one row.
    ...(rowsOf(tampering.database, table).length > 1 ? swaps : []),
  ];
}

function keyOf({ database }: Tampering, table: string): readonly string[] {
  const names = database
    .prepare<[string], string>('SELECT name FROM pragma_table_info(?) WHERE pk > 0 ORDER BY pk')
    .pluck()
    .all(table);
  return names.length > 0 ? names : ['rowid'];
}

function rowOf(key: readonly string[]): string {
  return key.map((name) => `${name}`).join(" || ' ' || ");
}

test('an unchanged store is verified', async () => {
  const { store } = await createFilled();
  expect(await verifyStore(store)).toMatchObject({ chain: { kind: 'whole' }, differences: [] });
});

test('every edit of every table is found', async () => {
  const { store, tampering } = await createFilled();
  const { database, tables } = tampering;
  expect(tables).toHaveLength(24);
  const unseen: string[] = [];
  let count = 0;
  for (const table of tables) {
    const before = rowsOf(database, table);
    expect(before.length, `rows of ${table}`).toBeGreaterThan(0);
    const restore = tampering.keep(table);
    for (const [name, statements] of edits(tampering, table)) {
      for (const statement of statements) database.exec(statement);
      const isChanged = JSON.stringify(rowsOf(database, table)) !== JSON.stringify(before);
      const result = isChanged ? await verifyStore(store) : null;
      if (result !== null && isWhole(result)) unseen.push(`${table}: ${name}`);
      if (result !== null) count += 1;
      restore();
    }
    expect(isWhole(await verifyStore(store)), `${table} was restored`).toBe(true);
  }
  expect(unseen).toEqual([]);
  expect(count).toBeGreaterThan(200);
});

function rowsOf(database: Database.Database, table: string): readonly (readonly string[])[] {
  const rows = database.prepare<[], unknown[]>(`SELECT * FROM ${table}`).raw().all();
  return rows.map((row) => row.map((value) => `${typeof value} ${value}`)).sort();
}

describe('what was changed is named', () => {
  test.each([
    ["UPDATE agents SET status = 'revoked' WHERE id = 'agent-1'", 'agent `agent-1`', 'changed'],
    ["DELETE FROM documents WHERE kind = 'switch'", 'switch `switch-3`', 'removed'],
    ["UPDATE documents SET document_json = '{}' WHERE kind = 'person'", 'person `person-0`', 'changed'],
    ["INSERT INTO settings VALUES ('a', 'b')", 'setting `a`', 'never wrote'],
    [
      'UPDATE meter_entries SET granted_ms = granted_ms + 1 WHERE granted_ms > 0',
      'of `meter_entries`',
      'record',
    ],
    ["DELETE FROM meter_entries WHERE definition = 'd1'", 'table `meter_entries`', 'rows'],
  ])('%s', async (statement, name, message) => {
    const { store, tampering } = await createFilled();
    tampering.database.exec(statement);
    const [difference] = await store.state.differences({ isQuick: true });
    expect(nameOfDifference(difference!)).toContain(name);
    expect(difference?.message).toContain(message);
  });
});

describe('the schema', () => {
  test.each<[string, string]>([
    ['a trigger', "CREATE TRIGGER t AFTER UPDATE ON agents BEGIN UPDATE agents SET status = 'active'; END"],
    ['a view', 'CREATE VIEW v AS SELECT * FROM agents'],
    ['a table', 'CREATE TABLE t (a)'],
    ['an index', 'CREATE INDEX i ON agents (status)'],
    ['an index that is gone', 'DROP INDEX requests_due'],
    ['a table that is gone', 'DROP TABLE nonce_batches'],
    ['a column', 'ALTER TABLE keys ADD COLUMN extra TEXT'],
    ['a unique index that is gone', 'DROP INDEX documents_by_name'],
    ['an earlier version', 'PRAGMA user_version = 70'],
    ['no version', 'PRAGMA user_version = 0'],
    ['another program', 'PRAGMA application_id = 1'],
    ['no seal', 'DROP TABLE state_seal'],
    [
      'no seal, of an earlier version',
      'DROP TABLE state_seal; DROP TABLE row_seals; PRAGMA user_version = 70',
    ],
  ])('changed by hand, the store does not open: %s', async (_, statement) => {
    const path = join(temporaryFolder(), 'writ.db');
    const store = await openStore({ path });
    await fillStore(store);
    await store.close();
    const database = new Database(path);
    database.exec(statement);
    database.close();
    for (const isUpgradeAllowed of [false, true]) {
      await expect(openStore({ path, isUpgradeAllowed })).rejects.toMatchObject({
        code: expect.stringMatching(
          isUpgradeAllowed ? /^(tampered|foreign-database)$/ : /^(tampered|foreign-database|older-database)$/,
        ),
      });
    }
  });
});

describe('someone without the key', () => {
  test('cannot rewrite the end of the records', async () => {
    const { store, tampering } = await createFilled();
    const { records } = await store.chain.segment(0, 1000);
    const at = records.findIndex(({ entry }) => entry.kind === 'refusal');
    let previous = records[at - 1]!.hash;
    for (const { entry } of records.slice(at)) {
      const changed: ChainEntry = entry.kind === 'refusal' ? { ...entry, detail: 'nothing' } : entry;
      const hash = linkHash(previous, changed);
      const tables = { request: 'requests', refusal: 'refusals', change: 'changes', event: 'request_events' };
      // A store in a file has no knots.
      const table = tables[entry.kind as keyof typeof tables];
      const detail = entry.kind === 'refusal' ? ", detail = 'nothing'" : '';
      tampering.database.exec(
        `UPDATE ${table} SET hash = '${hash}'${detail} WHERE sequence = ${entry.sequence}`,
      );
      previous = hash;
    }
    tampering.database.exec('DELETE FROM checkpoints');
    const { chain, differences } = await verifyStore(store);
    // The next request has a hash that fits, and no seal for it.
    expect(chain).toMatchObject({ kind: 'broken', break: { difference: 'seal' } });
    expect(differences).toContainEqual(expect.objectContaining({ table: 'records' }));
  });

  test('cannot have their change sealed by a later write', async () => {
    const { store, tampering } = await createFilled();
    tampering.database.exec("UPDATE agents SET status = 'disabled' WHERE id = 'agent-2'");
    const changed = { agentId: 'agent-2', status: 'active', atMs: startMs + 5 } as const;
    await expect(store.agents.setStatus(changed)).rejects.toMatchObject({ code: 'tampered' });
    const rotated = { key: keyRow('agent-2'), othersNotAfterMs: startMs };
    await expect(store.agents.rotateKey(rotated)).rejects.toMatchObject({ code: 'tampered' });
    const { differences } = await verifyStore(store);
    expect(differences).not.toEqual([]);
  });

  test('cannot create a seal: the store accepts no write on a row with the seal of another key', async () => {
    const { store, tampering } = await createFilled();
    const mac = createHash('sha256').update(randomBytes(9)).digest('hex');
    tampering.database.exec(`UPDATE state_seal SET mac = '${mac}'`);
    await expect(store.requests.append(requestRow(), { openMax: 9 })).rejects.toMatchObject({
      code: 'tampered',
    });
  });

  test('cannot restore an earlier state of a table with its seal', async () => {
    const { store, tampering } = await createFilled();
    const earlier = ['agents', 'row_seals', 'state_seal'].map((table) => tampering.keep(table));
    await store.agents.setStatus({ agentId: 'agent-1', status: 'revoked', atMs: startMs + 5 });
    for (const putBack of earlier) putBack();
    const { differences } = await verifyStore(store);
    expect(differences).toContainEqual(expect.objectContaining({ table: 'records' }));
  });
});

test('the holder of the key can accept a change, which is recorded', async () => {
  const { store, tampering } = await createFilled();
  tampering.database.exec("UPDATE agents SET control_owner = 'x@example.com' WHERE id = 'agent-1'");
  const { differences } = await verifyStore(store);
  await store.state.accept({ atMs: startMs, differences });
  expect(isWhole(await verifyStore(store))).toBe(true);
  const [change] = await store.chain.changes({ beforeSequence: null, countMax: 1 });
  expect(change).toMatchObject({ what: 'state-accepted', beforeJson: expect.stringContaining('agent-1') });
});

test('a store that two processes write is verified', async () => {
  const { store, path } = await createFilled();
  const other = await openStore({ path });
  for (let i = 0; i < 5; i++) {
    await store.plants.add({ id: BigInt(100 + i), name: 'a', tag: null });
    await other.agents.setStatus({
      agentId: 'agent-1',
      status: i % 2 === 0 ? 'disabled' : 'active',
      atMs: startMs + i,
    });
    await Promise.all([store, other].map((one) => one.requests.append(requestRow(), { openMax: 9 })));
  }
  await other.close();
  expect(isWhole(await verifyStore(store))).toBe(true);
});
