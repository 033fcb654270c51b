// Opens a store kept in PostgreSQL: writes go one after the other over one connection, reads over a few
// others. Any number of processes may have the same database open, and up to 64 of them may serve it.

import { type DocumentRow, type DocumentStore, kindsOf } from '../contract/documents.ts';
import type { Durability } from '../contract/durability.ts';
import type { PlantRow, RequestEvent } from '../contract/records.ts';
import { type SealKey, sealKeyOf } from '../contract/seal.ts';
import type { AgentStore, PlantStore, RequestStore, SettingStore, Store } from '../contract/store.ts';
import { StoreError } from '../contract/store-error.ts';
import { activityReads } from '../queries/agent-activity.ts';
import { agentReads, nonceReads } from '../queries/agents.ts';
import { documentColumns, documentReads } from '../queries/documents.ts';
import { endNow, requestReads, statusNow } from '../queries/request-lists.ts';
import { createChangeCount } from '../shared/change-count.ts';
import { createEventCounts } from '../shared/event-counts.ts';
import { createKeyUses } from '../shared/key-uses.ts';
import { type AgentColumns, agentRow, type KeyColumns, keyRow } from '../shared/rows.ts';
import { createSearchThread, type SearchThread, searchedList } from '../shared/search/search-thread.ts';
import { agentWrites } from './agent-writes.ts';
import { type AppendFunctions, createRequestAppender } from './append-requests.ts';
import { appendTogether } from './append-together.ts';
import { chainStore } from './chain.ts';
import { type CommitQueue, openCommitQueue } from './commit-queue.ts';
import { removeEnded, writeDocuments } from './documents.ts';
import { createChangeWrites, createRefusalWrites, requestWrites } from './event-writes.ts';
import { createKnotTimer } from './knots.ts';
import { meterStore } from './meters.ts';
import { isOwnNonce, replicaStore } from './replicas.ts';
import {
  countWaiting,
  findAt,
  findHeld,
  findHistory,
  findPage,
  findWaiting,
  type RequestReading,
} from './request-reads.ts';
import { sealEarlierRows } from './seals/seal-earlier.ts';
import { connect } from './server/connection.ts';
import { toStoreFailure } from './server/errors.ts';
import { createReadPool, type ReadPool } from './server/read-pool.ts';
import { requestIdOrNull } from './server/request-ids.ts';
import { keyOfDatabase, prepareSchema } from './server/schema.ts';
import { consistencyStore } from './state.ts';
import { statisticsStore } from './statistics.ts';
import type { Work } from './transaction.ts';
import { treeStore } from './tree.ts';

// Requests, their events, and refusals in PostgreSQL: written over the queue of commits, read over the pool.

const isPending = `${statusNow} = 'pending'`;

export interface RequestParts {
  readonly pool: ReadPool;
  readonly queue: CommitQueue;
  readonly asking: AppendFunctions;
  readonly search: SearchThread;
  readonly sealKey: SealKey;
}

function requestStore({ pool, queue, asking, search, sealKey }: RequestParts): RequestStore {
  const { rows } = pool;
  const guard = { key: sealKey, counts: createEventCounts() };
  const writes = requestWrites(sealKey);
  const snapshot = <T>(work: (reading: RequestReading) => Promise<T>): Promise<T> =>
    pool.snapshot((rows) => work({ rows, guard }));
  const one = async (condition: string, values: readonly unknown[]) => {
    const [found] = await rows<{ readonly id: string }>(`SELECT id FROM requests WHERE ${condition}`, values);
    return found === undefined ? null : ((await history(found.id))?.row ?? null);
  };
  const history = (id: string) => snapshot((read) => findHistory(read, requestIdOrNull(id)));
  return {
    append: (row, limits, entries = []) => asking.append(row, limits, entries),
    appendTogether: (batch) => queue.write(appendTogether(batch, sealKey), 'left'),
    find: (id) => one('id = $1', [requestIdOrNull(id)]),
    findByIdempotencyKey: ({ agentId, key, nowMs }) =>
      one(
        `agent_id = $1 AND idempotency_key = $2
         AND idempotency_until_ms + greatest(0, ${endNow} - expires_ms) > $3`,
        [agentId, key, nowMs],
      ),
    ...requestReads(pool.queries),
    async history(id) {
      const stored = await history(id);
      await queue.settle();
      return stored;
    },
    events: async (id): Promise<readonly RequestEvent[]> => (await history(id))?.events ?? [],
    list: searchedList(search, {
      walk: (page) => snapshot((read) => findPage(read, page)),
      at: (places) => snapshot((read) => findAt(read, places)),
    }),
    count: search.count,
    waiting: (page) => snapshot((read) => findWaiting(read, page)),
    countWaiting: (query) => snapshot((read) => countWaiting(read, query)),
    heldOf: (query) => snapshot((read) => findHeld(read, query)),
    change: createChangeWrites(queue, sealKey),
    // A write delays all replicas, so a read first finds out whether anything is due; mostly nothing is.
    expireDue: async (atMs, countMax) =>
      (await rows(`SELECT 1 FROM requests WHERE ${isPending} AND ${endNow} <= $1 LIMIT 1`, [atMs])).length > 0
        ? await queue.write(writes.expireDue(atMs, countMax), 'left')
        : [],
    appendRefusal: createRefusalWrites(queue),
  };
}

