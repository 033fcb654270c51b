// Opens a store kept in one SQLite file: a thread of its own writes, the calling thread reads. Any number of
// processes may have the same file open. INVARIANT: only their owner can read the files that the store
// creates.

import { closeSync, existsSync, mkdirSync, openSync, rmSync, statSync } from 'node:fs';
import { dirname } from 'node:path';
import Database from 'better-sqlite3';
import { type DocumentStore, kindsOf } from '../contract/documents.ts';
import { checkDataFiles } from '../contract/file-guards.ts';
import { type MasterKey, readMasterKey } from '../contract/master-key.ts';
import type { MeterEntryRow, MeterStore } from '../contract/metering.ts';
import type { PlantRow, RefusalRecord, RequestRow } from '../contract/records.ts';
import { sealKeyOf } from '../contract/seal.ts';
import type { StatisticsStore } from '../contract/statistics.ts';
import type {
  AgentStore,
  AppendLimits,
  ChainStore,
  PlantStore,
  RequestStore,
  SettingStore,
  Store,
} from '../contract/store.ts';
import { StoreError } from '../contract/store-error.ts';
import type { TreeStore } from '../contract/tree.ts';
import { activityReads } from '../queries/agent-activity.ts';
import { agentReads, nonceReads } from '../queries/agents.ts';
import type { QueryRunner } from '../queries/dialect.ts';
import { documentReads } from '../queries/documents.ts';
import { meterReads } from '../queries/meters.ts';
import { chainReads } from '../queries/records.ts';
import { requestReads } from '../queries/request-lists.ts';
import { noSlot, statisticsReads } from '../queries/statistics.ts';
import { treeReads } from '../queries/tree.ts';
import { createChangeCount } from '../shared/change-count.ts';
import { createKeyUses } from '../shared/key-uses.ts';
import { createSearchThread, type SearchThread, searchedList } from '../shared/search/search-thread.ts';
import { copyDatabase } from './file/copy.ts';
import { withStoreErrors } from './file/errors.ts';
import { createLogFolding } from './file/log-folding.ts';
import { lockForServing, type ServingLock } from './file/serving-lock.ts';
import { openMeterHistory } from './meter-history.ts';
import { checkSchemaVersion, schemaVersionBefore } from './migrate.ts';
import { createQueryRunner } from './query-runner.ts';
import { prepareReads, type Reads } from './reads.ts';
import { type StateSource, stateStore } from './state.ts';
import { openWriteQueue, type WriteQueue } from './write-queue.ts';
import type { WriterData } from './writer.ts';
import type { WriteOf } from './writes.ts';

export interface SqliteOptions {
  /** The database file; the master key is beside it, in `<path>.key`. */
  readonly path: string;
  /** When this many writes wait, further writes are refused as `overloaded`. */
  readonly writesPendingMax?: number;
  /** How long a transaction waits for another process, in milliseconds. */
  readonly busyTimeoutMs?: number;
  /**
   * The name under which changes of agents and keys through this store are recorded; `system` for the service
   * itself.
   */
  readonly actor?: string;
  /**
   * Whether an earlier schema is brought up to date. The store is then served from its opening on, so that
   * no other process serves it meanwhile; without this, an earlier schema is refused.
   */
  readonly isUpgradeAllowed?: boolean;
}

const defaultWritesPendingMax = 10_000;
const defaultBusyTimeoutMs = 5_000;

/** Opens the store, and creates its file where there is none. Rejects with a StoreError. */
export async function openSqliteStore(options: SqliteOptions): Promise<Store> {
  const { path, busyTimeoutMs = defaultBusyTimeoutMs, actor = 'system', isUpgradeAllowed = false } = options;
  const { key: masterKey, isSealed, keep } = withStoreErrors(path, () => prepareFiles(path));
  const lock = isUpgradeAllowed ? lockForServing(path) : null;
  try {
    if (isUpgradeAllowed) await copyEarlier(path, schemaVersionBefore);
    const writerData = { path, busyTimeoutMs, actor, masterKey, isSealed, isUpgradeAllowed };
    const queue = await openWriteQueue(writerData, options.writesPendingMax ?? defaultWritesPendingMax);
    try {
      withStoreErrors(`${path}.key`, keep);
      return await openWithWriter(writerData, queue, lock);
    } catch (error) {
      await queue.close();
      throw error;
    }
  } catch (error) {
    lock?.release();
    throw error;
  }
}

