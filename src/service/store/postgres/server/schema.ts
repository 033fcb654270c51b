// An empty database into one with the tables of a store. INVARIANT: a database that Writ did not make, or that a later version
// made, is refused before anything in it is changed.

import { readFileSync } from 'node:fs';
import { masterKeyCheck, masterKeyMismatch, masterKeySetting, readKeyOf } from '../../contract/master-key.ts';
import { StoreError } from '../../contract/store-error.ts';
import type { Connection } from './connection.ts';

/** The version that the schema gives itself. */
const latest = 4;

/** Two processes that find the same empty database make its tables one after the other. */
const makingLock = 0x57524954;

/** Rejects with a StoreError, or with what the server reported. */
export async function prepareSchema(connection: Connection): Promise<void> {
  await connection.query({ text: 'BEGIN' });
  await connection.query({ text: 'SELECT pg_advisory_xact_lock($1)' }, [makingLock]);
  const version = await schemaVersion(connection);
  if (version === 0)
    await connection.query({ text: readFileSync(new URL('schema.sql', import.meta.url), 'utf8') });
  await connection.query({ text: 'COMMIT' });
}

/** Rejects with a StoreError where the database has no tables of a store. */
export async function requireSchema(connection: Connection): Promise<void> {
  if ((await schemaVersion(connection)) === 0)
    throw new StoreError(
      'older-database',
      'the database is empty: start the service once, which makes its tables',
    );
}

/** 0 where the database is empty. */
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
  if (version < latest)
    throw new StoreError(
      'older-database',
      `the database was made by an earlier version of Writ (schema ${version}, this one makes ${latest}): name an empty one`,
    );
  return version;
}

function foreign(): StoreError {
  const message = 'the database holds tables of another program: name an empty database for the store';
  return new StoreError('foreign-database', message);
}

/** The master key in the file; a new one for a new database. Rejects where it is not the key of this database. */
export async function keyOfDatabase(connection: Connection, keyFile: string): Promise<Buffer> {
  const known = async () => {
    const text = 'SELECT value FROM settings WHERE name = $1';
    const [found] = await connection.query<{ readonly value: string }>({ text }, [masterKeySetting]);
    return found?.value ?? null;
  };
  const key = readKeyOf(keyFile, (await known()) !== null);
  await connection.query(
    { text: 'INSERT INTO settings (name, value) VALUES ($1, $2) ON CONFLICT DO NOTHING' },
    [masterKeySetting, masterKeyCheck(key)],
  );
  if ((await known()) !== masterKeyCheck(key)) throw masterKeyMismatch(keyFile);
  return key;
}