// Documents in PostgreSQL: read over the pool, changed over the queue of commits.

function documentStore({ rows, queries }: ReadPool, queue: Pick<CommitQueue, 'write'>): DocumentStore {
  const changes = createChangeCount();
  return {
    async find(kind, id) {
      const text = `SELECT ${documentColumns} FROM documents WHERE kind = $1 AND id = $2`;
      return (await rows<DocumentRow>(text, [kind, id]))[0] ?? null;
    },
    async findByName(kind, name) {
      const text = `SELECT ${documentColumns} FROM documents WHERE kind = $1 AND lower(name) = lower($2 COLLATE "C")`;
      return (await rows<DocumentRow>(text, [kind, name]))[0] ?? null;
    },
    ...documentReads(queries),
    async generation(kind) {
      const text = 'SELECT generation FROM document_kinds WHERE kind = $1';
      return (await rows<{ readonly generation: number }>(text, [kind]))[0]?.generation ?? 0;
    },
    write: (writes, change) =>
      changes.during(kindsOf(writes), () =>
        queue.write(writeDocuments(writes, change), change === null ? 'left' : 'kept'),
      ),
    removeEnded: (kind, atMs, countMax) =>
      changes.during([kind], () => queue.write(removeEnded(kind, atMs, countMax), 'left')),
    changesHere: changes.of,
  };
}

export interface PostgresOptions {
  /** An address such as `postgres://user@host/database`. */
  readonly url: string;
  /** The file of the master key, which is created for a new database. */
  readonly keyFile: string;
  /** When this many writes wait, further writes are refused as `overloaded`. */
  readonly writesPendingMax?: number;
  /** What the server must promise to a process that serves; not checked when absent. */
  readonly durability?: Durability;
  /**
   * The name under which changes of agents and keys through this store are recorded; `system` for the service
   * itself.
   */
  readonly actor?: string;
  /**
   * Whether an earlier schema is brought up to date when no process serves the database; without this, it is
   * refused.
   */
  readonly isUpgradeAllowed?: boolean;
}

const writesPendingMaxDefault = 10_000;

/** Opens the store, and creates its tables in an empty database. Rejects with a StoreError. */
export async function openPostgresStore(options: PostgresOptions): Promise<Store> {
  const { url, writesPendingMax = writesPendingMaxDefault, actor = 'system', durability = null } = options;
  const masterKey = await prepareDatabase(options);
  const queue = await openCommitQueue({ url, actor, writesPendingMax, durability });
  return createStore({ url, pool: createReadPool(url), queue, masterKey });
}

async function prepareDatabase({ url, keyFile, isUpgradeAllowed = false }: PostgresOptions): Promise<Buffer> {
  const connection = await connect(url);
  try {
    await prepareSchema(connection, {
      isUpgradeAllowed,
      sealEarlier: async () =>
        await sealEarlierRows(connection, sealKeyOf(await keyOfDatabase(connection, keyFile))),
    });
    return await keyOfDatabase(connection, keyFile);
  } catch (error) {
    throw toStoreFailure(error);
  } finally {
    await connection.end();
  }
}

interface OpenOptions {
  readonly url: string;
  readonly pool: ReadPool;
  readonly queue: CommitQueue;
  readonly masterKey: Uint8Array;
}

