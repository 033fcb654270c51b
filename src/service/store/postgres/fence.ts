// The right to store: each process that serves claims a slot and raises its epoch, and each of its batches names both.
// INVARIANT: once another process has claimed the slot, no batch of this one is stored, however late it comes.

import { randomUUID } from 'node:crypto';
import { StoreError } from '../contract/store-error.ts';
import type { Connection } from './server/connection.ts';

/** What a batch names; the first three are null for a process that does not serve. */
export interface Fence {
  readonly slot: number | null;
  readonly epoch: number | null;
  /** The number of the batch. */
  readonly batch: number | null;
  /** The name of this process. */
  readonly instance: string;
}

/** With the number of the last record: nothing that was sent under an earlier epoch comes after it. */
export interface SlotClaim {
  readonly fence: Fence;
  readonly lastSequence: number;
}

interface Claimed {
  readonly slot: number;
  readonly epoch: number;
  readonly batch: number;
}

/** Who has not been seen for so long has ended. */
export const goneAfterSeconds = 5;

export function noFence(): Fence {
  return { slot: null, epoch: null, batch: null, instance: randomUUID() };
}

/** Replicas date their records by their own clocks, which may differ by no more than this from the server's. */
const clockMaxMs = 60_000;

/**
 * A server that may forget what it has acknowledged, or that takes no writes, serves nobody, and a process whose clock is
 * wrong serves none. Rejects with a StoreError.
 */
export async function checkServer(connection: Connection): Promise<void> {
  const [found] = await connection.query<{ readonly fault: string | null; readonly nowMs: number }>({
    text: `SELECT CASE
      WHEN pg_is_in_recovery() THEN 'is a standby: name the primary'
      WHEN current_setting('fsync') <> 'on' THEN 'runs with fsync off, and may lose what it has acknowledged: set it on'
      WHEN current_setting('full_page_writes') <> 'on'
        THEN 'runs with full_page_writes off, and may lose what it has acknowledged: set it on'
      END AS fault, (extract(epoch FROM clock_timestamp()) * 1000)::int8 AS "nowMs"`,
  });
  const apartMs = Math.abs(Date.now() - (found?.nowMs ?? Number.NaN));
  if (apartMs > clockMaxMs)
    throw new StoreError(
      'unwritable',
      `the clocks of this machine and of the database's server are ${Math.round(apartMs / 1000)} s apart: set them right`,
    );
  if (found?.fault == null) return;
  throw new StoreError('unwritable', `the server of the database ${found.fault}`);
}

/** The lowest slot that nobody has. Rejects with a StoreError. */
export async function claimSlot(connection: Connection, { instance }: Fence): Promise<SlotClaim> {
  const [claimed] = await connection.query<Claimed>(
    {
      text: `UPDATE replicas
        SET epoch = epoch + 1, instance = $1, seen_at = clock_timestamp(), wants = NULL, is_ready = false, about_json = NULL
        WHERE slot = (
          SELECT slot FROM replicas
          WHERE instance IS NULL OR seen_at < clock_timestamp() - interval '${goneAfterSeconds} s'
          ORDER BY slot FOR UPDATE SKIP LOCKED LIMIT 1)
        RETURNING slot, epoch, batch`,
    },
    [instance],
  );
  if (claimed === undefined)
    throw new StoreError('already-served', 'as many processes as can serve this database serve it already');
  return await claimOf(connection, claimed, instance);
}

/**
 * After a broken connection: from here on nothing that was sent before can be stored any more. Waits for a batch that is
 * still under way. Null where another process has claimed the slot.
 */
export async function claimAgain(
  connection: Connection,
  { slot, epoch, instance }: Fence,
): Promise<SlotClaim | null> {
  const [claimed] = await connection.query<Claimed>(
    {
      text: `UPDATE replicas SET epoch = epoch + 1, seen_at = clock_timestamp()
        WHERE slot = $1 AND epoch = $2 RETURNING slot, epoch, batch`,
    },
    [slot, epoch],
  );
  return claimed === undefined ? null : await claimOf(connection, claimed, instance);
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

/** The last record is looked for in a statement of its own, so after the claim. */
async function claimOf(connection: Connection, claimed: Claimed, instance: string): Promise<SlotClaim> {
  const { slot, epoch, batch } = claimed;
  // Nobody has recorded anything in this slot before its first claim.
  await connection.query(
    {
      text: `INSERT INTO statistics_mark
        SELECT $1, 0, sequence, (extract(epoch FROM clock_timestamp()) * 1000)::int8 FROM chain_end ON CONFLICT DO NOTHING`,
    },
    [slot],
  );
  const [end] = await connection.query<{ readonly sequence: number }>({
    text: 'SELECT sequence FROM chain_end',
  });
  return { fence: { slot, epoch, batch: batch + 1, instance }, lastSequence: end?.sequence ?? 0 };
}
