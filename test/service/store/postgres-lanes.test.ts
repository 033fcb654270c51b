// Each process that serves writes a lane of its own. What several processes store at once is one chain. The
// chain shows every change, removal, addition or move in any lane, also at its end.

import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import pg from 'pg';
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest';
import {
  checkpointText,
  createCheckpointSigner,
  readCheckpoint,
} from '../../../src/service/audit/checkpoint.ts';
import { exportRecords } from '../../../src/service/audit/export.ts';
import { pruneRecords } from '../../../src/service/audit/prune.ts';
import { verifyChain } from '../../../src/service/audit/verify.ts';
import { isWhole, verifyStore } from '../../../src/service/audit/verify-store.ts';
import { canonicalJson } from '../../../src/service/store/contract/canonical-json.ts';
import { type ChainEntry, chainStart, linkHash } from '../../../src/service/store/contract/chain.ts';
import { laneOf } from '../../../src/service/store/contract/lanes.ts';
import type { Store } from '../../../src/service/store/contract/store.ts';
import { openStore } from '../../../src/service/store/open.ts';
import { keptPostgres, type PostgresServer, type TestDatabase } from './postgres-server.ts';
import { agentRow, keyRow, pendingRow, refusalRecord, requestRow, startMs } from './rows.ts';

let server: PostgresServer;
beforeAll(async () => {
  server = await keptPostgres();
});

const limits = { openMax: 100 };

interface Lanes {
  readonly database: TestDatabase;
  /** The first store does not serve, and lane 0 is its own while no other store writes an event. */
  readonly stores: readonly [Store, Store, Store];
  readonly sql: <R extends object>(text: string) => Promise<readonly R[]>;
}

async function openLanes(database: TestDatabase): Promise<Lanes> {
  const open = async () => {
    const store = await openStore(database);
    onTestFinished(() => store.close());
    return store;
  };
  const stores = [await open(), await open(), await open()] as const;
  await stores[1].serve();
  await stores[2].serve();
  const sql = <R extends object>(text: string) => server.query<R>(text, database.name);
  return { database, stores, sql };
}

/**
 * Adds records of every kind, in three lanes, with two knots; the last records of each lane stand behind the
 * last knot.
 */
async function fill({ stores }: Lanes): Promise<void> {
  const [other, one, two] = stores;
  const agent = agentRow({ id: 'agent-1' });
  await other.agents.add(agent, keyRow(agent.id));
  for (let round = 0; round < 2; round += 1) {
    const waiting = pendingRow();
    await Promise.all([one, two].map(append));
    await one.requests.append(waiting, limits);
    const state = { status: 'approved', decidedAtMs: startMs, expiresAtMs: startMs + 1_000 } as const;
    const event = { atMs: startMs, who: 'p', what: 'approved', state, detail: null } as const;
    await two.requests.change({ requestId: waiting.id, events: [event], from: ['pending'], seen: 0 });
    await two.requests.appendRefusal(refusalRecord());
    await append(other);
    await append(two);
    await one.chain.tie();
  }
  await append(one);
  await append(two);
  await append(one);
  await append(two);
}

function append(store: Store): Promise<unknown> {
  return store.requests.append(requestRow(), limits);
}

async function setUp(): Promise<Lanes> {
  const lanes = await openLanes(await server.createDatabase());
  await fill(lanes);
  return lanes;
}

async function entriesOf({ chain }: Store): Promise<readonly ChainEntry[]> {
  return (await chain.segment(0, 1_000)).records.map(({ entry }) => entry);
}

test('each process that serves has a lane, and all have one order', async () => {
  const { stores } = await setUp();
  const entries = await entriesOf(stores[0]);
  const numbers = entries.map(({ sequence }) => sequence);
  expect(numbers).toEqual([...new Set(numbers)].sort((a, b) => a - b));
  const lanes = Map.groupBy(entries, laneOf);
  expect([...lanes.keys()].sort()).toEqual([0, 1, 2]);
  for (const [lane, own] of lanes)
    for (const [at, { sequence, follows = sequence - 1 }] of own.entries())
      expect([lane, follows]).toEqual([lane, own[at - 1]?.sequence ?? 0]);
  // On a slow machine there is time for another knot.
  expect(entries.filter(({ kind }) => kind === 'knot').length).toBeGreaterThanOrEqual(2);
  for (const store of stores) expect(isWhole(await verifyStore(store))).toBe(true);
});

