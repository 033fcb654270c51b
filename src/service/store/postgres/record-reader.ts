// Reads the records of a PostgreSQL database without changing it. INVARIANT: the reader writes nothing, and
// reads nothing from a database of another schema.

import type { RecordReader } from '../contract/log.ts';
import { logReads } from '../queries/records.ts';
import { numberReads } from '../queries/request-lists.ts';
import { settledSequence } from './chain.ts';
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
  const { rows, queries, close } = createReadPool(url);
  return {
    ...logReads(queries),
    extent: () => readExtent(rows),
    numberBefore: numberReads(queries).numberBefore,
    close,
  };
}

async function readExtent(rows: Rows): ReturnType<RecordReader['extent']> {
  const lastSequence = await settledSequence(rows);
  const [extent] = await rows<{ readonly prunedTo: number | null }>(
    `SELECT max(sequence) AS "prunedTo" FROM checkpoints WHERE purpose = 'pruned'`,
  );
  const prunedTo = extent?.prunedTo ?? null;
  return { prunedTo, lastSequence: Math.max(lastSequence, prunedTo ?? 0) };
}
