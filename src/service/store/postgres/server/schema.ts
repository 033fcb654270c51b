// Brings a database to the tables of this version, step by step, from an empty database or an earlier
// version. INVARIANT: a database that Writ did not make, that a later version made, or that an earlier
// version is serving, is refused before anything in it is changed; so is that of an earlier version, unless
// the caller upgrades it on purpose. A process of an earlier version stores nothing once it is upgraded.

import { readdirSync, readFileSync } from 'node:fs';
import { masterKeyCheck, masterKeyMismatch, masterKeySetting, readKeyOf } from '../../contract/master-key.ts';
import { newerSchema, olderSchema, type SchemaVersions } from '../../contract/schema-version.ts';
import { StoreError } from '../../contract/store-error.ts';
import type { Connection } from './connection.ts';

/** A process that has not been seen for this long has ended. */
const goneAfterSeconds = 5;

/** SQL condition on a row of `replicas`. */
export const isServing = `instance IS NOT NULL AND seen_at >= clock_timestamp() - interval '${goneAfterSeconds} s'`;

const store = 'the database';
const folder = new URL('./migrations/', import.meta.url);
/**
 * The versions of the schema, each with a migration file; after the last one that runs, all functions are
 * created again.
 */
const steps: readonly number[] = readdirSync(folder)
  .filter((name) => /^\d{3}\.sql$/.test(name))
  .map((name) => Number.parseInt(name, 10))
  .sort((a, b) => a - b);
const [first = 0, latest = 0] = [steps[0], steps.at(-1)];
/** The first version whose requests and events have seals. */
const firstSealed = 9;
/** A step may rebuild the indexes of a large database. */
const stepMaxMs = 60 * 60 * 1000;

/**
 * The advisory lock by which two processes that find the same empty database create its tables one after the
 * other.
 */
const makingLock = 0x57524954;

/**
 * Creates the tables in an empty database, and migrates those of an earlier version where that is allowed;
 * `sealEarlier` seals the rows of a version without seals, in the same transaction. Rejects with a StoreError, or with
 * what the server reported.
 */
export async function prepareSchema(
  connection: Connection,
  {
    isUpgradeAllowed,
    sealEarlier,
  }: { readonly isUpgradeAllowed: boolean; readonly sealEarlier: () => Promise<void> },
): Promise<void> {
  await connection.query({ text: 'BEGIN' });
  await connection.query({ text: 'SELECT pg_advisory_xact_lock($1)' }, [makingLock]);
  const version = await schemaVersion(connection);
  if (version === 0 || isUpgradeAllowed) {
    if (version < latest) await migrate(connection, version);
    if (version > 0 && version < firstSealed) await sealEarlier();
    // The tables of the search follow from the records, so they may be added at any later start.
    await connection.query({ text: readFileSync(new URL('../search/search.sql', import.meta.url), 'utf8') });
  } else if (version < latest) throw olderSchema({ store, actual: version, own: latest });
  await connection.query({ text: 'COMMIT' });
}

async function migrate(connection: Connection, version: number): Promise<void> {
  if (version > 0) await takeFromEarlier(connection);
  for (const step of steps.filter((step) => step > version))
    await run(connection, `migrations/${String(step).padStart(3, '0')}.sql`);
  await run(connection, 'functions.sql');
  await connection.query({ text: 'UPDATE control SET schema_version = $1' }, [latest]);
}

/**
 * Ends the right of every process of an earlier version to store: of one that has been paused for so long
 * that it no longer counts as serving, too. Rejects when one serves.
 */
async function takeFromEarlier(connection: Connection): Promise<void> {
  // Nobody claims a slot, stores in one or changes the version until the migration ends.
  await connection.query({ text: 'LOCK TABLE replicas, control IN EXCLUSIVE MODE' });
  if (await isServed(connection))
    throw new StoreError(
      'already-served',
      'processes of an earlier version of Writ serve this database: stop them, then start this one',
    );
  await connection.query({ text: 'UPDATE replicas SET epoch = epoch + 1, instance = NULL' });
}