test('processes that store at the same time, and are refused meanwhile, leave a whole chain', async () => {
  const { stores } = await openLanes(await server.createDatabase());
  const [other, one, two] = stores;
  const busy = async (store: Store) => {
    for (let round = 0; round < 30; round += 1) {
      const idempotency = { key: `k${round}`, bodyDigest: 'd', keptUntilMs: startMs + 1e6 };
      await Promise.all([append(store), store.requests.append(requestRow({ idempotency }), limits)]);
      if (round % 10 === 0) await store.requests.appendRefusal(refusalRecord());
    }
  };
  const reading = async () => {
    for (let round = 0; round < 10; round += 1)
      expect(await verifyChain(other, { recordsAtOnce: 7 })).toMatchObject({ kind: 'whole' });
  };
  await Promise.all([busy(one), busy(two), reading()]);
  const entries = await entriesOf(other);
  const keys = entries.map((entry) => entry.idempotency_key).filter((key) => typeof key === 'string');
  expect(keys).toHaveLength(30);
  expect(new Set(keys).size).toBe(30);
  for (const store of stores) expect(isWhole(await verifyStore(store))).toBe(true);
});

test('what is still being written is waited for, and not left out', async () => {
  const { stores, database } = await setUp();
  const [other, one] = stores;
  const before = await entriesOf(other);
  const last = before.at(-1)?.sequence ?? 0;
  // Another process has taken the next number, and has not stored its record yet.
  const writer = new pg.Client({ connectionString: database.url });
  await writer.connect();
  onTestFinished(() => writer.end());
  await writer.query("BEGIN; SELECT writ_beside(); SELECT nextval('record_numbers')");
  await append(one);
  let isRead = false;
  const reading = other.chain.segment(last, 10).finally(() => {
    isRead = true;
  });
  const waits = `SELECT 1 FROM pg_stat_activity WHERE datname = '${database.name}' AND wait_event_type = 'Lock'`;
  await expect.poll(() => server.query(waits), { interval: 10 }).not.toEqual([]);
  expect(isRead).toBe(false);
  await writer.query('COMMIT');
  expect((await reading).records.map(({ entry }) => entry.sequence)).toEqual([last + 2]);
  expect(await verifyChain(other)).toMatchObject({ kind: 'whole', end: { sequence: last + 2 } });
});

test('a walk continues where it stopped, in every lane', async () => {
  const { stores, sql } = await setUp();
  const part = await verifyChain(stores[0], { recordsAtOnce: 9, onSegment: async () => 'stop' });
  if (part.kind === 'broken') throw new Error(part.break.message);
  expect(part.end.lanes?.length).toBeGreaterThan(1);
  expect(await verifyChain(stores[0], { after: part.end })).toMatchObject({ kind: 'whole' });
  const [first] = part.end.lanes?.filter(({ lane }) => lane > 0) ?? [];
  await sql(`UPDATE requests SET hash = '' WHERE sequence = ${first?.sequence}`);
  expect(await verifyChain(stores[0], { after: part.end })).toMatchObject({ kind: 'broken' });
});

test('lines of an export follow each other in their lanes, and end with a knot', async () => {
  const { stores } = await setUp();
  const ends = new Map<number, string>();
  let last: ChainEntry | null = null;
  for await (const line of exportRecords(stores[0], { format: 'jsonl', recordsAtOnce: 5 })) {
    const { previous, hash, entry } = JSON.parse(line) as {
      previous: string;
      hash: string;
      entry: ChainEntry;
    };
    expect(previous).toBe(ends.get(laneOf(entry)) ?? chainStart.hash);
    const { record_json: record = '', ...columns } = entry;
    const text = `${previous}${canonicalJson(columns)}${record}`;
    expect(hash).toBe(createHash('sha256').update(text).digest('hex'));
    ends.set(laneOf(entry), hash);
    last = entry;
  }
  expect(last?.kind).toBe('knot');
});

