// A transaction that holds the locks of meters which several processes enter, so that what is decided under it is stored.
// INVARIANT: locks are taken in one order, so no two processes wait for each other.

import type { Connection } from './server/connection.ts';

/** Rejects with what the server reported; nothing is stored then unless the connection is lost. */
export async function withMetersLocked<T>(
  connection: Connection,
  meters: readonly string[],
  work: () => Promise<T>,
): Promise<T> {
  const query = (text: string, values: readonly unknown[] = []) => connection.query({ text }, values);
  await query('BEGIN');
  try {
    await query(lock, [meters]);
    const done = await work();
    await query('COMMIT');
    return done;
  } catch (error) {
    if (!connection.isLost()) await query('ROLLBACK').catch(() => connection.destroy());
    throw error;
  }
}

const lock = `SELECT pg_advisory_xact_lock(lock) FROM (
  SELECT DISTINCT hashtextextended(meter, 0) AS lock FROM unnest($1::text[]) AS meter ORDER BY lock) AS locks`;
