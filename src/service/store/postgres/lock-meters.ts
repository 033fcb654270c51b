// Runs a transaction that locks meters which several processes enter, so that what is decided under the locks
// can be stored. INVARIANT: all processes take locks in one order, so no two processes wait for each other.

import type { MeterPlace } from '../contract/metering.ts';
import type { Connection } from './server/connection.ts';

export interface UnderLock<T> {
  /** Reads everything that was stored before the locks were taken. */
  readonly look: () => Promise<void>;
  /** Sends the writes. Only what is sent by the time the call returns its promise is committed. */
  readonly send: () => Promise<T>;
}

/**
 * Takes two round trips. Rejects with what the server reported; then nothing is stored, unless the connection
 * is lost.
 */
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
  // If what is sent fails, the server rolls back at COMMIT.
  const [done] = await Promise.all([send(), query('COMMIT')]);
  return done;
}
