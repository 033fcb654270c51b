// The transparency log of a store in a file: it follows the records over restarts, prunings and restored copies,
// signs only what continues what it has signed, and every record is proved.

import { join } from 'node:path';
import Database from 'better-sqlite3';
import { expect, onTestFinished, test } from 'vitest';
import { pruneRecords } from '../../../src/service/audit/prune.ts';
import { verifyStore } from '../../../src/service/audit/verify-store.ts';
import { verifyTree } from '../../../src/service/audit/verify-tree.ts';
import { canonicalJson } from '../../../src/service/store/contract/canonical-json.ts';
import type { Store } from '../../../src/service/store/contract/store.ts';
import { openStore } from '../../../src/service/store/open.ts';
import { readCheckpointNote } from '../../../src/service/transparency-log/checkpoint-note.ts';
import { growTree } from '../../../src/service/transparency-log/grow-tree.ts';
import { logStateOf } from '../../../src/service/transparency-log/log-state.ts';
import { isConsistent, isIncluded, leafHash } from '../../../src/service/transparency-log/merkle-tree.ts';
import { proveConsistency, proveRecord } from '../../../src/service/transparency-log/prove.ts';
import { readEdge, rootOf } from '../../../src/service/transparency-log/tiles.ts';
import { createTransparencyLog } from '../../../src/service/transparency-log/transparency-log.ts';
import { agentRow, keyRow, refusalRecord, requestRow, startMs, temporaryFolder } from '../store/rows.ts';

const origin = 'writ.example.com/writ';

async function openFilled(path: string, count: number): Promise<Store> {
  const store = await openStore({ path, actor: 'ops' });
  onTestFinished(() => store.close());
  const agent = agentRow({ id: 'agent-1' });
  await store.agents.add(agent, keyRow(agent.id));
  await append(store, count - 1, 1);
  return store;
}

async function append(store: Store, count: number, from: number): Promise<void> {
  const rows = Array.from({ length: count }, (_, at) =>
    requestRow({ createdAtMs: startMs + (from + at) * 1_000 }),
  );
  await Promise.all(rows.map((row) => store.requests.append(row, { openMax: 20 })));
}

function logOf(store: Store) {
  const log = createTransparencyLog({
    store,
    origin,
    witnesses: [],
    quorum: 0,
    clock: () => startMs,
    onFault: () => undefined,
    onFailure: fail,
  });
  onTestFinished(() => log.close());
  return log;
}

function fail(error: unknown): void {
  throw error;
}

async function published(store: Store) {
  await growTree(store.tree);
  const log = logOf(store);
  await log.turn();
  const checkpoint = await log.published();
  if (checkpoint === null) throw new Error('nothing was published');
  return checkpoint;
}

const pathOf = () => join(temporaryFolder(), 'writ.db');

test('records that come while a turn looks wait for the next one, so that requests do not wait for the tree', async () => {
  const store = await openFilled(pathOf(), 3);
  let growths = 0;
  const tree: Store['tree'] = {
    ...store.tree,
    async grow(growth) {
      growths += 1;
      await append(store, 2, 10 * growths);
      return store.tree.grow(growth);
    },
  };
  const log = logOf({ ...store, tree });
  await log.turn();
  expect(growths).toBe(1);
  expect(await log.published()).toMatchObject({ size: 3 });
  await log.turn();
  expect(growths).toBe(2);
  expect((await log.published())?.size).toBeGreaterThan(4);
});

test('the thread appends all records, and each is proved by its exported entry', async () => {
  const store = await openFilled(pathOf(), 600);
  const log = logOf(store);
  await log.turn();
  const checkpoint = (await log.published())!;
  expect(checkpoint).toMatchObject({ origin, size: 600 });
  for (const sequence of [1, 2, 256, 257, 600]) {
    const proof = await proveRecord(store, sequence, checkpoint);
    if (typeof proof === 'string') throw new Error(proof);
    const { leaf_index: index, tree_size: size } = proof;
    expect(index).toBe(sequence - 1);
    const leaf = leafHash(canonicalJson(proof.entry));
    const hashes = proof.inclusion.map((text) => Buffer.from(text, 'base64'));
    const { root } = readCheckpointNote(proof.checkpoint)!;
    expect(isIncluded({ leaf, index, size, root }, hashes)).toBe(true);
    const other = leafHash(canonicalJson({ ...proof.entry, outcome: 'DENY' }));
    expect(isIncluded({ leaf: other, index, size, root }, hashes)).toBe(false);
  }
  expect(await proveRecord(store, 601, checkpoint)).toBe('absent');
  await append(store, 1, 700);
  expect(await proveRecord(store, 601, checkpoint)).toBe('later');
});

