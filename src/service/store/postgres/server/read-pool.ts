// Queries on connections of their own, each of which sees the latest commit of any process. INVARIANT: they read the primary,
// and one that has no answer within a time is given up.

import pg from 'pg';
import { StoreError } from '../../contract/store-error.ts';
import { answerMaxMs, clientConfig } from './connection.ts';
import { toStoreFailure } from './errors.ts';

/** The rows of a query; the server plans one with a name once for a connection. */
export type Rows = <R>(text: string, values?: readonly unknown[], name?: string) => Promise<readonly R[]>;

export interface ReadPool {
  /** Rejects with a StoreError. */
  readonly rows: Rows;
  /** All that `work` reads is of one moment. Rejects with a StoreError. */
  snapshot<T>(work: (rows: Rows) => Promise<T>): Promise<T>;
  close(): Promise<void>;
}

const connectionsMax = 4;

export function createReadPool(url: string): ReadPool {
  const pool = new pg.Pool({
    ...clientConfig(url),
    max: connectionsMax,
    query_timeout: answerMaxMs,
    idleTimeoutMillis: 60_000,
    allowExitOnIdle: true,
  });
  // A connection that breaks while nobody uses it is made anew by the next query.
  pool.on('error', () => {});
  // While one is used, its query rejects.
  pool.on('connect', (client) => client.on('error', () => {}));
  let closing: Promise<void> | null = null;

  const withClient = async <T>(work: (client: pg.PoolClient) => Promise<T>): Promise<T> => {
    if (closing !== null) throw new StoreError('closed', 'the store is closed');
    try {
      const client = await pool.connect();
      let isUsable = false;
      try {
        const found = await work(client);
        isUsable = true;
        return found;
      } finally {
        client.release(!isUsable);
      }
    } catch (error) {
      throw toStoreFailure(error);
    }
  };

  return {
    rows: (text, values, name) => withClient((client) => rowsOf(client)(text, values, name)),
    snapshot: (work) =>
      withClient(async (client) => {
        await client.query('BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY');
        const found = await work(rowsOf(client));
        await client.query('COMMIT');
        return found;
      }),
    close() {
      closing ??= pool.end();
      return closing;
    },
  };
}

/** The columns are those that the statement names. */
function rowsOf(client: pg.PoolClient): Rows {
  return async <R>(text: string, values: readonly unknown[] = [], name?: string) => {
    const query = name === undefined ? { text } : { name, text };
    return (await client.query({ ...query, values: [...values] })).rows as readonly R[];
  };
}