describe('somebody with the database', () => {
  let lanes: Lanes;
  let entries: readonly ChainEntry[];
  beforeAll(async () => {
    const database = await server.createDatabase();
    const open = () => openStore(database);
    const stores = [await open(), await open(), await open()] as const;
    await stores[1].serve();
    await stores[2].serve();
    const sql = <R extends object>(text: string) => server.query<R>(text, database.name);
    lanes = { database, stores, sql };
    await fill(lanes);
    await stores[1].close();
    await stores[2].close();
    // Removes the knot that was written when the stores closed: some records stand behind the last knot
    // again.
    const own = (await stores[0].chain.segment(0, 1_000)).records.filter(({ entry }) => laneOf(entry) === 0);
    const [before, knot] = [own.at(-2), own.at(-1)];
    await sql(`DELETE FROM knots WHERE sequence = ${knot?.entry.sequence};
      UPDATE chain_end SET sequence = ${before?.entry.sequence}, hash = '${before?.hash}'`);
    await sql('CREATE SCHEMA kept');
    for (const table of Object.values(tables)) await sql(`CREATE TABLE kept.${table} AS TABLE ${table}`);
    entries = await entriesOf(stores[0]);
  });
  afterAll(() => lanes.stores[0].close());

  const tables = {
    request: 'requests',
    refusal: 'refusals',
    change: 'changes',
    event: 'request_events',
    knot: 'knots',
  };
  const times = { request: 'created_ms', refusal: 'at_ms', change: 'at_ms', event: 'at_ms', knot: 'at_ms' };

  /** Whether the tampering is detected; restores the tables afterwards. */
  async function isFound(tampering: string, table: string): Promise<boolean> {
    await lanes.sql(tampering);
    try {
      return !isWhole(await verifyStore(lanes.stores[0]));
    } finally {
      await lanes.sql(`DELETE FROM ${table}; INSERT INTO ${table} SELECT * FROM kept.${table}`);
    }
  }

  test('changes no record unseen, in whatever lane', async () => {
    expect(new Set(entries.map(laneOf)).size).toBe(3);
    for (const { kind, sequence } of entries) {
      const table = tables[kind];
      const changed = `UPDATE ${table} SET ${times[kind]} = ${times[kind]} + 1 WHERE sequence = ${sequence}`;
      expect([sequence, await isFound(changed, table)]).toEqual([sequence, true]);
    }
  });

  test('removes no record unseen, the last one of a lane included', async () => {
    for (const { kind, sequence } of entries) {
      const removed = `DELETE FROM ${tables[kind]} WHERE sequence = ${sequence}`;
      expect([sequence, await isFound(removed, tables[kind])]).toEqual([sequence, true]);
    }
  });

  test('cuts off no end of a lane unseen that a knot names, also where they set its end back', async () => {
    const knot = entries.findLast(({ kind }) => kind === 'knot');
    for (const lane of [1, 2]) {
      const own = entries.filter((entry) => laneOf(entry) === lane);
      const before = own.filter(({ sequence }) => sequence < (knot?.sequence ?? 0));
      const [last, gone] = [before.at(-2), before.at(-1)];
      expect(gone).toBeDefined();
      const [{ hash } = { hash: '' }] = await lanes.sql<{ hash: string }>(
        `SELECT hash FROM requests WHERE sequence = ${last?.sequence}`,
      );
      const end = `lane_sequence = ${last?.sequence}, lane_hash = '${hash}'`;
      await lanes.sql(
        `CREATE TABLE kept.ends AS TABLE replicas; UPDATE replicas SET ${end} WHERE slot = ${lane - 1}`,
      );
      const cut = `DELETE FROM requests WHERE lane = ${lane} AND sequence >= ${gone?.sequence}`;
      expect([lane, await isFound(cut, 'requests')]).toEqual([lane, true]);
      await lanes.sql(
        'DELETE FROM replicas; INSERT INTO replicas SELECT * FROM kept.ends; DROP TABLE kept.ends',
      );
    }
  });

  test('adds no record unseen, with a hash that fits', async () => {
    const last = entries.at(-1)?.sequence ?? 0;
    for (const entry of entries.filter(({ kind, status }) => kind === 'request' && status !== 'pending')) {
      const isEnd = entries.findLast((other) => laneOf(other) === laneOf(entry)) === entry;
      // Inside a lane the added record takes the place of another one.
      const sequence = isEnd ? last + 1 : entry.sequence + 1;
      const { id } = requestRow();
      const added = { ...entry, id, sequence, follows: entry.sequence };
      const [row] = await lanes.sql<{ hash: string }>(
        `SELECT hash FROM requests WHERE sequence = ${entry.sequence}`,
      );
      const columns = {
        id,
        sequence,
        follows: entry.sequence,
        hash: linkHash(row?.hash ?? '', added),
      };
      const insert = `DELETE FROM requests WHERE sequence = ${sequence};
        INSERT INTO requests SELECT (json_populate_record(requests, '${JSON.stringify(columns)}')).*
        FROM requests WHERE sequence = ${entry.sequence}`;
      expect([sequence, await isFound(insert, 'requests')]).toEqual([sequence, true]);
    }
  });

  test('swaps no two records unseen, of one lane or of two', async () => {
    const requests = entries.filter(({ kind }) => kind === 'request');
    await lanes.sql('ALTER TABLE requests DROP CONSTRAINT requests_pkey, DROP CONSTRAINT requests_id_key');
    for (const [at, { sequence }] of requests.entries()) {
      const other = requests[(at + 1) % requests.length]?.sequence ?? 0;
      const columns =
        [['id'], ['record_json', 'hash'], ['sequence'], ['lane', 'follows', 'hash']][at % 4] ?? [];
      const set = columns.map((name) => `${name} = two.${name}`).join(', ');
      const pairs = `VALUES (${sequence}, ${other}), (${other}, ${sequence})`;
      const swapped = `UPDATE requests SET ${set} FROM kept.requests AS one, kept.requests AS two
        WHERE requests.id = one.id AND (one.sequence, two.sequence) IN (${pairs})`;
      expect([sequence, columns, await isFound(swapped, 'requests')]).toEqual([sequence, columns, true]);
    }
  });

  test('leaves everything unchanged in these tests', async () => {
    expect(isWhole(await verifyStore(lanes.stores[0]))).toBe(true);
  });
});