test('a restart at any step leaves the same tree', async () => {
  const path = pathOf();
  const store = await openFilled(path, 300);
  await growTree(store.tree);
  await store.close();
  for (let round = 0; round < 3; round += 1) {
    const again = await openStore({ path, actor: 'ops' });
    await append(again, 150, 1_000 * (round + 1));
    // Each time it ends at another step: before, between and after the growth and its checkpoint.
    if (round > 0) await growTree(again.tree);
    if (round > 1) await published(again);
    await again.close();
  }
  const last = await openStore({ path, actor: 'ops' });
  onTestFinished(() => last.close());
  const edge = await growTree(last.tree);
  expect(edge.size).toBe(750);
  expect(edge).toEqual(await readEdge(last.tree));
  expect(await verifyTree(last)).toMatchObject({ kind: 'whole', size: 750, checkpointCount: 1 });
});

test('of two that grow the tree at the same time, each record is appended once', async () => {
  const path = pathOf();
  const store = await openFilled(path, 300);
  const other = await openStore({ path, actor: 'ops' });
  onTestFinished(() => other.close());
  const [one, two] = await Promise.all([growTree(store.tree), growTree(other.tree)]);
  expect(one).toEqual(two);
  expect(await verifyTree(store)).toMatchObject({ kind: 'whole', size: 300 });
});

test('a later checkpoint continues each earlier one', async () => {
  const store = await openFilled(pathOf(), 10);
  const earlier = await published(store);
  await append(store, 290, 100);
  const later = await published(store);
  const proof = await proveConsistency(store, earlier.size, later);
  if (proof === 'changed') throw new Error('changed');
  expect(proof).toMatchObject({ old_size: 10, new_size: 300 });
  const hashes = proof.consistency.map((text) => Buffer.from(text, 'base64'));
  expect(isConsistent(earlier, later, hashes)).toBe(true);
});

test('after a pruning, later records and earlier checkpoints are still proved, and pruned records say so', async () => {
  const store = await openFilled(pathOf(), 600);
  const earlier = await published(store);
  await append(store, 5, 700);
  const result = await pruneRecords(store, { beforeMs: startMs + 400_000, nowMs: startMs + 10_000_000 });
  expect(result.deletedCount).toBe(400);
  const checkpoint = await published(store);
  // The pruning is a record, too.
  expect(checkpoint.size).toBe(606);
  expect(await proveRecord(store, 400, checkpoint)).toBe('pruned');
  expect(await proveRecord(store, 401, checkpoint)).toMatchObject({ leaf_index: 400, tree_size: 606 });
  expect(await proveConsistency(store, earlier.size, checkpoint)).toMatchObject({ old_size: 600 });
  expect(await verifyTree(store)).toMatchObject({ kind: 'whole', size: 606 });
});

test('a pruning first appends the records that it deletes', async () => {
  const store = await openFilled(pathOf(), 20);
  await pruneRecords(store, { beforeMs: startMs + 10_000_000, nowMs: startMs + 10_000_000 });
  expect((await growTree(store.tree)).size).toBe(21);
  expect(await verifyTree(store)).toMatchObject({ kind: 'whole', size: 21 });
});

test('the log of a store that was pruned before it had one begins with the first record', async () => {
  const path = pathOf();
  const store = await openFilled(path, 20);
  await pruneRecords(store, { beforeMs: startMs + 10_000, nowMs: startMs + 10_000_000 });
  await store.close();
  const database = new Database(path);
  database.exec('DELETE FROM tree_tiles');
  database.close();
  const later = await openStore({ path, actor: 'ops' });
  onTestFinished(() => later.close());
  const checkpoint = await published(later);
  expect(checkpoint.size).toBe(11);
  expect(await proveRecord(later, 11, checkpoint)).toMatchObject({ sequence: 11, leaf_index: 0 });
  expect(await verifyTree(later)).toMatchObject({ kind: 'whole', size: 11 });
});

test('a restored copy has the log of its moment, and continues it', async () => {
  const folder = temporaryFolder();
  const store = await openFilled(join(folder, 'writ.db'), 300);
  const checkpoint = await published(store);
  const copy = join(folder, 'copy.db');
  await store.copyTo(copy);
  const restored = await openStore({ path: copy, actor: 'ops' });
  onTestFinished(() => restored.close());
  expect((await logOf(restored).published())?.root).toEqual(checkpoint.root);
  await append(restored, 10, 2_000);
  expect(await published(restored)).toMatchObject({ size: 310 });
  expect(await verifyStore(restored)).toMatchObject({ tree: { kind: 'whole' }, differences: [] });
});

test('a clock that goes back changes nothing', async () => {
  const store = await openFilled(pathOf(), 5);
  let nowMs = startMs;
  const log = createTransparencyLog({
    store,
    origin,
    witnesses: [],
    quorum: 0,
    clock: () => nowMs,
    onFault: () => undefined,
    onFailure: fail,
  });
  onTestFinished(() => log.close());
  await log.turn();
  nowMs -= 3_600_000;
  await append(store, 5, 100);
  await log.turn();
  expect(await log.published()).toMatchObject({ size: 10 });
});

const tamperings: Readonly<
  Record<string, { readonly statements: readonly string[]; readonly message: RegExp }>