function databaseFiles(path: string): readonly string[] {
  return [path, `${path}-wal`];
}

function prepareFiles(path: string): MasterKey {
  mkdirSync(dirname(path), { recursive: true, mode: 0o700 });
  checkDataFiles(path);
  const masterKey = readMasterKey(path);
  // SQLite gives its other files the mode of this one.
  closeSync(openSync(path, 'a', 0o600));
  return masterKey;
}

async function openWithWriter(
  { path, busyTimeoutMs, masterKey }: WriterData,
  queue: WriteQueue,
  taken: ServingLock | null,
): Promise<Store> {
  const openReader = () =>
    new Database(path, { readonly: true, fileMustExist: true, timeout: busyTimeoutMs });
  const reader = withStoreErrors(path, openReader);
  try {
    const reads = withStoreErrors(path, () => prepareReads(reader, sealKeyOf(masterKey)));
    /** Makes a read asynchronous, so that a store over a network can have the same interface. */
    const read: Read = async (query) => {
      if (!reader.open) throw new StoreError('closed', 'the store is closed');
      return withStoreErrors(path, () => query(reads));
    };
    const queries = createQueryRunner(path, reader);
    const parts = { read, queries, queue };
    let lock = taken;
    const uses = createKeyUses((noted) => queue.write({ kind: 'note-uses', uses: noted }));
    const search = createSearchThread(new URL('./search/file-searcher.ts', import.meta.url), {
      path,
      busyTimeoutMs,
    });
    const folding = createLogFolding(path);
    const requests = requestStore(parts, search);
    return {
      agents: agentStore(parts, uses.note),
      requests,
      plants: plantStore(parts),
      settings: settingStore(parts),
      nonces: {
        ...nonceReads(queries),
        note: queue.noteNonce,
      },
      chain: chainStore(parts),
      tree: treeStore(parts),
      documents: documentStore(parts),
      meters: meterStore(parts, requests, { path, openReader, masterKey }),
      statistics: statisticsStore(parts),
      activity: activityReads(queries),
      state: stateStore({ path, openReader, masterKey }, queue),
      masterKey,
      records: { path },
      async serve() {
        lock ??= lockForServing(path);
        // A later version may have taken the lock and left it again since the store was opened.
        withStoreErrors(path, () => checkSchemaVersion(reader));
        // From here on this process alone writes events, so none of them can go.
        await read((reads) => reads.rememberEvents());
        search.follow();
        folding.begin();
      },
      replicas: null,
      settle: async () => 'settled',
      copyTo: (target) => copyDatabase(path, target),
      isWritable: queue.isWritable,
      fault: () => null,
      onEnd: queue.onEnd,
      serverNow: () => null,
      queueDepth: queue.depth,
      writeTimes: queue.times,
      sizeBytes: async () =>
        databaseFiles(path).reduce(
          (sum, file) => sum + (statSync(file, { throwIfNoEntry: false })?.size ?? 0),
          0,
        ),
      // A read is done before the next one begins.
      readQueue: () => ({ waiting: 0, refused: 0 }),
      async close() {
        await search.close();
        await folding.close();
        await uses.flush();
        // The last connection to close folds the write-ahead log into the file. A read-only connection
        // cannot, so the reader closes before the writer.
        reader.close();
        await queue.close();
        lock?.release();
        lock = null;
      },
    };
  } catch (error) {
    reader.close();
    throw error;
  }
}

type Read = <T>(query: (reads: Reads) => T) => Promise<T>;

interface StoreParts {
  readonly read: Read;
  readonly queries: QueryRunner;
  readonly queue: WriteQueue;
}