test('a checkpoint names the end of every lane, and shows what was written anew', async () => {
  const { stores, sql } = await setUp();
  const [other] = stores;
  const signer = createCheckpointSigner(other.masterKey);
  const chain = await verifyChain(other);
  if (chain.kind === 'broken') throw new Error(chain.break.message);
  const signed = signer.sign(chain.end, 'end', startMs);
  const kept = readCheckpoint(checkpointText(signed, signer));
  expect(kept).toEqual(signed);
  expect(kept?.lanes?.map(({ lane }) => lane)).toEqual([0, 1, 2]);
  await other.chain.addCheckpoint(signed);
  expect(await other.chain.checkpoints()).toEqual([signed]);
  expect(await verifyChain(other, { checkpoints: [signed] })).toMatchObject({ kind: 'whole' });
  const [first] = signed.lanes?.slice(1) ?? [];
  const lanes = signed.lanes?.map((end) => (end === first ? { ...end, hash: chainStart.hash } : end)) ?? [];
  expect(signer.isGenuine({ ...signed, lanes })).toBe(false);
  const another = signer.sign({ ...chain.end, lanes }, 'end', startMs + 1);
  expect(await verifyChain(other, { checkpoints: [another] })).toMatchObject({
    break: { difference: 'rewritten' },
  });
  await sql(`DELETE FROM requests WHERE sequence = ${chain.end.sequence}`);
  expect(await verifyChain(other)).toMatchObject({ break: { difference: 'truncated' } });
});

