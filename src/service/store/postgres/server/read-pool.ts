// Runs queries on connections of their own; each query sees the latest commit of any process. INVARIANT:
// queries read the primary, and one without an answer in time is given up. Queries that find all connections
// in use take turns in the order in which they came; a queue that is too long, or too slow, is told apart
// from a server that does not answer.

import pg from 'pg';
import { StoreError } from '../../contract/store-error.ts';
import { postgresDialect, type QueriesOf, type QueryRunner, type RowsOf } from '../../queries/dialect.ts';
import { answerMaxMs, clientConfig, streamOf } from './connection.ts';
import { toStoreFailure } from './errors.ts';
import { giveUpAfter } from './give-up.ts';
import { withNames } from './named-parameters.ts';
import { Semaphore } from './semaphore.ts';

/** Returns the rows of a query; a query with a name is planned once for each connection. */
export type Rows = <R>(text: string, values?: readonly unknown[], name?: string) => Promise<readonly R[]>;

export interface ReadPool {
  readonly queries: QueryRunner;
  /** Runs one query on any connection of the pool. Rejects with a StoreError. */
  readonly rows: Rows;
  /** Runs `work`, whose reads are all of one moment. Rejects with a StoreError. */
  snapshot<T>(work: (rows: Rows) => Promise<T>): Promise<T>;
  /** How many reads wait for a connection. */
  waiting(): number;
  /** How many reads were refused, since too many waited or they had waited too long. */
  refused(): number;
  close(): Promise<void>;
}

const connectionsMax = 4;
/** A read that finds this many waiting is refused. */
const waitingMax = 2_000;
/** A read that has waited this long for a connection is refused, in milliseconds. */
const waitMaxMs = 10_000;

export interface ReadPoolLimits {
  readonly waitingMax?: number;
  readonly waitMaxMs?: number;
}

export function createReadPool(url: string, limits: ReadPoolLimits = {}): ReadPool {
  const semaphore = new Semaphore({ atOnce: connectionsMax, waitingMax, waitMaxMs, ...limits });
  const pool = new pg.Pool({
    ...clientConfig(url),
    max: connectionsMax,
    idleTimeoutMillis: 60_000,
    allowExitOnIdle: true,
  });
  // The next query replaces a connection that broke while it was idle.
  pool.on('error', () => {});
  // When a connection breaks while it is used, its query rejects.
  pool.on('connect', (client) => client.on('error', () => {}));
  let closing: Promise<void> | null = null;

  const withClient = async <T>(work: (client: pg.PoolClient) => Promise<T>): Promise<T> => {
    if (closing !== null) throw new StoreError('closed', 'the store is closed');
    await semaphore.acquire();
    try {
      const client = await pool.connect();
      let isUsable = false;
      try {
        const result = await work(client);
        isUsable = true;
        return result;
      } finally {
        client.release(!isUsable);
      }
    } catch (error) {
      throw toStoreFailure(error);
    } finally {
      semaphore.release();
    }
  };

  const rows: Rows = (text, values, name) => withClient((client) => rowsOf(client)(text, values, name));
  const snapshot: ReadPool['snapshot'] = (work) =>
    withClient(async (client) => {
      const rows = rowsOf(client);
      await rows('BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY');
      const result = await work(rows);
      await rows('COMMIT');
      return result;
    });
  return {
    waiting: () => semaphore.waiting,
    refused: () => semaphore.refused,
    rows,
    snapshot,
    queries: {
      sql: postgresDialect,
      rows: withNames(rows),
      snapshot: <Rs extends readonly unknown[] | []>(queries: QueriesOf<Rs>) =>
        snapshot(async (rows) => {
          const results: (readonly unknown[])[] = [];
          for (const query of queries) results.push(await withNames(rows)(query));
          // The rows are in the order of the queries.
          return results as RowsOf<Rs>;
        }),
      scan: async (query, read) => read(await withNames(rows)(query)),
    },
    close() {
      closing ??= pool.end();
      return closing;
    },
  };
}

/** The rows have the columns that the statement names. */
function rowsOf(client: pg.PoolClient): Rows {
  return async <R>(text: string, values: readonly unknown[] = [], name?: string) => {
    const query = name === undefined ? { text } : { name, text };
    const answered = giveUpAfter(answerMaxMs, () => streamOf(client).destroy());
    try {
      return (await client.query({ ...query, values: [...values] })).rows as readonly R[];
    } finally {
      answered();
    }
  };
}