> = {
  'a record is changed': {
    statements: ["UPDATE requests SET outcome = 'DENY' WHERE sequence = 300"],
    message: /another hash for this record/,
  },
  'a record is removed': {
    statements: ['DELETE FROM requests WHERE sequence = 300'],
    message: /the record is missing/,
  },
  'the last records are removed': {
    statements: ['DELETE FROM requests WHERE sequence > 590'],
    message: /the record is missing/,
  },
  'records and their hashes are removed': {
    statements: [
      'DELETE FROM requests WHERE sequence > 512',
      'DELETE FROM tree_tiles WHERE level = 0 AND position = 2',
    ],
    message: /the last records are missing/,
  },
  'a tile is missing': {
    statements: ['DELETE FROM tree_tiles WHERE level = 0 AND position = 1'],
    message: /its hash is missing/,
  },
  'a hash above is changed': {
    statements: [
      "UPDATE tree_tiles SET hashes = CASE substr(hashes, 1, 1) WHEN 'A' THEN 'B' ELSE 'A' END || substr(hashes, 2) WHERE level = 1",
    ],
    message: /does not follow from those below/,
  },
  'a record is put between others': {
    statements: [
      'UPDATE requests SET sequence = 1000000 WHERE sequence = 300',
      'UPDATE requests SET sequence = 300 WHERE sequence = 301',
    ],
    message: /another hash for this record|is missing/,
  },
  'all hashes are computed again': {
    statements: ["UPDATE requests SET outcome = 'DENY' WHERE sequence = 300", 'DELETE FROM tree_tiles'],
    message: /the last records are missing/,
  },
};

test.each(Object.entries(tamperings))('tampering is found: %s', async (_, { statements, message }) => {
  const path = pathOf();
  const store = await openFilled(path, 600);
  await published(store);
  const database = new Database(path);
  for (const statement of statements)
    if (database.prepare(statement).run().changes === 0) throw new Error(`nothing changed: ${statement}`);
  database.close();
  const verification = await verifyTree(store);
  expect(verification).toMatchObject({ kind: 'broken', break: { message: expect.stringMatching(message) } });
});

test('nothing more is signed once the tree was changed', async () => {
  const path = pathOf();
  const store = await openFilled(path, 600);
  const checkpoint = await published(store);
  const database = new Database(path);
  database.exec("UPDATE requests SET outcome = 'DENY' WHERE sequence = 3; DELETE FROM tree_tiles");
  database.close();
  // The tree is made again from the changed records, and they differ from what was signed.
  await growTree(store.tree);
  const log = logOf(store);
  await log.turn();
  expect(await log.published()).toEqual(checkpoint);
  expect(await log.faults()).toMatchObject([{ isContradiction: true }]);
  expect(await proveRecord(store, 3, checkpoint)).toBe('changed');
  expect(await verifyTree(store)).toMatchObject({
    kind: 'broken',
    break: { message: expect.stringContaining('another root hash') },
  });
});

test('a checkpoint that was kept elsewhere shows what a holder of the store has rewritten', async () => {
  const path = pathOf();
  const store = await openFilled(path, 30);
  const kept = await published(store);
  const document = await logStateOf(store.documents).find('log');
  await store.documents.write([logStateOf(store.documents).remove(document!.value, document!.version)], null);
  const database = new Database(path);
  database.exec("UPDATE requests SET outcome = 'DENY' WHERE sequence = 3; DELETE FROM tree_tiles");
  database.close();
  await published(store);
  expect(await verifyTree(store)).toMatchObject({ kind: 'whole' });
  expect(await verifyTree(store, { notes: [kept] })).toMatchObject({
    kind: 'broken',
    break: { message: expect.stringContaining('another root hash') },
  });
});

test('a thread that fails, or a failing write, leaves the tree as it was', async () => {
  const store = await openFilled(pathOf(), 300);
  const unread = logOf({ ...store, records: { path: join(temporaryFolder(), 'missing.db') } });
  await expect(unread.turn()).rejects.toThrow('missing.db');
  expect(await store.tree.last()).toBeNull();
  let isFailing = true;
  const failing: Store = {
    ...store,
    tree: {
      ...store.tree,
      grow: (growth) => (isFailing ? Promise.reject(new Error('disk full')) : store.tree.grow(growth)),
    },
  };
  const log = logOf(failing);
  await expect(log.turn()).rejects.toThrow('disk full');
  expect(await log.published()).toBeNull();
  isFailing = false;
  await log.turn();
  expect(await log.published()).toMatchObject({ size: 300, root: await rootOf(store.tree, 300) });
});

test('refusals and changes are in the log, too', async () => {
  const store = await openFilled(pathOf(), 2);
  await store.requests.appendRefusal(refusalRecord({ atMs: startMs }));
  const checkpoint = await published(store);
  expect(await proveRecord(store, 1, checkpoint)).toMatchObject({ entry: { kind: 'change' } });
  expect(await proveRecord(store, 3, checkpoint)).toMatchObject({ entry: { kind: 'refusal' } });
});
