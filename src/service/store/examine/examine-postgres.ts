// Examines a PostgreSQL database of records. INVARIANT: nothing is created, migrated or locked, whatever is
// found.

import { masterKeyCheck, masterKeyMismatch, presentKey } from '../contract/master-key.ts';
import type { SchemaVersions } from '../contract/schema-version.ts';
import { sealKeyOf } from '../contract/seal.ts';
import { nameOfDifference } from '../contract/state.ts';
import type { PostgresOptions } from '../postgres/postgres.ts';
import { type Connection, connect } from '../postgres/server/connection.ts';
import { toStoreFailure } from '../postgres/server/errors.ts';
import { createReadPool } from '../postgres/server/read-pool.ts';
import { isServed, knownKeyOf, schemaOfDatabase } from '../postgres/server/schema.ts';
import { consistencyStore } from '../postgres/state.ts';
import { chainReads, firstAfter, streamCursors } from '../queries/records.ts';
import { type ExaminedStore, examinedCursor, sequenceOf } from './examined-store.ts';

/** Returns what can be seen of the store. Rejects with a StoreError when the store cannot be used. */
export async function examinePostgres({
  url,
  keyFile,
}: Pick<PostgresOptions, 'url' | 'keyFile'>): Promise<ExaminedStore> {
  const connection = await connect(url);
  try {
    const serverMs = await clockOf(connection);
    const { actual: found, own } = await schemaOfDatabase(connection);
    if (found !== own)
      return { isEarlier: true, isServed: false, newestMs: null, serverMs, difference: null, cursors: [] };
    const keyId = await knownKeyOf(connection);
    const key = presentKey(keyFile);
    if (keyId !== null && keyId !== masterKeyCheck(key)) throw masterKeyMismatch(keyFile);
    return {
      isEarlier: false,
      isServed: await isServed(connection),
      serverMs,
      ...(await recordsOf(url, key)),
    };
  } catch (error) {
    throw toStoreFailure(error);
  } finally {
    await connection.end();
  }
}

async function recordsOf(
  url: string,
  masterKey: Uint8Array,
): Promise<Pick<ExaminedStore, 'newestMs' | 'difference' | 'cursors'>> {
  const pool = createReadPool(url);
  try {
    const [first] = await consistencyStore(pool, sealKeyOf(masterKey)).differences({ isQuick: true });
    return {
      newestMs: await chainReads(pool.queries).latestAtMs(),
      difference: first === undefined ? null : `${nameOfDifference(first)}: ${first.message}`,
      cursors: await Promise.all(
        (await pool.queries.rows(streamCursors)).map(async (stored) => {
          const [row] = await pool.queries.rows(firstAfter(sequenceOf(stored)));
          return examinedCursor(stored, row?.atMs ?? null);
        }),
      ),
    };
  } finally {
    await pool.close();
  }
}

async function clockOf(connection: Connection): Promise<number | null> {
  const text = 'SELECT extract(epoch FROM clock_timestamp())::float8 * 1000 AS "nowMs"';
  const [clockRow] = await connection.query<{ readonly nowMs: number }>({ text });
  return clockRow?.nowMs ?? null;
}

/** Returns the schema of the database, and that of this version. Rejects with a StoreError. */
export async function postgresSchemaVersions(url: string): Promise<SchemaVersions> {
  const connection = await connect(url);
  try {
    return await schemaOfDatabase(connection);
  } catch (error) {
    throw toStoreFailure(error);
  } finally {
    await connection.end();
  }
}