function agentStore({ read, queries, queue }: StoreParts, noteUse: AgentStore['noteUse']): AgentStore {
  const changes = createChangeCount();
  const change = <W extends AgentWrite>(write: W) => changes.during(['agent'], () => queue.write(write));
  return {
    add: (agent, key, by) => change({ kind: 'add-agent', agent, key, who: by?.who }),
    ...agentReads(queries),
    find: (idOrName) => read((reads) => reads.agent(idOrName)),
    findByKeyId: (keyId) => read((reads) => reads.agentByKeyId(keyId)),
    describe: (description) => change({ kind: 'describe-agent', change: description }),
    setStatus: (statusChange) => change({ kind: 'set-status', change: statusChange }),
    setSigning: (signingChange) => change({ kind: 'set-signing', change: signingChange }),
    rotateKey: (rotation) => change({ kind: 'rotate-key', rotation }),
    noteUse,
    changesHere: () => changes.of('agent'),
  };
}

type AgentWrite = WriteOf<'add-agent' | 'describe-agent' | 'set-status' | 'set-signing' | 'rotate-key'>;

function requestStore({ read, queries, queue }: StoreParts, search: SearchThread): RequestStore {
  return {
    async append(
      row: RequestRow,
      { openMax, precondition }: AppendLimits,
      entries: readonly MeterEntryRow[] = [],
    ) {
      const result = await queue.write({
        kind: 'append-request',
        row,
        openMax,
        precondition: precondition ?? null,
        entries,
      });
      if (result === 'duplicate-id') throw duplicateId(row.id);
      return result;
    },
    appendTogether: (batch) => queue.write({ kind: 'append-together', ...batch }),
    find: (id) => read((reads) => reads.request(id)),
    findByIdempotencyKey: (query) => read((reads) => reads.requestByKey(query)),
    ...requestReads(queries),
    history: (id) => read((reads) => reads.history(id)),
    events: (id) => read((reads) => reads.events(id)),
    list: searchedList(search, {
      walk: (page) => read((reads) => reads.requestPage(page)),
      at: (places) => read((reads) => reads.requestsAt(places)),
    }),
    count: search.count,
    waiting: (page) => read((reads) => reads.waiting(page)),
    countWaiting: (query) => read((reads) => reads.countWaiting(query)),
    heldOf: (query) => read((reads) => reads.heldOf(query)),
    async change(change) {
      const result = await queue.write({ kind: 'change-request', ...change });
      if (result === 'changed') await read((reads) => reads.rememberEvent(change.requestId));
      return result;
    },
    expireDue: (atMs, countMax) => queue.write({ kind: 'expire-due', atMs, countMax }),
    async appendRefusal(record: RefusalRecord) {
      const result = await queue.write({ kind: 'append-refusal', record });
      if (result === 'duplicate-id') throw duplicateId(record.id);
    },
  };
}

function chainStore({ read, queries, queue }: StoreParts): ChainStore {
  return {
    segment: (afterSequence, countMax) => read((reads) => reads.segment(afterSequence, countMax)),
    ...chainReads(queries),
    checkpoints: () => read((reads) => reads.checkpoints()),
    async addCheckpoint(checkpoint) {
      await queue.write({ kind: 'add-checkpoint', checkpoint });
    },
    tie: async () => undefined,
    prune: (checkpoint) => queue.write({ kind: 'prune', checkpoint }),
  };
}

function treeStore({ read, queries, queue }: StoreParts): TreeStore {
  return {
    ...treeReads(queries),
    grow: (growth) => queue.write({ kind: 'grow-tree', growth }),
    settledRecords: async (afterSequence, countMax) =>
      (await read((reads) => reads.segment(afterSequence, countMax))).records,
  };
}

