// Runs reads on a connection of the calling thread. Each statement is prepared once.

import type { Database, Statement } from 'better-sqlite3';
import { StoreError } from '../contract/store-error.ts';
import {
  type Parameters,
  type QueriesOf,
  type Query,
  type QueryRunner,
  type RowsOf,
  sqliteDialect,
} from '../queries/dialect.ts';
import { withStoreErrors } from './file/errors.ts';

/** Runs reads without promises, for several reads in one transaction. */
export interface SyncQueryRunner {
  all<R>(query: Query<R>): readonly R[];
  /** Yields the rows one after the other; a loop may stop before the last one. */
  iterate<R>(query: Query<R>): Iterable<R>;
}

type Values = Readonly<Record<string, unknown>>;

export function createSyncQueryRunner(database: Database): SyncQueryRunner {
  const statements = new Map<string, Statement<[Values], unknown>>();
  const prepared = (text: string): Statement<[Values], unknown> => {
    const prepared = statements.get(text) ?? database.prepare<[Values]>(text);
    statements.set(text, prepared);
    return prepared;
  };
  return {
    all: <R>({ text, parameters }: Query<R>) => prepared(text).all(valuesOf(parameters)) as R[],
    iterate: <R>({ text, parameters }: Query<R>) =>
      prepared(text).iterate(valuesOf(parameters)) as Iterable<R>,
  };
}

/** Returns the values that SQLite takes: arrays as JSON, truth values as numbers. */
function valuesOf(parameters: Parameters): Values {
  const values: Record<string, unknown> = {};
  for (const [name, value] of Object.entries(parameters))
    if (typeof value === 'boolean') values[name] = Number(value);
    else values[name] = Array.isArray(value) ? JSON.stringify(value) : value;
  return values;
}

export function createQueryRunner(path: string, database: Database): QueryRunner {
  const { all, iterate } = createSyncQueryRunner(database);
  const run = async <T>(query: () => T): Promise<T> => {
    if (!database.open) throw new StoreError('closed', 'the store is closed');
    return withStoreErrors(path, query);
  };
  return {
    sql: sqliteDialect,
    rows: (query) => run(() => all(query)),
    // The rows are in the order of the queries.
    snapshot: <Rs extends readonly unknown[] | []>(queries: QueriesOf<Rs>) =>
      run(database.transaction(() => queries.map(all) as RowsOf<Rs>)),
    scan: (query, read) => run(() => read(iterate(query))),
  };
}
