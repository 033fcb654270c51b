// Reads the records of a PostgreSQL database without changing it. INVARIANT: the reader writes nothing, and
// reads nothing from a database of another schema.

import type { LogRecord, RecordReader } from '../contract/log.ts';
import { settledSequence } from './chain.ts';
import { numberBefore } from './request-lists.ts';
import { connect } from './server/connection.ts';
import { toStoreFailure } from './server/errors.ts';
import { createReadPool, type Rows } from './server/read-pool.ts';
import { requireSchema } from './server/schema.ts';

/** Opens the records for reading only. Rejects with a StoreError. */
export async function openPostgresRecords(url: string): Promise<RecordReader> {
  const connection = await connect(url);
  try {
    await requireSchema(connection);
  } catch (error) {
    throw toStoreFailure(error);
  } finally {
    await connection.end();
  }
  const { rows, snapshot, close } = createReadPool(url);
  return {
    records: (after, countMax) => snapshot((rows) => readRecords(rows, after, after + countMax)),
    extent: () => readExtent(rows),
    numberBefore: (atMs) => numberBefore({ snapshot }, atMs),
    close,
  };
}

/** The columns under the names that readers know. */
const columns = {
  requests: `'request' AS kind, sequence, id, action_key AS action, created_ms AS "createdAtMs",
    expires_ms AS "expiresAtMs", record_json AS "recordJson"`,
  request_events: `'event' AS kind, sequence, request_id AS "requestId", at_ms AS "atMs", what,
    expires_ms AS "expiresAtMs", detail_json AS "detailJson"`,
  changes: `'step-up' AS kind, sequence, subject AS "agentId", at_ms AS "atMs"`,
} as const;

async function readRecords(rows: Rows, after: number, upTo: number): Promise<readonly LogRecord[]> {
  const read = (table: keyof typeof columns, and = '') =>
    rows<LogRecord>(
      `SELECT ${columns[table]} FROM ${table} WHERE sequence > $1 AND sequence <= $2 ${and} ORDER BY sequence`,
      [after, upTo],
    );
  const found = [
    ...(await read('requests')),
    ...(await read('request_events')),
    ...(await read('changes', "AND what = 'stepped-up'")),
  ];
  return found.sort((a, b) => a.sequence - b.sequence);
}

async function readExtent(rows: Rows): ReturnType<RecordReader['extent']> {
  const lastSequence = await settledSequence(rows);
  const [extent] = await rows<{ readonly prunedTo: number | null }>(
    `SELECT max(sequence) AS "prunedTo" FROM checkpoints WHERE purpose = 'pruned'`,
  );
  const prunedTo = extent?.prunedTo ?? null;
  return { prunedTo, lastSequence: Math.max(lastSequence, prunedTo ?? 0) };
}
