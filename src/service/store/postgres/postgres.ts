// Opens a store kept in PostgreSQL: writes go one after the other over one connection, reads over a few
// others. Any number of processes may have the same database open, and up to 64 of them may serve it.

import type { Durability } from '../contract/durability.ts';
import type { PlantRow } from '../contract/records.ts';
import { sealKeyOf } from '../contract/seal.ts';
import type { PlantStore, SettingStore, Store } from '../contract/store.ts';
import { StoreError } from '../contract/store-error.ts';
import { createKeyUses } from '../shared/key-uses.ts';
import { createSearchThread } from '../shared/search/search-thread.ts';
import { activityStore } from './agent-activity.ts';
import { agentWrites } from './agent-writes.ts';
import { agentStore } from './agents.ts';
import { createAsking } from './asking.ts';
import { chainStore } from './chain.ts';
import { type CommitQueue, openCommitQueue } from './commit-queue.ts';
import { documentStore } from './documents.ts';
import { createKnotTimer } from './knots.ts';
import { meterStore } from './meters.ts';
import { isOwnNonce, replicaStore } from './replicas.ts';
import { requestStore } from './requests.ts';
import { sealEarlierRows } from './seals/seal-earlier.ts';
import { connect } from './server/connection.ts';
import { toStoreFailure } from './server/errors.ts';
import { createReadPool, type ReadPool } from './server/read-pool.ts';
import { keyOfDatabase, prepareSchema } from './server/schema.ts';
import { consistencyStore } from './state.ts';
import { statisticsStore } from './statistics.ts';

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

interface Opened {
  readonly url: string;
  readonly pool: ReadPool;
  readonly queue: CommitQueue;
  readonly masterKey: Uint8Array;
}

function createStore({ url, pool, queue, masterKey }: Opened): Store {
  const uses = createKeyUses((noted) => queue.write(agentWrites.noteUses(noted), 'left'));
  const sealKey = sealKeyOf(masterKey);
  const asking = createAsking(queue, sealKey);
  const knots = createKnotTimer(pool, queue);
  const search = createSearchThread(new URL('./search/database-searcher.ts', import.meta.url), { url });
  const requests = requestStore({ pool, queue, asking, search, sealKey });
  return {
    agents: agentStore(pool, queue, uses.note),
    requests,
    plants: plantStore(pool, queue),
    settings: settingStore(pool, queue),
    nonces: {
      kept: () =>
        pool.rows(
          'SELECT nonce, used_ms AS "usedAtMs", kept_until_ms AS "keptUntilMs" FROM nonces ORDER BY kept_until_ms',
        ),
      validFromMs: async () => null,
      note: (use) => queue.noteNonce(use),
    },
    chain: chainStore(pool, queue),
    documents: documentStore(pool, queue),
    meters: meterStore(pool, queue, asking),
    statistics: statisticsStore(pool, queue),
    activity: activityStore(pool),
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
    queueDepth: () => queue.depth(),
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
      const [found] = await rows<Omit<PlantRow, 'id'> & { readonly id: string }>(text, [String(id)]);
      return found === undefined ? null : { ...found, id: BigInt(found.id) };
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