function createStore({ url, pool, queue, masterKey }: OpenOptions): Store {
  const uses = createKeyUses((noted) => queue.write(agentWrites.noteUses(noted), 'left'));
  const sealKey = sealKeyOf(masterKey);
  const asking = createRequestAppender(queue, sealKey);
  const knots = createKnotTimer(pool, queue);
  const search = createSearchThread(new URL('./search/database-searcher.ts', import.meta.url), { url });
  const requests = requestStore({ pool, queue, asking, search, sealKey });
  return {
    agents: agentStore(pool, queue, uses.note),
    requests,
    plants: plantStore(pool, queue),
    settings: settingStore(pool, queue),
    nonces: {
      ...nonceReads(pool.queries),
      note: (use) => queue.noteNonce(use),
    },
    chain: chainStore(pool, queue),
    tree: treeStore(pool, queue),
    documents: documentStore(pool, queue),
    meters: meterStore(pool, queue, asking),
    statistics: statisticsStore(pool, queue),
    activity: activityReads(pool.queries),
    state: consistencyStore(pool, sealKey),
    masterKey,
    records: { url },
    async serve() {
      await queue.claim();
      knots.start();
      search.follow();
    },
    replicas: replicaStore(pool, queue, asking),
    async settle(nonce) {
      await queue.settle();
      return nonce === undefined || (await isOwnNonce(pool, queue, nonce)) ? 'settled' : 'nonce-used';
    },
    copyTo: () =>
      Promise.reject(
        new StoreError('unwritable', 'a database in PostgreSQL is copied by its own tools: use pg_dump'),
      ),
    isWritable: () => queue.isWritable(),
    fault: () => queue.server.fault(),
    onEnd: (listener) => queue.onEnd(listener),
    serverNow: () => queue.server.clock.now(),
    async sizeBytes() {
      const text = 'SELECT pg_database_size(current_database())::float8 AS bytes';
      return (await pool.rows<{ readonly bytes: number }>(text))[0]?.bytes ?? null;
    },
    queueDepth: () => queue.depth(),
    writeTimes: null,
    readQueue: () => ({ waiting: pool.waiting(), refused: pool.refused() }),
    async close() {
      await search.close();
      await uses.flush();
      await knots.close();
      await queue.close();
      await pool.close();
    },
  };
}

function plantStore({ rows }: ReadPool, queue: Pick<CommitQueue, 'write'>): PlantStore {
  return {
    async add({ id, name, tag }: PlantRow) {
      if (BigInt.asIntN(64, id) !== id) throw new RangeError('a plant id is a signed 64-bit integer');
      return await queue.write(async ({ insert }) => {
        const count = await insert('plants', { id: String(id), name, tag }, 'ON CONFLICT (id) DO NOTHING');
        return count === 0 ? 'used' : 'added';
      });
    },
    async find(id) {
      const text = 'SELECT id::text AS id, name, tag FROM plants WHERE id = $1';
      const [plantRow] = await rows<Omit<PlantRow, 'id'> & { readonly id: string }>(text, [String(id)]);
      return plantRow === undefined ? null : { ...plantRow, id: BigInt(plantRow.id) };
    },
  };
}

function settingStore({ rows }: ReadPool, queue: Pick<CommitQueue, 'write'>): SettingStore {
  const get = async (name: string): Promise<string | null> => {
    const text = 'SELECT value FROM settings WHERE name = $1';
    return (await rows<{ readonly value: string }>(text, [name]))[0]?.value ?? null;
  };
  return {
    get,
    async putIfAbsent(name, value) {
      await queue.write(({ insert }) => insert('settings', { name, value }, 'ON CONFLICT (name) DO NOTHING'));
      return (await get(name)) ?? value;
    },
  };
}

/** Agents and keys in PostgreSQL: read over the pool, changed over the queue of commits. */
function agentStore(
  { rows, queries }: ReadPool,
  queue: Pick<CommitQueue, 'write'>,
  noteUse: AgentStore['noteUse'],
): AgentStore {
  const changes = createChangeCount();
  const change = <T>(work: Work<T>): Promise<T> => changes.during(['agent'], () => queue.write(work));
  return {
    add: (agent, key, by) => change(agentWrites.add({ agent, key, ...by })),
    ...agentReads(queries),
    async find(idOrName) {
      const [agentColumns] = await rows<AgentColumns>(
        'SELECT * FROM agents WHERE id = $1 OR lower(name) = lower($1 COLLATE "C") ORDER BY (id = $1) DESC LIMIT 1',
        [idOrName],
      );
      return agentColumns === undefined ? null : agentRow(agentColumns);
    },
    // One statement, so that agent and key are of one moment: the agent's version covers its keys, too.
    async findByKeyId(keyId) {
      const [keyLookup] = await rows<{ readonly agent: AgentColumns; readonly key: KeyColumns }>(
        `SELECT row_to_json(agents) AS agent, row_to_json(keys) AS key
         FROM keys JOIN agents ON agents.id = keys.agent_id WHERE keys.id = $1`,
        [keyId],
      );
      return keyLookup === undefined
        ? null
        : { agent: agentRow(keyLookup.agent), key: keyRow(keyLookup.key) };
    },
    describe: (description) => change(agentWrites.describe(description)),
    setStatus: (statusChange) => change(agentWrites.setStatus(statusChange)),
    setSigning: (signingChange) => change(agentWrites.setSigning(signingChange)),
    rotateKey: (rotation) => change(agentWrites.rotateKey(rotation)),
    noteUse,
    changesHere: () => changes.of('agent'),
  };
}
