// Brings an SQLite file from any earlier schema to the present one, one numbered SQL file at a time.
// INVARIANT: a database that Writ did not write, or that a later version wrote, is refused before anything in
// it is changed; so is that of an earlier version, unless the caller serves it and upgrades it on purpose.

import { readdirSync, readFileSync } from 'node:fs';
import type { Database } from 'better-sqlite3';
import { masterKeyCheck } from '../contract/master-key.ts';
import { newerSchema, olderSchema, type SchemaVersions } from '../contract/schema-version.ts';
import { type SealKey, sealKeyOf } from '../contract/seal.ts';
import { nameOfDifference } from '../contract/state.ts';
import { StoreError, tampered } from '../contract/store-error.ts';
import { chainEarlierRecords } from '../shared/chain-earlier.ts';
import { prepareChainEnd } from './chain/chain.ts';
import { type Schema, schemaDifference, schemaMadeBy } from './seal/schema.ts';
import { readSeal, sealAll } from './seal/seal.ts';
import { checkSeal } from './seal/seal-check.ts';
import { firstSealed, sealEarlierRecords } from './seal/seal-earlier.ts';

/** "WRIT", as the first migration sets it. */
const applicationId = 0x57524954;
const folder = new URL('./migrations/', import.meta.url);

/** Steps that SQL cannot do, by the version after whose SQL file they run. */
const stepsAfter: Readonly<Record<number, (database: Database) => void>> = { 2: chainEarlierRecords };

export interface MigrateOptions {
  readonly masterKey: Uint8Array;
  /**
   * Whether the master key notes that this database has a seal; then a missing seal is an error and none is
   * made.
   */
  readonly isSealed: boolean;
  /**
   * Whether an earlier schema may be brought up to date. Only a process that holds the serving lock may do
   * so: the service of an earlier version would go on writing what no longer fits.
   */
  readonly isUpgradeAllowed: boolean;
}

/** What all migrations make: made at the first database that is opened. */
let presentSchema: Schema | null = null;

/**
 * Applies the missing migrations in one transaction and seals the database. Throws StoreError, or what SQLite
 * throws.
 */
export function migrate(database: Database, options: MigrateOptions): void {
  const latest = latestVersion();
  const refuseEarlier = (version: number): void => {
    if (version === 0 || version === latest || options.isUpgradeAllowed) return;
    throw olderSchema({ store: `\`${database.name}\``, actual: version, own: latest });
  };
  const initialVersion = schemaVersion(database, latest);
  refuseEarlier(initialVersion);
  if (initialVersion !== latest) {
    // The version is read again under the lock, since another process may have migrated meanwhile.
    const apply = database.transaction(() => {
      const present = schemaVersion(database, latest);
      if (present === latest) return;
      refuseEarlier(present);
      const key = sealKeyOf(options.masterKey);
      checkEarlier(database, key, options);
      applyAfter(database, present);
      if (present > 0 && present < firstSealed) sealEarlierRecords(database, key);
      database
        .prepare<[string]>("INSERT OR IGNORE INTO settings VALUES ('master_key_check', ?)")
        .run(masterKeyCheck(options.masterKey));
      sealAll(database, key, prepareChainEnd(database)());
    });
    apply.immediate();
  }
  presentSchema ??= schemaMadeBy((empty) => applyAfter(empty, 0));
  const difference = schemaDifference(database, presentSchema);
  if (difference === null) return;
  const advice = 'undo the change to the schema, or restore a backup';
  throw new StoreError('tampered', `in \`${database.name}\` ${difference}: ${advice}`);
}

/** Throws StoreError when the database is not of the present schema. */
export function checkSchemaVersion(database: Database): void {
  const { actual: found, own } = schemaOfFile(database);
  if (found !== own) throw olderSchema({ store: `\`${database.name}\``, actual: found, own });
}

/**
 * Returns a function that throws a StoreError when a later version has upgraded the database since this
 * process opened it.
 */
export function prepareSchemaCheck(database: Database): () => void {
  const latest = latestVersion();
  const version = database.prepare<[], number>('PRAGMA user_version').pluck();
  return () => {
    const stored = version.get() ?? 0;
    if (stored !== latest) throw newerSchema({ store: `\`${database.name}\``, actual: stored, own: latest });
  };
}

/** Throws StoreError when this version cannot use the database. */
export function schemaOfFile(database: Database): SchemaVersions {
  const latest = latestVersion();
  return { actual: schemaVersion(database, latest), own: latest };
}

/**
 * Returns the schema version of a database that has to be brought up to date; null when there is nothing to
 * do. Throws StoreError.
 */
export function schemaVersionBefore(database: Database): number | null {
  const { actual: found, own } = schemaOfFile(database);
  return found === 0 || found === own ? null : found;
}

function latestVersion(): number {
  return versionOf(migrationFiles().at(-1) ?? '');
}

function migrationFiles(): readonly string[] {
  return readdirSync(folder)
    .filter((name) => /^\d{3}\.sql$/.test(name))
    .sort();
}

function applyAfter(database: Database, present: number): void {
  for (const file of migrationFiles().filter((name) => versionOf(name) > present)) {
    database.exec(readFileSync(new URL(file, folder), 'utf8'));
    stepsAfter[versionOf(file)]?.(database);
    database.pragma(`user_version = ${versionOf(file)}`);
  }
}

/**
 * Throws StoreError when something was changed behind the service's back, so that the new seal does not cover
 * it.
 */
function checkEarlier(database: Database, key: SealKey, { isSealed }: MigrateOptions): void {
  const hasSeal =
    database.prepare("SELECT 1 FROM sqlite_schema WHERE name = 'state_seal'").get() !== undefined;
  if (!hasSeal) {
    if (isSealed) throw tampered(`the seal of \`${database.name}\` is missing`);
    return;
  }
  const checking = checkSeal(database, { key, rowsMax: null });
  let step = checking.next();
  while (step.done !== true) step = checking.next();
  const [first] = step.value;
  if (first !== undefined)
    throw tampered(`${nameOfDifference(first)} in \`${database.name}\`: ${first.message}`);
  const [sealed, found] = [readSeal(database, key)?.version, numberOf(database, 'user_version')];
  if (sealed !== found) throw tampered(`the schema of \`${database.name}\` calls itself version ${found}`);
}

/**
 * Returns the version of the schema, 0 when the database is empty. Throws StoreError for a database of
 * another program or of a later version.
 */
function schemaVersion(database: Database, latest: number): number {
  const version = numberOf(database, 'user_version');
  const tables = database.prepare<[], { count: number }>('SELECT count(*) AS count FROM sqlite_schema').get();
  const isEmpty = version === 0 && tables?.count === 0;
  if (!isEmpty && numberOf(database, 'application_id') !== applicationId) {
    throw new StoreError(
      'foreign-database',
      `\`${database.name}\` is a database of another program: name a new file for the store`,
    );
  }
  if (version > latest) throw newerSchema({ store: `\`${database.name}\``, actual: version, own: latest });
  return version;
}

function numberOf(database: Database, pragma: 'user_version' | 'application_id'): number {
  return Number(database.pragma(pragma, { simple: true }));
}

function versionOf(file: string): number {
  return Number.parseInt(file, 10);
}
