// Brings a database to the tables of this version, step by step, from an empty database or an earlier
// version. INVARIANT: a database that Writ did not make, that a later version made, or that an earlier
// version is serving, is refused before anything in it is changed.

import { readFileSync } from 'node:fs';
import { masterKeyCheck, masterKeyMismatch, masterKeySetting, readKeyOf } from '../../contract/master-key.ts';
import { StoreError } from '../../contract/store-error.ts';
import type { Connection } from './connection.ts';
import { isServing } from './serving.ts';

/**
 * The versions of the schema, each with a migration file; after the last one that runs, all functions are
 * created again.
 */
const steps = [3, 4, 5, 6, 7, 8, 9] as const;
const latest = 9;
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
 * Creates or migrates the tables; `sealEarlier` seals the rows of a version without seals, in the same
 * transaction. Rejects with a StoreError, or with what the server reported.
 */
export async function prepareSchema(connection: Connection, sealEarlier: () => Promise<void>): Promise<void> {
  await connection.query({ text: 'BEGIN' });
  await connection.query({ text: 'SELECT pg_advisory_xact_lock($1)' }, [makingLock]);
  const version = await schemaVersion(connection);
  if (version < latest) await migrate(connection, version);
  if (version > 0 && version < firstSealed) await sealEarlier();
  // The tables of the search follow from the records, so they may be added at any later start.
  await connection.query({ text: readFileSync(new URL('../search/search.sql', import.meta.url), 'utf8') });
  await connection.query({ text: 'COMMIT' });
}

async function migrate(connection: Connection, version: number): Promise<void> {
  if (version > 0 && (await isServed(connection)))
    throw new StoreError(
      'already-served',
      'processes of an earlier version of Writ serve this database: stop them, then start this one',
    );
  for (const step of steps.filter((step) => step > version))
    await run(connection, `migrations/${String(step).padStart(3, '0')}.sql`);
  await run(connection, 'functions.sql');
  await connection.query({ text: 'UPDATE control SET schema_version = $1' }, [latest]);
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

/** Rejects with a StoreError when the database does not have the tables of this version. */
export async function requireSchema(connection: Connection): Promise<void> {
  const version = await schemaVersion(connection);
  if (version === latest) return;
  throw new StoreError(
    'older-database',
    version === 0
      ? 'the database is empty: start the service once, which makes its tables'
      : `the database was made by an earlier version of Writ (schema ${version}): start the service once, which brings it up to date`,
  );
}

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
  if (version > latest)
    throw new StoreError(
      'newer-database',
      `the database was made by a later version of Writ (schema ${version}, this one knows ${latest}): run that version`,
    );
  if (version < steps[0])
    throw new StoreError(
      'older-database',
      `the database was made by an earlier version of Writ (schema ${version}, this one knows those from ${steps[0]} on): name an empty one`,
    );
  return version;
}

function foreign(): StoreError {
  const message = 'the database holds tables of another program: name an empty database for the store';
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
  const [found] = await connection.query<{ readonly value: string }>({ text }, [masterKeySetting]);
  return found?.value ?? null;
}
