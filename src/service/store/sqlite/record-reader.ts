// The records of an SQLite file for a reader alone. INVARIANT: it writes nothing, so that it can read beside a service
// whatever happens to it, and of a file of another schema it reads nothing.

import Database from 'better-sqlite3';
import type { RecordReader } from '../contract/store.ts';
import { withStoreErrors } from './file/errors.ts';
import { checkSchemaVersion } from './migrate.ts';
import { prepareReads } from './reads.ts';

const busyTimeoutMs = 5_000;

/** Rejects with a StoreError, also where the schema is an earlier one, which the service brings up to date. */
export async function openSqliteRecords(path: string): Promise<RecordReader> {
  return withStoreErrors(path, () => {
    const database = new Database(path, { readonly: true, fileMustExist: true, timeout: busyTimeoutMs });
    try {
      checkSchemaVersion(database);
      const { stretch, numberBefore } = prepareReads(database);
      return {
        stretch: async (after, countMax) => withStoreErrors(path, () => stretch(after, countMax)),
        numberBefore: async (atMs) => withStoreErrors(path, () => numberBefore(atMs)),
        close: async () => void database.close(),
      };
    } catch (error) {
      database.close();
      throw error;
    }
  });
}
