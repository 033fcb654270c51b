// Examines an SQLite file of records. INVARIANT: nothing is created, migrated or locked, whatever is found.

import Database from 'better-sqlite3';
import { checkDataFiles } from '../contract/file-guards.ts';
import {
  existingMasterKey,
  knownMasterKey,
  masterKeyCheck,
  masterKeyMismatch,
} from '../contract/master-key.ts';
import type { SchemaVersions } from '../contract/schema-version.ts';
import { sealKeyOf } from '../contract/seal.ts';
import { nameOfDifference } from '../contract/state.ts';
import { firstAfter, latest, streamCursors } from '../queries/records.ts';
import { withStoreErrors } from '../sqlite/file/errors.ts';
import { isServedByProcess } from '../sqlite/file/serving-lock.ts';
import { schemaOfFile } from '../sqlite/migrate.ts';
import { createSyncQueryRunner } from '../sqlite/query-runner.ts';
import { checkStored, quickRowsMax } from '../sqlite/seal/seal-check.ts';
import { type ExaminedStore, examinedCursor, sequenceOf } from './examined-store.ts';

const busyTimeoutMs = 5_000;

/** Returns what can be seen of the store. Throws a StoreError when the store cannot be used. */
export function examineSqlite(path: string): ExaminedStore {
  return withStoreErrors(path, () => {
    checkDataFiles(path);
    const key = existingMasterKey(path);
    const database = new Database(path, { readonly: true, fileMustExist: true, timeout: busyTimeoutMs });
    try {
      // Everything is read at one moment, even while a service writes.
      database.exec('BEGIN');
      const keyId = knownMasterKey(database);
      if (keyId !== null && keyId !== masterKeyCheck(key)) throw masterKeyMismatch(`${path}.key`);
      const { actual: found, own } = schemaOfFile(database);
      const isEarlier = found !== own;
      const { all } = createSyncQueryRunner(database);
      return {
        isEarlier,
        isServed: isServedByProcess(path),
        newestMs: isEarlier ? null : (all(latest)[0]?.atMs ?? null),
        serverMs: null,
        difference: isEarlier ? null : firstDifference(database, key),
        cursors: isEarlier
          ? []
          : all(streamCursors).map((stored) =>
              examinedCursor(stored, all(firstAfter(sequenceOf(stored)))[0]?.atMs ?? null),
            ),
      };
    } finally {
      database.close();
    }
  });
}

/** Returns the schema of the file, and that of this version. Throws a StoreError. */
export function sqliteSchemaVersions(path: string): SchemaVersions {
  return withStoreErrors(path, () => {
    const database = new Database(path, { readonly: true, fileMustExist: true, timeout: busyTimeoutMs });
    try {
      return schemaOfFile(database);
    } finally {
      database.close();
    }
  });
}

function firstDifference(database: Database.Database, masterKey: Uint8Array): string | null {
  const checking = checkStored(database, { key: sealKeyOf(masterKey), rowsMax: quickRowsMax });
  let step = checking.next();
  while (step.done !== true) step = checking.next();
  const [first] = step.value;
  return first === undefined ? null : `${nameOfDifference(first)}: ${first.message}`;
}
