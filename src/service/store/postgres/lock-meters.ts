// A transaction that holds the locks of meters which several processes enter, so that what is decided under it is stored.
// INVARIANT: locks are taken in one order, so no two processes wait for each other.

import type { MeterPlace } from '../contract/metering.ts';
import type { Connection } from './server/connection.ts';

export interface UnderLock<T> {
  /** Sees all that was stored before the locks were had. */
  readonly look: () => Promise<void>;
  /** What is sent by then is all that is committed. */
  readonly send: () => Promise<T>;
}

/** In two round trips. Rejects with what the server reported; nothing is stored then unless the connection is lost. */
export async function withMetersLocked<T>(
  connection: Connection,
  places: readonly MeterPlace[],
  { look, send }: UnderLock<T>,
): Promise<T> {
  const query = (text: string, values: readonly unknown[] = []) => connection.query({ text }, values);
  try {
    await Promise.all([
      query('BEGIN'),
      query('SELECT writ_lock_meters($1, $2)', [
        places.map(({ definition }) => definition),
        places.map(({ key }) => key),
      ]),
      look(),
    ]);
  } catch (error) {
    if (!connection.isLost()) await query('ROLLBACK').catch(() => connection.destroy());
    throw error;
  }
  // Where what is sent fails, the server rolls back.
  const [done] = await Promise.all([send(), query('COMMIT')]);
  return done;
}
