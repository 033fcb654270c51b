// A transaction that holds the locks of meters which several processes enter, so that what is decided under it is stored.
// INVARIANT: locks are taken in one order, so no two processes wait for each other.

import type { MeterPlace } from '../contract/metering.ts';
import type { Connection } from './server/connection.ts';

/** Rejects with what the server reported; nothing is stored then unless the connection is lost. */
export async function withMetersLocked<T>(
  connection: Connection,
  places: readonly MeterPlace[],
  work: () => Promise<T>,
): Promise<T> {
  const query = (text: string, values: readonly unknown[] = []) => connection.query({ text }, values);
  await query('BEGIN');
  try {
    await query('SELECT writ_lock_meters($1, $2)', [
      places.map(({ definition }) => definition),
      places.map(({ key }) => key),
    ]);
    const done = await work();
    await query('COMMIT');
    return done;
  } catch (error) {
    if (!connection.isLost()) await query('ROLLBACK').catch(() => connection.destroy());
    throw error;
  }
}
