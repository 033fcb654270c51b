// Copying a store from a file into PostgreSQL. The copy equals the original, and no process serves the
// original once the copy is whole. An interrupted copy is continued or refused, and never used.

import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import Database from 'better-sqlite3';
import { beforeAll, expect, onTestFinished, test } from 'vitest';
import { createCheckpointSigner } from '../../../src/service/audit/checkpoint.ts';
import { verifyChain } from '../../../src/service/audit/verify.ts';
import { verifyTree } from '../../../src/service/audit/verify-tree.ts';
import { copyKey, readMasterKey } from '../../../src/service/store/contract/master-key.ts';
import type { Store } from '../../../src/service/store/contract/store.ts';
import {
  type CopyOptions,
  type CopyProgress,
  copyStore,
} from '../../../src/service/store/move/copy-store.ts';
import { openStore } from '../../../src/service/store/open.ts';
import { growTree } from '../../../src/service/transparency-log/grow-tree.ts';
import { readEdge } from '../../../src/service/transparency-log/tiles.ts';
import { openWire } from './cut-wire.ts';
import { keptPostgres, type PostgresServer } from './postgres-server.ts';
import { agentRow, keyRow, pendingRow, refusalRecord, requestRow, startMs, temporaryFolder } from './rows.ts';

let server: PostgresServer;
beforeAll(async () => {
  server = await keptPostgres();
});

const limits = { openMax: 100 };
const entry = { definition: 'spent', key: '', isCertain: true, value: '5' };

/** A file with some of everything that a store keeps, and an empty database. */
async function setUp() {
  const folder = temporaryFolder();
  const path = join(folder, 'writ.db');
  const from = await openStore({ path });
  onTestFinished(() => from.close());
  const database = await server.createEmptyDatabase();
  const place = { url: database.url, keyFile: join(folder, 'writ.key') };
  const progress: CopyProgress[] = [];
  const copy = (change: Partial<CopyOptions> = {}) =>
    copyStore({
      path,
      ...place,
      shownUrl: 'postgres://db/writ',
      who: 'ops',
      recordsAtOnce: 7,
      onProgress: (one) => void progress.push(one),
      ...change,
    });
  const openCopy = async () => {
    const store = await openStore(place);
    onTestFinished(() => store.close());
    return store;
  };
  await fill(from);
  return { from, path, place, database, copy, openCopy, progress };
}

async function fill(store: Store): Promise<void> {
  const agent = agentRow({ signing: 'required', sealedSigningSecret: 'v1.sealed', tags: ['ä', '東'] });
  await store.agents.add(agent, keyRow(agent.id, { lastUsedAtMs: startMs }));
  await store.meters.note(['spent'], startMs);
  for (let count = 0; count < 20; count += 1) {
    const at = { createdAtMs: startMs + count, decidedAtMs: startMs + count };
    const idempotency = { key: `k${count}`, bodyDigest: 'd', keptUntilMs: startMs + 1e9 };
    await store.requests.append(requestRow({ ...at, agentId: agent.id, idempotency }), limits, [entry]);
  }
  const pending = pendingRow({ agentId: agent.id });
  await store.requests.append(pending, limits, [entry]);
  const state = { status: 'approved', decidedAtMs: startMs + 50, expiresAtMs: startMs + 1e6 } as const;
  const event = { atMs: startMs + 50, who: 'p', what: 'approved', state, detail: { comment: 'ja' } } as const;
  await store.requests.change({ requestId: pending.id, events: [event], from: ['pending'], seen: 0 });
  await store.requests.append(pendingRow({ agentId: agent.id }), limits, [{ ...entry, value: null }]);
  await store.requests.appendRefusal(refusalRecord());
  await store.plants.add({ id: 2n ** 63n - 1n, name: 'rose', tag: null });
  await store.settings.putIfAbsent('a', 'b');
  await growTree(store.tree);
  const nowMs = Date.now();
  store.nonces.note({ nonce: 'a-1 n-1', usedAtMs: nowMs, keptUntilMs: nowMs + 600_000 });
  await store.statistics.change({
    puts: [{ atMs: startMs, spanMs: 60_000, json: '{"n":1}' }],
    removed: null,
    hits: [{ rule: 'a/b', decided: 1, met: 2, lastAtMs: startMs }],
    shadowChanges: [{ rule: 'a/b', from: 'ALLOW', to: 'DENY', count: 3 }],
    mark: { throughMs: startMs, afterSequence: 1, sinceMs: startMs },
  });
}

