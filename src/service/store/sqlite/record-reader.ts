// Reads the records of an SQLite file without changing it. INVARIANT: the reader writes nothing, so it can
// run beside a service whatever happens to either, and it reads nothing from a file of another schema.

import Database from 'better-sqlite3';
import type { RecordReader } from '../contract/log.ts';
import { logReads } from '../queries/records.ts';
import { numberReads } from '../queries/request-lists.ts';
import { prepareChainReads } from './chain/chain-reads.ts';
import { withStoreErrors } from './file/errors.ts';
import { checkSchemaVersion } from './migrate.ts';
import { createQueryRunner } from './query-runner.ts';

const busyTimeoutMs = 5_000;

/**
 * Opens the records for reading only. Rejects with a StoreError, also when the schema is an earlier one,
 * which only the service brings up to date.
 */
export async function openSqliteRecords(path: string): Promise<RecordReader> {
  return withStoreErrors(path, () => {
    const database = new Database(path, { readonly: true, fileMustExist: true, timeout: busyTimeoutMs });
    try {
      checkSchemaVersion(database);
      return readerOf(path, database);
    } catch (error) {
      database.close();
      throw error;
    }
  });
}

function readerOf(path: string, database: Database.Database): RecordReader {
  const { segment } = prepareChainReads(database);
  const queries = createQueryRunner(path, database);
  return {
    ...logReads(queries),
    extent: async () => {
      const { pruning, lastSequence } = withStoreErrors(path, () => segment(0, 0));
      return { prunedTo: pruning?.sequence ?? null, lastSequence };
    },
    numberBefore: numberReads(queries).numberBefore,
    close: async () => void database.close(),
  };
}
