// The configured place of the records into an open store: the one line a new kind of store adds.

import { existsSync } from 'node:fs';
import { dirname, join } from 'node:path';
import type { Durability } from './contract/durability.ts';
import type { RecordReader, RecordsPlace } from './contract/log.ts';
import type { Store } from './contract/store.ts';
import { StoreError } from './contract/store-error.ts';
import type { ExaminedStore } from './examine/examined-store.ts';
import { usedInPlace } from './move/placement.ts';
import type { PostgresOptions } from './postgres/postgres.ts';
import type { SqliteOptions } from './sqlite/sqlite.ts';

export type StorePlace = SqliteOptions | PostgresOptions;

/** Of a database, whose records a new file would not have. */
const keyName = 'writ.key';

interface ConfiguredStore {
  /** The data directory, in which the master key lies, and the file where there is no database. */
  readonly data: string;
  /** Address of a database in PostgreSQL; null for a file. */
  readonly database: string | null;
  /** Of the process that serves. */
  readonly durability?: Durability;
}

export function storePlaceOf({ data, database, durability }: ConfiguredStore): StorePlace {
  return database === null
    ? { path: join(data, 'writ.db') }
    : { url: database, keyFile: join(data, keyName), ...(durability === undefined ? {} : { durability }) };
}

/** What must be there already, unless the store is to be made anew. */
export function fileOf(place: StorePlace): string {
  return 'url' in place ? place.keyFile : place.path;
}

/** As people may see it: the address of a database without its password. */
export function shownPlace(place: StorePlace): string {
  if (!('url' in place)) return place.path;
  const url = new URL(place.url);
  url.password = '';
  return url.href;
}

function refuseBesideKey(path: string): void {
  const folder = dirname(path);
  if (existsSync(path) || !existsSync(join(folder, keyName))) return;
  throw new StoreError(
    'unsafe-files',
    `the records of \`${folder}\` are in a database: name it with --store, WRIT_STORE or \`store\` in writ.yaml`,
  );
}

/**
 * Opens the store, creating what is missing (directories 0700, files 0600) and bringing an older one up to date.
 * Rejects with a StoreError.
 */
export async function openStore(options: StorePlace): Promise<Store> {
  return await usedInPlace(await openPlace(options));
}

/** Looks at a store that is there and changes nothing. Rejects with a StoreError where it cannot be used. */
export async function examineStore(place: StorePlace): Promise<ExaminedStore> {
  if (!('url' in place)) {
    refuseBesideKey(place.path);
    const { examineSqlite } = await import('./examine/examine-sqlite.ts');
    return examineSqlite(place.path);
  }
  const { examinePostgres } = await import('./examine/examine-postgres.ts');
  return await examinePostgres(place);
}

/** The same of a store that has moved, or that is not whole yet: for the commands that put that right. */
export async function openPlace(options: StorePlace): Promise<Store> {
  if (!('url' in options)) {
    refuseBesideKey(options.path);
    // A driver is loaded only where it is used.
    const { openSqliteStore } = await import('./sqlite/sqlite.ts');
    return await openSqliteStore(options);
  }
  const { openPostgresStore } = await import('./postgres/postgres.ts');
  return await openPostgresStore(options);
}

/** Opens the records of a store that is there, to be read alone; a service may be writing to it. Rejects with a StoreError. */
export async function openRecords(place: RecordsPlace): Promise<RecordReader> {
  if (!('url' in place)) {
    const { openSqliteRecords } = await import('./sqlite/record-reader.ts');
    return await openSqliteRecords(place.path);
  }
  const { openPostgresRecords } = await import('./postgres/record-reader.ts');
  return await openPostgresRecords(place.url);
}