async function told(store: Store) {
  const { records } = await store.chain.segment(0, 1_000);
  const agents = await store.agents.list();
  const ids = records.flatMap(({ entry }) => (entry.kind === 'request' ? [String(entry.id)] : []));
  return {
    records: records.map(({ entry: { ...columns }, hash, later }) => ({ columns, hash, later })),
    agents: await Promise.all(
      agents.map(async (agent) => ({ agent, keys: await store.agents.keys(agent.id) })),
    ),
    histories: await Promise.all(ids.map((id) => store.requests.history(id))),
    entered: await Promise.all(ids.map((id) => store.meters.enteredBy(id))),
    meters: await store.meters.note(['spent'], startMs),
    nonces: await store.nonces.list(),
    plant: await store.plants.find(2n ** 63n - 1n),
    setting: await store.settings.get('a'),
    generation: await store.documents.generation('store'),
    cells: await store.statistics.cells({ spanMs: null, fromMs: 0, untilMs: 1e15, after: null, countMax: 9 }),
    hits: await store.statistics.hits(),
    tree: await readEdge(store.tree),
  };
}

test('a copy has every record and row with the same hashes, and continues from there', async () => {
  const { from, copy, openCopy, place, path } = await setUp();
  const { end, recordCount } = await copy();
  const before = await told(from);
  const to = await openCopy();
  expect(await told(to)).toEqual(before);
  expect(recordCount).toBe(end.sequence);
  expect(before.records.at(-1)).toMatchObject({
    hash: end.hash,
    columns: { what: 'store-moved', who: 'ops' },
  });
  expect(readFileSync(place.keyFile, 'utf8')).toBe(readFileSync(`${path}.key`, 'utf8'));
  await to.serve();
  expect(await to.statistics.mark()).toEqual(await from.statistics.mark());
  await to.requests.append(requestRow(), limits);
  expect(await verifyChain(to)).toMatchObject({ kind: 'whole', end: { sequence: end.sequence + 1 } });
  // The hash tree continues over the copied records.
  await to.chain.tie();
  expect((await growTree(to.tree)).size).toBeGreaterThan(before.tree.size);
  expect(await verifyTree(to)).toMatchObject({ kind: 'whole' });
});

test('writes of the service during the copy are copied, and the copy ends only after the service has stopped', async () => {
  const { from, copy, openCopy } = await setUp();
  await from.serve();
  let isStopped = false;
  const late = requestRow();
  const copied = await copy({
    onProgress: ({ kind }) => {
      if (kind !== 'waiting' || isStopped) return;
      isStopped = true;
      void from.requests.append(late, limits, [entry]).then(() => from.close());
    },
  });
  const to = await openCopy();
  expect(isStopped).toBe(true);
  expect(await to.requests.find(late.id)).toEqual(late);
  expect(await to.meters.enteredBy(late.id)).toHaveLength(1);
  expect(await verifyChain(to)).toMatchObject({ kind: 'whole', end: copied.end });
});

test('once it has moved the file is neither served nor opened, and the command says that it is done', async () => {
  const { from, copy, path, place } = await setUp();
  const first = await copy();
  await expect(from.serve()).rejects.toMatchObject({ code: 'moved' });
  await expect(openStore({ path })).rejects.toThrow('have moved to postgres://db/writ');
  expect(await copy()).toMatchObject({ end: first.end, recordCount: first.recordCount });
  const other = await server.createDatabase();
  await expect(copy({ url: other.url, shownUrl: 'postgres://db/other' })).rejects.toMatchObject({
    code: 'moved',
  });
  await (await openStore(place)).close();
});

test('an interrupted copy cannot be served, and continues where it ended', async () => {
  const { from, copy, database, place, openCopy } = await setUp();
  await from.serve();
  const wire = await openWire(server, database);
  onTestFinished(() => wire.close());
  let records = 0;
  const cut = ({ kind }: CopyProgress) => {
    records += Number(kind === 'records');
    if (records === 3) wire.fix();
  };
  await expect(copy({ url: wire.url, onProgress: cut })).rejects.toMatchObject({ code: 'unreachable' });
  await expect(openStore(place)).rejects.toThrow('are incomplete');
  await from.close();
  const seen: number[] = [];
  await copy({ onProgress: (one) => void (one.kind === 'records' && seen.push(one.done)) });
  expect(seen[0]).toBeGreaterThan(0);
  expect(await verifyChain(await openCopy())).toMatchObject({ kind: 'whole' });
});

