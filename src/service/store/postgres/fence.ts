// The right to store. Each process that serves claims a slot and raises the slot's epoch, and each of its
// batches names both. INVARIANT: once another process has claimed the slot, no batch of the earlier process
// is stored, however late it arrives.

import { randomUUID } from 'node:crypto';
import { StoreError } from '../contract/store-error.ts';
import type { Connection } from './server/connection.ts';
import { serverFault, serverLack } from './server/errors.ts';
import type { ServerSignal } from './server/liveness.ts';
import { isOwnSchema, isServing, requireSchema } from './server/schema.ts';

/** What each batch names. The first three fields are null for a process that does not serve. */
export interface Fence {
  readonly slot: number | null;
  readonly epoch: number | null;
  /** The number of the batch. */
  readonly batch: number | null;
  /** A random UUID that names this process. */
  readonly instance: string;
}

/**
 * A claimed slot. `moment` is a snapshot, as PostgreSQL writes it, after which nothing is stored that was
 * sent under an earlier epoch.
 */
export interface SlotClaim {
  readonly fence: Fence;
  readonly moment: string;
  /**
   * Names the time from one start of the server to its end. In another run, a transaction may have the number
   * of one that was rolled back.
   */
  readonly run: string;
}

interface ClaimedSlot {
  readonly slot: number;
  readonly epoch: number;
  readonly batch: number;
}

export function noFence(): Fence {
  return { slot: null, epoch: null, batch: null, instance: randomUUID() };
}

/**
 * If the clocks of this machine and of the server differ by more, this machine's clock is wrong, and people
 * and other programs would rely on it.
 */
const clockMaxMs = 60_000;

/**
 * Returns the server's time. Rejects with a StoreError when this process must not serve: the server may lose
 * what it has acknowledged or takes no writes, or this machine's clock is wrong.
 */
export async function checkServer(connection: Connection): Promise<ServerSignal> {
  const [signal] = await connection.query<ServerSignal & Readonly<Record<'fault' | 'lack', string | null>>>({
    text: `SELECT CASE
      WHEN pg_is_in_recovery() THEN NULL ELSE writ_fault() END AS fault,
      CASE
      WHEN pg_is_in_recovery() THEN 'is a standby: name the primary'
      WHEN current_setting('synchronous_standby_names') <> ''
        -- Who may not see how standbys stand sees nulls.
        AND NOT EXISTS (SELECT 1 FROM pg_stat_replication WHERE coalesce(sync_state, 'sync') IN ('sync', 'quorum'))
      THEN 'waits for a standby, and none is connected: start it'
      END AS lack, (extract(epoch FROM clock_timestamp()) * 1000)::int8 AS "serverMs"`,
  });
  const apartMs = Math.abs(Date.now() - (signal?.serverMs ?? Number.NaN));
  if (apartMs > clockMaxMs)
    throw new StoreError(
      'unwritable',
      `the clocks of this machine and of the database's server differ by ${Math.round(apartMs / 1000)} s: correct them`,
    );
  if (signal === undefined) throw new Error('the server returned no time');
  if (signal.fault !== null) throw serverFault(signal.fault);
  // Both pass by themselves, while a server fails over or starts.
  if (signal.lack !== null) throw serverLack(signal.lack);
  return signal;
}

/**
 * Claims the lowest slot that no process has. Rejects with a StoreError when all slots are taken, or when
 * another version has migrated the database since it was opened.
 */
export async function claimSlot(connection: Connection, { instance }: Fence): Promise<SlotClaim> {
  const [claimed] = await connection.query<ClaimedSlot>(
    {
      text: `UPDATE replicas
        SET epoch = epoch + 1, instance = $1, seen_at = clock_timestamp(), wants = NULL, is_ready = false, about_json = NULL
        WHERE slot = (
          SELECT slot FROM replicas
          WHERE (${isServing}) IS NOT TRUE AND ${isOwnSchema}
          ORDER BY slot FOR UPDATE SKIP LOCKED LIMIT 1)
        RETURNING slot, epoch, batch`,
    },
    [instance],
  );
  if (claimed === undefined) {
    await requireSchema(connection);
    throw new StoreError('already-served', 'the maximum number of processes already serves this database');
  }
  return await claimOf(connection, claimed, instance);
}

/**
 * Claims the slot again after a broken connection, so that nothing sent before can be stored any more. Waits
 * for a batch that is still under way. Returns null when another process has claimed the slot.
 */
export async function claimAgain(
  connection: Connection,
  { slot, epoch, instance }: Fence,
): Promise<SlotClaim | null> {
  const [claimed] = await connection.query<ClaimedSlot>(
    {
      text: `UPDATE replicas SET epoch = epoch + 1, seen_at = clock_timestamp()
        WHERE slot = $1 AND epoch = $2 RETURNING slot, epoch, batch`,
    },
    [slot, epoch],
  );
  return claimed === undefined ? null : await claimOf(connection, claimed, instance);
}

export interface RenewedSlot extends ServerSignal {
  /**
   * Why the server may lose what it acknowledges, as the end of a sentence; null when it keeps its promise.
   */
  readonly fault: string | null;
}

/** Tells the server that this process is alive; returns null when another process has claimed the slot. */
export async function renewSlot(connection: Connection, { slot, epoch }: Fence): Promise<RenewedSlot | null> {
  const slots = await connection.query<RenewedSlot>(
    {
      name: 'keep',
      text: `UPDATE replicas SET seen_at = clock_timestamp() WHERE slot = $1 AND epoch = $2
        RETURNING writ_fault() AS fault, (extract(epoch FROM clock_timestamp()) * 1000)::int8 AS "serverMs"`,
    },
    [slot, epoch],
  );
  return slots[0] ?? null;
}

export async function releaseSlot(connection: Connection, { slot, epoch }: Fence): Promise<void> {
  await connection.query({ text: 'UPDATE replicas SET instance = NULL WHERE slot = $1 AND epoch = $2' }, [
    slot,
    epoch,
  ]);
}

/** Completes a claim. The moment comes from a statement of its own, so it lies after the claim. */
async function claimOf(connection: Connection, claimed: ClaimedSlot, instance: string): Promise<SlotClaim> {
  const { slot, epoch, batch } = claimed;
  // Before its first claim nothing was recorded in a slot, so its counts begin at the present end of the
  // chain.
  await connection.query(
    {
      text: `INSERT INTO statistics_mark
        SELECT $1, 0, sequence, (extract(epoch FROM clock_timestamp()) * 1000)::int8 FROM chain_end ON CONFLICT DO NOTHING`,
    },
    [slot],
  );
  // When a process of the server crashes, the server restarts all of its processes except the first, and
  // resets its statistics.
  const [now] = await connection.query<Pick<SlotClaim, 'moment' | 'run'>>({
    text: `SELECT pg_current_snapshot()::text AS moment,
      concat(pg_postmaster_start_time(), ' ', (SELECT stats_reset FROM pg_stat_wal)) AS run`,
  });
  if (now === undefined) throw new Error('the server returned no position');
  return { fence: { slot, epoch, batch: batch + 1, instance }, ...now };
}