/** Meters of a store that one process serves: that process itself has entered all that there is. */
function meterStore(
  { read, queries, queue }: StoreParts,
  { append }: Pick<RequestStore, 'append'>,
  source: StateSource,
): MeterStore {
  return {
    onUncertain() {
      // The writer tells of each write whether it is stored, so meters are never uncertain.
    },
    onMoved() {
      // No other process enters meters.
    },
    catchUp: async () => undefined,
    position: () => null,
    async spend(_places, work) {
      const promise = work();
      return promise === null ? 'nothing' : append(promise.row, promise.limits, promise.entries);
    },
    note: (definitions, atMs) => queue.write({ kind: 'note-meters', definitions, atMs }),
    async noteComplete(definition, sinceMs) {
      await queue.write({ kind: 'note-whole-meter', definition, sinceMs });
    },
    openPast: () => openMeterHistory(source),
    async keepSnapshot(definition, within) {
      const next = await queue.write({ kind: 'keep-meter-snapshot', definition, within });
      return next === 'nothing-left' ? null : next;
    },
    enteredBy: (requestId) => read((reads) => reads.enteredBy(requestId)),
    async add(entries) {
      await queue.write({ kind: 'add-meter-entries', entries });
    },
    ...meterReads(queries),
    forget: (definition, beforeMs, countMax) =>
      queue.write({ kind: 'forget-meter-entries', definition, beforeMs, countMax }),
  };
}

function statisticsStore({ read, queries, queue }: StoreParts): StatisticsStore {
  return {
    ...statisticsReads(queries, () => noSlot),
    async change(change) {
      await queue.write({ kind: 'change-statistics', change });
    },
    lastSequence: () => read((reads) => reads.lastSequence()),
  };
}

function documentStore({ read, queries, queue }: StoreParts): DocumentStore {
  const changes = createChangeCount();
  return {
    find: (kind, id) => read((reads) => reads.document(kind, id)),
    findByName: (kind, name) => read((reads) => reads.documentByName(kind, name)),
    ...documentReads(queries),
    generation: (kind) => read((reads) => reads.generation(kind)),
    write: (writes, change) =>
      changes.during(kindsOf(writes), () => queue.write({ kind: 'write-documents', writes, change })),
    removeEnded: (documentKind, atMs, countMax) =>
      changes.during([documentKind], () =>
        queue.write({ kind: 'remove-documents', documentKind, atMs, countMax }),
      ),
    changesHere: changes.of,
  };
}

function plantStore({ read, queue }: StoreParts): PlantStore {
  return {
    async add(plant: PlantRow) {
      if (BigInt.asIntN(64, plant.id) !== plant.id)
        throw new RangeError('a plant id is a signed 64-bit integer');
      return await queue.write({ kind: 'add-plant', plant });
    },
    find: (id) => read((reads) => reads.plant(id)),
  };
}

function settingStore({ read, queue }: StoreParts): SettingStore {
  const get = (name: string) => read((reads) => reads.setting(name));
  return {
    get,
    async putIfAbsent(name, value) {
      await queue.write({ kind: 'put-setting', name, value });
      return (await get(name)) ?? value;
    },
  };
}

/** The service makes ids itself and never takes one from a client, so a duplicate is a mistake in Writ. */
function duplicateId(id: string): Error {
  return new Error(`the id \`${id}\` is in use`);
}

// Copies a database of an earlier schema before it is brought up to date; the copy lies beside it. INVARIANT:
// the copy is whole and on the disk before anything in the database changes, and has the state of the
// database at that time, however often a start was tried before.

/** Returns the schema of a database that has to be brought up to date; null when there is nothing to do. */
type EarlierVersion = (database: Database.Database) => number | null;

/**
 * Makes `<path>.schema-N` and its key if the database has to be brought up to date. Rejects with a
 * StoreError.
 */
async function copyEarlier(path: string, versionOf: EarlierVersion): Promise<void> {
  const version = withStoreErrors(path, () => earlierVersion(path, versionOf));
  if (version === null) return;
  const target = `${path}.schema-${version}`;
  withStoreErrors(target, () => {
    for (const end of ['.key', '']) rmSync(`${target}${end}`, { force: true });
  });
  await copyDatabase(path, target);
}

function earlierVersion(path: string, versionOf: EarlierVersion): number | null {
  // Every released version made a key, so a database without one needs no copy.
  const isThere = [path, `${path}.key`].every((one) => existsSync(one)) && statSync(path).size > 0;
  if (!isThere) return null;
  // Opened for writing, so that SQLite rolls back the work of a process that was killed.
  const database = new Database(path, { fileMustExist: true });
  try {
    return versionOf(database);
  } finally {
    database.close();
  }
}
