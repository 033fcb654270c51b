// Deletes the oldest records, a stretch at a time, and leaves a signed checkpoint at the new beginning of the
// chain. INVARIANT: only records that were just found whole are deleted, so a checkpoint never hides a
// changed record; a record that may still be asked about (an open request, a grant, an idempotency key in
// use) stays, and so do all records after it. A record whose hash the transparency log lacks stays, too.

import type { ChainRecord } from '../store/contract/chain.ts';
import { type ChainPosition, createLaneEnds } from '../store/contract/lanes.ts';
import type { Store } from '../store/contract/store.ts';
import { growTree } from '../transparency-log/grow-tree.ts';
import { createCheckpointSigner } from './checkpoint.ts';
import { timeOf } from './export.ts';
import { type ChainBreak, verifyChain } from './verify.ts';

export interface PruneOptions {
  /** Records from this moment on stay; milliseconds since 1970-01-01T00:00Z. */
  readonly beforeMs: number;
  readonly nowMs: number;
  readonly onProgress?: (deletedCount: number) => void;
}

export interface PruneResult {
  readonly deletedCount: number;
  /** The first record that stays, and why; null when all records are deleted. */
  readonly kept: { readonly sequence: number; readonly because: 'date' | 'still-counts' } | null;
  /**
   * Where the walk met a record that has been changed since it was written. That record stays, and so do all
   * after it. Null when none was met.
   */
  readonly break: ChainBreak | null;
}

/** Bounds how long one deletion holds the lock that the service waits for. */
const recordsPerDeletion = 2_000;

/**
 * Deletes records. Rejects with a StoreError; records deleted before the error are covered by a checkpoint.
 */
export async function pruneRecords(store: Store, options: PruneOptions): Promise<PruneResult> {
  const signer = createCheckpointSigner(store.masterKey);
  await store.chain.tie();
  const { sequence: loggedTo } = await growTree(store.tree);
  let deletedCount = 0;
  let due: { readonly last: ChainPosition; readonly count: number } | null = null;
  let kept: PruneResult['kept'] = null;

  async function deleteDue(): Promise<void> {
    if (due === null) return;
    const result = await store.chain.prune(signer.sign(due.last, 'pruned', options.nowMs));
    if (result === 'not-there') throw new Error('a record that was just read is gone');
    deletedCount += due.count;
    due = null;
    options.onProgress?.(deletedCount);
  }

  const verification = await verifyChain(store, {
    async onSegment(records, { before }) {
      const going = takeWhileGone(records, { ...options, loggedTo });
      const ends = createLaneEnds(before);
      for (const record of going) ends.take(record);
      if (going.length > 0) due = { last: ends.link(), count: (due?.count ?? 0) + going.length };
      const stays = records[going.length];
      if (stays !== undefined) {
        kept = {
          sequence: stays.entry.sequence,
          because: timeOf(stays.entry) < options.beforeMs ? 'still-counts' : 'date',
        };
      }
      if (stays !== undefined || (due?.count ?? 0) >= recordsPerDeletion) await deleteDue();
      return stays === undefined ? 'go on' : 'stop';
    },
  });
  await deleteDue();
  return { deletedCount, kept, break: verification.kind === 'broken' ? verification.break : null };
}

interface Deletable extends PruneOptions {
  /** The last record in the transparency log. */
  readonly loggedTo: number;
}

function takeWhileGone(
  records: readonly ChainRecord[],
  { beforeMs, nowMs, loggedTo }: Deletable,
): readonly ChainRecord[] {
  const stays = records.findIndex(
    (record) =>
      timeOf(record.entry) >= beforeMs || record.entry.sequence > loggedTo || stillCounts(record, nowMs),
  );
  return stays < 0 ? records : records.slice(0, stays);
}

const endingStatuses: readonly unknown[] = ['pending', 'auto_approved', 'approved'];

function stillCounts({ entry, later }: ChainRecord, nowMs: number): boolean {
  // Refusals, changes and events are complete in themselves; only requests have a later state.
  if (later === null) return false;
  const status = later.stored.status ?? entry.status;
  const expiresAtMs = later.stored.expiresAtMs ?? Number(entry.expires_ms);
  const isOpen = endingStatuses.includes(status) && expiresAtMs > nowMs;
  return isOpen || Number(entry.idempotency_until_ms ?? 0) > nowMs;
}
