// The configured place of the records into an open store: the one line a new kind of store adds.

import type { RecordReader } from './contract/log.ts';
import type { Store } from './contract/store.ts';
import { openSqliteRecords } from './sqlite/record-reader.ts';
import { openSqliteStore, type SqliteOptions } from './sqlite/sqlite.ts';

/**
 * Opens the store, creating what is missing (directories 0700, files 0600) and bringing an older one up to date.
 * Rejects with a StoreError.
 */
export function openStore(options: SqliteOptions): Promise<Store> {
  return openSqliteStore(options);
}

/** Opens the records of a store that is there, to be read alone; a service may be writing to it. Rejects with a StoreError. */
export function openRecords({ path }: Pick<SqliteOptions, 'path'>): Promise<RecordReader> {
  return openSqliteRecords(path);
}