async function run(connection: Connection, file: string): Promise<void> {
  const text = readFileSync(new URL(file, import.meta.url), 'utf8');
  await connection.query({ text, answerMaxMs: stepMaxMs });
}

export async function isServed(connection: Connection): Promise<boolean> {
  const serving = await connection.query({
    text: `SELECT 1 FROM replicas WHERE ${isServing} LIMIT 1`,
  });
  return serving.length > 0;
}

/** Rejects with a StoreError when this version cannot use the database. */
export async function schemaOfDatabase(connection: Connection): Promise<SchemaVersions> {
  return { actual: await schemaVersion(connection), own: latest };
}

/** Rejects with a StoreError when the database does not have the tables of this version. */
export async function requireSchema(connection: Connection): Promise<void> {
  const version = await schemaVersion(connection);
  if (version === latest) return;
  if (version > 0) throw olderSchema({ store, actual: version, own: latest });
  throw new StoreError(
    'older-database',
    'the database is empty: start the service once, which makes its tables',
  );
}

/**
 * A statement for the transaction of a process that serves no slot: it fails once another version has
 * migrated the database, and keeps others from migrating it until the transaction ends.
 */
export const keepSchema = `DO $$ BEGIN
  IF (SELECT schema_version FROM control FOR SHARE) <> ${latest} THEN
    RAISE EXCEPTION 'another version of Writ has migrated this database' USING ERRCODE = 'WR007';
  END IF;
END $$`;

/** SQL condition that holds while the database has the tables of this version. */
export const isOwnSchema = `EXISTS (SELECT FROM control WHERE schema_version = ${latest})`;

/**
 * Returns the version of the schema, 0 when the database is empty. Rejects with a StoreError when this
 * version of Writ cannot use the database.
 */
async function schemaVersion(connection: Connection): Promise<number> {
  const tables = await connection.query<{ readonly name: string }>({
    text: 'SELECT tablename AS name FROM pg_tables WHERE schemaname = current_schema()',
  });
  if (tables.length === 0) return 0;
  const names = new Set(tables.map(({ name }) => name));
  if (!['control', 'replicas', 'chain_end', 'requests'].every((name) => names.has(name))) throw foreign();
  const [control] = await connection.query<{ readonly version: number }>({
    text: 'SELECT schema_version AS version FROM control',
  });
  const version = control?.version ?? 0;
  if (version > latest) throw newerSchema({ store, actual: version, own: latest });
  if (version < first)
    throw new StoreError(
      'older-database',
      `the database was made by an earlier version of Writ (schema ${version}, this one knows those from ${first} on): name an empty one`,
    );
  return version;
}

function foreign(): StoreError {
  const message = 'the database has tables of another program: name an empty database for the store';
  return new StoreError('foreign-database', message);
}

/**
 * Returns the master key in the file; creates one for a new database. Rejects when the key is not that of
 * this database.
 */
export async function keyOfDatabase(connection: Connection, keyFile: string): Promise<Buffer> {
  const key = readKeyOf(keyFile, (await knownKeyOf(connection)) !== null);
  await connection.query(
    { text: 'INSERT INTO settings (name, value) VALUES ($1, $2) ON CONFLICT DO NOTHING' },
    [masterKeySetting, masterKeyCheck(key)],
  );
  if ((await knownKeyOf(connection)) !== masterKeyCheck(key)) throw masterKeyMismatch(keyFile);
  return key;
}

/** Returns the digest that the database keeps of its master key; null when it keeps none. */
export async function knownKeyOf(connection: Connection): Promise<string | null> {
  const text = 'SELECT value FROM settings WHERE name = $1';
  const [setting] = await connection.query<{ readonly value: string }>({ text }, [masterKeySetting]);
  return setting?.value ?? null;
}