test.each(['requests', 'request_events', 'refusals', 'changes'])(
  'rows of %s that come out otherwise than they went in end the copy',
  async (table) => {
    const { from, copy, database } = await setUp();
    await from.close();
    const stop = () => {
      throw new Error('stopped where the tables are made');
    };
    await expect(copy({ onProgress: stop })).rejects.toThrow('stopped');
    await server.query(
      `CREATE FUNCTION alter_row() RETURNS trigger LANGUAGE plpgsql AS
         $$ BEGIN NEW.hash := upper(NEW.hash); RETURN NEW; END $$;
       CREATE TRIGGER alter_row BEFORE INSERT ON ${table} FOR EACH ROW EXECUTE FUNCTION alter_row()`,
      database.name,
    );
    await expect(copy()).rejects.toThrow('differ from the originals');
  },
);

test('a copy whose last step fails leaves neither of the two to be served, and can be gone on with', async () => {
  const { from, copy, database, place, path, openCopy } = await setUp();
  const own = { kind: 'k', id: '1', name: null, parent: null, createdAtMs: 1, endsAtMs: null, json: '{}' };
  await from.documents.write([{ ...own, seen: 0 }], null);
  const fault = "CHECK (kind <> 'k') NOT VALID";
  const onProgress = ({ kind }: CopyProgress) => {
    if (kind !== 'waiting') return;
    void server
      .query(`ALTER TABLE documents ADD CONSTRAINT fault ${fault}`, database.name)
      .then(() => from.close());
  };
  await from.serve();
  await expect(copy({ onProgress })).rejects.toMatchObject({ code: 'internal' });
  await expect(openStore({ path })).rejects.toMatchObject({ code: 'moved' });
  await expect(openStore(place)).rejects.toMatchObject({ code: 'moved' });
  await server.query('ALTER TABLE documents DROP CONSTRAINT fault', database.name);
  await copy();
  expect(await (await openCopy()).documents.find('k', '1')).toMatchObject({ json: '{}' });
});

test('a file whose first records were deleted is copied from where it begins, also where that was meanwhile', async () => {
  const { from, copy, openCopy } = await setUp();
  const signer = createCheckpointSigner(from.masterKey);
  const prune = async (sequence: number) => {
    const [record] = (await from.chain.segment(sequence - 1, 1)).records;
    const end = { sequence, hash: record?.hash ?? '' };
    expect(await from.chain.prune(signer.sign(end, 'pruned', startMs))).toBe('pruned');
  };
  await prune(3);
  let isPruned = false;
  await from.serve();
  const onProgress = ({ kind }: CopyProgress) => {
    if (kind !== 'waiting' || isPruned) return;
    isPruned = true;
    void prune(5).then(() => from.close());
  };
  const { end, recordCount } = await copy({ onProgress });
  expect(recordCount).toBe(end.sequence - 5);
  expect(await verifyChain(await openCopy())).toMatchObject({ kind: 'whole', firstSequence: 6, end });
});

test('a database that is in use is refused as it is, and so is one beside the key of another store', async () => {
  const { copy } = await setUp();
  const other = await server.createDatabase();
  const used = await openStore(other);
  onTestFinished(() => used.close());
  await used.requests.append(requestRow(), limits);
  const { records } = await used.chain.segment(0, 10);
  await expect(copy({ url: other.url, keyFile: other.keyFile })).rejects.toMatchObject({
    code: 'master-key',
  });
  await expect(copy({ url: other.url })).rejects.toMatchObject({ code: 'master-key' });
  expect((await used.chain.segment(0, 10)).records).toEqual(records);
});

test('a database that holds records under the same key is refused as it is', async () => {
  const { copy, openCopy, path, place } = await setUp();
  copyKey(place.keyFile, readMasterKey(path).key);
  const used = await openCopy();
  await used.requests.append(requestRow(), limits);
  await expect(copy()).rejects.toThrow('the database is not empty');
  expect((await used.chain.segment(0, 10)).records).toHaveLength(1);
});

test('a database of a later version, and a file that was tampered with, are refused', async () => {
  const { from, copy, database, path } = await setUp();
  await from.close();
  const file = new Database(path);
  file.exec("UPDATE requests SET action_key = 'other' WHERE sequence = 12");
  file.close();
  await expect(copy()).rejects.toThrow('record 12 is not as it was written');
  await server.query('UPDATE control SET schema_version = 999', database.name);
  await expect(copy()).rejects.toMatchObject({ code: 'newer-database' });
});
