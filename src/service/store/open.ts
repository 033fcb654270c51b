// The configured place of the records into an open store: the one line a new kind of store adds.

import type { Store } from './contract/store.ts';
import type { PostgresOptions } from './postgres/postgres.ts';
import { openSqliteStore, type SqliteOptions } from './sqlite/sqlite.ts';

export type StorePlace = SqliteOptions | PostgresOptions;

/**
 * Opens the store, creating what is missing (directories 0700, files 0600) and bringing an older one up to date.
 * Rejects with a StoreError.
 */
export async function openStore(options: StorePlace): Promise<Store> {
  if (!('url' in options)) return await openSqliteStore(options);
  // Its driver is loaded only where it is used.
  const { openPostgresStore } = await import('./postgres/postgres.ts');
  return await openPostgresStore(options);
}
