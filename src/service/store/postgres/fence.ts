// The right to store: a process that serves claims a slot and raises its epoch, and each of its batches names both. INVARIANT:
// once another process has claimed the slot, no batch of this one is stored, however late it comes.

import { randomUUID } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { StoreError } from '../contract/store-error.ts';
import type { Connection } from './connection.ts';

/** What a batch names; all null for a process that does not serve. */
export interface Fence {
  readonly slot: number | null;
  readonly epoch: number | null;
  /** The number of the batch. */
  readonly batch: number | null;
}

export const noFence: Fence = { slot: null, epoch: null, batch: null };

interface Claimed {
  readonly epoch: number;
  readonly batch: number;
}

/** Who has not been seen for so long has ended. */
const goneAfterSeconds = 5;
const lookAgainMs = 250;
const looks = (goneAfterSeconds * 1000) / lookAgainMs + 4;

/** One process counts meters and keeps caches for itself, so a second one is refused. */
const servingSlot = 0;

/** A server that may forget what it has acknowledged, or that takes no writes, serves nobody. Rejects with a StoreError. */
export async function checkServer(connection: Connection): Promise<void> {
  const [found] = await connection.query<{ readonly fault: string | null }>({
    text: `SELECT CASE
      WHEN pg_is_in_recovery() THEN 'is a standby: name the primary'
      WHEN current_setting('fsync') <> 'on' THEN 'runs with fsync off, and may lose what it has acknowledged: set it on'
      WHEN current_setting('full_page_writes') <> 'on'
        THEN 'runs with full_page_writes off, and may lose what it has acknowledged: set it on'
      END AS fault`,
  });
  if (found?.fault == null) return;
  throw new StoreError('unwritable', `the server of the database ${found.fault}`);
}

/** Waits for the end of a process that may have ended without saying so. Rejects with a StoreError. */
export async function claimSlot(connection: Connection): Promise<Fence> {
  const instance = randomUUID();
  for (let look = 0; look < looks; look += 1) {
    const [claimed] = await connection.query<Claimed>(
      {
        text: `UPDATE replicas SET epoch = epoch + 1, instance = $2, seen_at = clock_timestamp()
          WHERE slot = $1 AND (instance IS NULL OR seen_at < clock_timestamp() - interval '${goneAfterSeconds} s')
          RETURNING epoch, batch`,
      },
      [servingSlot, instance],
    );
    if (claimed !== undefined) return fenceOf(claimed);
    await sleep(lookAgainMs);
  }
  throw new StoreError(
    'already-served',
    'another process serves this database, and a second replica is not supported: stop that one first, or name another database',
  );
}

/**
 * After a broken connection: from here on nothing that was sent before can be stored any more. Waits for a batch that is
 * still under way. Null where another process has claimed the slot.
 */
export async function claimAgain(connection: Connection, { slot, epoch }: Fence): Promise<Fence | null> {
  const [claimed] = await connection.query<Claimed>(
    {
      text: `UPDATE replicas SET epoch = epoch + 1, seen_at = clock_timestamp()
        WHERE slot = $1 AND epoch = $2 RETURNING epoch, batch`,
    },
    [slot, epoch],
  );
  return claimed === undefined ? null : fenceOf(claimed);
}

/** Says that this process is alive; false where another has claimed the slot. */
export async function keepSlot(connection: Connection, { slot, epoch }: Fence): Promise<boolean> {
  const kept = await connection.query(
    {
      name: 'keep',
      text: `UPDATE replicas SET seen_at = clock_timestamp() WHERE slot = $1 AND epoch = $2 RETURNING slot`,
    },
    [slot, epoch],
  );
  return kept.length > 0;
}

export async function releaseSlot(connection: Connection, { slot, epoch }: Fence): Promise<void> {
  await connection.query({ text: 'UPDATE replicas SET instance = NULL WHERE slot = $1 AND epoch = $2' }, [
    slot,
    epoch,
  ]);
}

function fenceOf({ epoch, batch }: Claimed): Fence {
  return { slot: servingSlot, epoch, batch: batch + 1 };
}