test('records are pruned in all lanes, and the chain continues', async () => {
  const { stores } = await setUp();
  const [other, one, two] = stores;
  const nowMs = startMs + 10_000_000;
  const before = await entriesOf(other);
  const dates = Date.now() - 60_000;
  const pruned = await pruneRecords(other, { beforeMs: dates, nowMs });
  // The first knot is recent, so it limits what may be deleted.
  const knot = before.find(({ kind }) => kind === 'knot')?.sequence ?? 0;
  expect(pruned).toMatchObject({ deletedCount: before.filter(({ sequence }) => sequence < knot).length });
  expect(pruned.kept).toMatchObject({ sequence: knot });
  await append(one);
  await append(two);
  for (const store of stores) expect(isWhole(await verifyStore(store))).toBe(true);
  expect(await verifyChain(other)).toMatchObject({ firstSequence: knot });
});

test('the check of a start reads few records, however many there are', async () => {
  const { stores, sql } = await setUp();
  await sql(`INSERT INTO changes
    SELECT -number, 0, 'who', 'what', 'subject', null, null, repeat('0', 64) FROM generate_series(1, 50000) AS number`);
  await sql('ANALYZE changes');
  const readNow = async () => {
    const [read] = await sql<{ readonly scans: string; readonly rows: string }>(
      "SELECT coalesce(idx_scan, 0) AS scans, seq_tup_read AS rows FROM pg_stat_user_tables WHERE relname = 'changes'",
    );
    return { scans: Number(read?.scans), rows: Number(read?.rows) };
  };
  const before = await readNow();
  // The server updates its counters at the end of a transaction, at most once a second.
  await expect
    .poll(
      async () => {
        expect(await stores[1].state.differences({ isQuick: true })).toEqual([]);
        return (await readNow()).scans;
      },
      { interval: 300 },
    )
    .toBeGreaterThan(before.scans);
  expect((await readNow()).rows - before.rows).toBe(0);
});

test('a process ties what others have stored once a second, and once more when it ends', async () => {
  const { stores, sql } = await openLanes(await server.createDatabase());
  const [other, one] = stores;
  const knots = async () => (await sql<{ sequence: string }>('SELECT sequence FROM knots')).length;
  await append(one);
  await expect.poll(knots, { interval: 20 }).toBe(1);
  await append(one);
  await one.close();
  expect(await knots()).toBe(2);
  await other.chain.tie();
  expect(await knots()).toBe(2);
});

test('a database of an earlier version is upgraded, unless a process serves it', async () => {
  const { name, url, keyFile } = await server.createEmptyDatabase();
  const sql = (text: string) => server.query(text, name);
  await sql(readFileSync('src/service/store/postgres/server/migrations/003.sql', 'utf8'));
  const entry: ChainEntry = {
    kind: 'change',
    sequence: 1,
    at_ms: startMs,
    who: 'ops',
    what: 'agent-added',
    subject: '',
    before_json: null,
    after_json: null,
  };
  const hash = linkHash(chainStart.hash, entry);
  await sql(`INSERT INTO changes VALUES (1, ${startMs}, 'ops', 'agent-added', '', NULL, NULL, '${hash}');
    UPDATE chain_end SET sequence = 1, hash = '${hash}'; UPDATE replicas SET instance = 'a', seen_at = now() WHERE slot = 0`);
  const upgrade = () => openStore({ url, keyFile, isUpgradeAllowed: true });
  await expect(openStore({ url, keyFile })).rejects.toMatchObject({ code: 'older-database' });
  await expect(upgrade()).rejects.toMatchObject({ code: 'already-served' });
  await sql('UPDATE replicas SET instance = NULL');
  const store = await upgrade();
  onTestFinished(() => store.close());
  await store.serve();
  await append(store);
  expect(await verifyChain(store)).toMatchObject({ kind: 'whole', end: { sequence: 2 } });
});
