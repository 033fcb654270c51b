// Opens the store at a configured place. A new kind of store adds a line to this file.

import { existsSync } from 'node:fs';
import { dirname, join } from 'node:path';
import type { Durability } from './contract/durability.ts';
import type { RecordReader, RecordsLocation } from './contract/log.ts';
import type { SchemaVersions } from './contract/schema-version.ts';
import type { Store } from './contract/store.ts';
import { StoreError } from './contract/store-error.ts';
import type { ExaminedStore } from './examine/examined-store.ts';
import { noteBackup, withPlacementChecked } from './move/placement.ts';
import type { PostgresOptions } from './postgres/postgres.ts';
import type { SqliteOptions } from './sqlite/sqlite.ts';

export type StoreLocation = SqliteOptions | PostgresOptions;

/**
 * The master key of a database. A directory that has it must not get a new file, which would lack the records
 * of the database.
 */
const keyName = 'writ.key';

interface ConfiguredStore {
  /** The data directory, which holds the master key and, without a database, the file of the store. */
  readonly data: string;
  /** Address of a PostgreSQL database; null for a file. */
  readonly database: string | null;
  /** What the database must promise to a process that serves. */
  readonly durability?: Durability;
}

export function storeLocationOf({ data, database, durability }: ConfiguredStore): StoreLocation {
  return database === null
    ? { path: join(data, 'writ.db') }
    : { url: database, keyFile: join(data, keyName), ...(durability === undefined ? {} : { durability }) };
}

/** Returns the file that must exist already, unless the store is to be created. */
export function fileOf(location: StoreLocation): string {
  return 'url' in location ? location.keyFile : location.path;
}

/** Returns the place as people may see it: the address of a database without its password. */
export function displayLocation(location: StoreLocation): string {
  if (!('url' in location)) return location.path;
  const url = new URL(location.url);
  url.password = '';
  return url.href;
}

/** Throws a StoreError when the records of this directory are in a database, which has no file here. */
export function refuseMovedStore(path: string): void {
  const folder = dirname(path);
  if (existsSync(path) || !existsSync(join(folder, keyName))) return;
  throw new StoreError(
    'unsafe-files',
    `the records of \`${folder}\` are in a database: name it with --store, WRIT_STORE or \`store\` in writ.yaml`,
  );
}

/**
 * Opens the store. Creates what is missing (directories 0700, files 0600). A store of an earlier version is
 * refused unless `isUpgradeAllowed`. Rejects with a StoreError.
 */
export async function openStore(options: StoreLocation): Promise<Store> {
  return await withPlacementChecked(await openStoreAt(options));
}

/** Returns the schema of an existing store, and that of this version. Rejects with a StoreError. */
export async function schemaVersionsOf(location: StoreLocation): Promise<SchemaVersions> {
  if (!('url' in location)) {
    refuseMovedStore(location.path);
    const { sqliteSchemaVersions } = await import('./examine/examine-sqlite.ts');
    return sqliteSchemaVersions(location.path);
  }
  const { postgresSchemaVersions } = await import('./examine/examine-postgres.ts');
  return await postgresSchemaVersions(location.url);
}

/** A store that can be copied, of this version or an earlier one. */
export interface CopySource {
  /** Whether an earlier version wrote the store; its copy is one for that version, and is not examined. */
  readonly isEarlier: boolean;
  copyTo(target: string): Promise<void>;
  /** Notes in the store that a backup was made. */
  noteBackup(atMs: number): Promise<void>;
  close(): Promise<void>;
}

/** Opens a store to copy it, which upgrades neither the store nor the copy. Rejects with a StoreError. */
export async function openToCopy(location: StoreLocation): Promise<CopySource> {
  try {
    const store = await openStore(location);
    return {
      isEarlier: false,
      copyTo: (target) => store.copyTo(target),
      noteBackup: (atMs) => noteBackup(store, atMs),
      close: () => store.close(),
    };
  } catch (error) {
    const isEarlier = error instanceof StoreError && error.code === 'older-database';
    if (!isEarlier || 'url' in location) throw error;
    const { copyDatabase } = await import('./sqlite/file/copy.ts');
    return {
      isEarlier,
      copyTo: (target) => copyDatabase(location.path, target),
      // Only the earlier version writes to its store.
      noteBackup: async () => {},
      close: async () => {},
    };
  }
}

/**
 * Examines an existing store and changes nothing. Rejects with a StoreError when the store cannot be used.
 */
export async function examineStore(location: StoreLocation): Promise<ExaminedStore> {
  if (!('url' in location)) {
    refuseMovedStore(location.path);
    const { examineSqlite } = await import('./examine/examine-sqlite.ts');
    return examineSqlite(location.path);
  }
  const { examinePostgres } = await import('./examine/examine-postgres.ts');
  return await examinePostgres(location);
}

/**
 * Opens a store as `openStore` does, even if it has moved or is not whole yet: for the commands that put that
 * right. Rejects with a StoreError.
 */
export async function openStoreAt(options: StoreLocation): Promise<Store> {
  if (!('url' in options)) {
    refuseMovedStore(options.path);
    // Each driver is loaded only when it is used.
    const { openSqliteStore } = await import('./sqlite/sqlite.ts');
    return await openSqliteStore(options);
  }
  const { openPostgresStore } = await import('./postgres/postgres.ts');
  return await openPostgresStore(options);
}

/**
 * Opens the records of an existing store for reading only; a service may be writing to it. Rejects with a
 * StoreError.
 */
export async function openRecords(location: RecordsLocation): Promise<RecordReader> {
  if (!('url' in location)) {
    const { openSqliteRecords } = await import('./sqlite/record-reader.ts');
    return await openSqliteRecords(location.path);
  }
  const { openPostgresRecords } = await import('./postgres/record-reader.ts');
  return await openPostgresRecords(location.url);
}
