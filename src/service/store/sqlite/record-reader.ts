// Reads the records of an SQLite file without changing it. INVARIANT: the reader writes nothing, so it can
// run beside a service whatever happens to either, and it reads nothing from a file of another schema.

import Database from 'better-sqlite3';
import type { LogRecord, RecordReader } from '../contract/log.ts';
import { prepareChainReads } from './chain/chain-reads.ts';
import { withStoreErrors } from './file/errors.ts';
import { checkSchemaVersion } from './migrate.ts';
import { prepareNumbers } from './request-lists.ts';

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
  const { stretch } = prepareChainReads(database);
  const { numberBefore } = prepareNumbers(database);
  const logRecords = prepareLogRecords(database);
  return {
    records: async (after, countMax) => withStoreErrors(path, () => logRecords(after, countMax)),
    extent: async () => {
      const { pruning, lastSequence } = withStoreErrors(path, () => stretch(0, 0));
      return { prunedTo: pruning?.sequence ?? null, lastSequence };
    },
    numberBefore: async (atMs) => withStoreErrors(path, () => numberBefore(atMs)),
    close: async () => void database.close(),
  };
}

/** The columns under the names that readers know, so that no row has to be copied. */
const columns = {
  requests: `'request' AS kind, sequence, id, action_key AS action, created_ms AS createdAtMs,
    expires_ms AS expiresAtMs, record_json AS recordJson`,
  request_events: `'event' AS kind, sequence, request_id AS requestId, at_ms AS atMs, what,
    expires_ms AS expiresAtMs, detail_json AS detailJson`,
  changes: "'step-up' AS kind, sequence, subject AS agentId, at_ms AS atMs",
} as const;

function prepareLogRecords(database: Database.Database) {
  const prepare = (table: keyof typeof columns, and = '') =>
    database.prepare<[number, number], LogRecord>(
      `SELECT ${columns[table]} FROM ${table} WHERE sequence > ? AND sequence <= ? ${and} ORDER BY sequence`,
    );
  const tables = [
    prepare('requests'),
    prepare('request_events'),
    prepare('changes', "AND what = 'stepped-up'"),
  ];
  return database.transaction((after: number, countMax: number): readonly LogRecord[] => {
    const found = tables.map((table) => table.all(after, after + countMax)).filter((all) => all.length > 0);
    const [only = []] = found;
    return found.length < 2 ? only : found.flat().sort((a, b) => a.sequence - b.sequence);
  });
}
