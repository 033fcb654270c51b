// Stores statistics in rows.

import type { StatisticsCell, StatisticsChange, StatisticsStore } from '../contract/statistics.ts';
import { noSlot, statisticsReads } from '../queries/statistics.ts';
import { settledSequence } from './chain.ts';
import type { CommitQueue } from './commit-queue.ts';
import type { ReadPool } from './server/read-pool.ts';
import type { Transaction, Work } from './transaction.ts';

export function statisticsStore(
  { rows, queries }: ReadPool,
  queue: Pick<CommitQueue, 'write' | 'fence'>,
): StatisticsStore {
  return {
    ...statisticsReads(queries, () => queue.fence.slot ?? noSlot),
    change: (change) => queue.write(changeStatistics(change), 'left'),
    lastSequence: () => settledSequence(rows),
  };
}

function changeStatistics(change: StatisticsChange): Work<void> {
  const { puts, removed, hits, shadowChanges, mark, isAgain = false } = change;
  return async ({ rows, slot: ownSlot }) => {
    const slot = ownSlot ?? noSlot;
    if (isAgain && (await areStored(rows, puts, slot))) return;
    if (removed !== null)
      await rows('DELETE FROM statistics WHERE span_ms = $1 AND at_ms >= $2 AND at_ms < $3 AND slot = $4', [
        ...[removed.spanMs, removed.fromMs, removed.untilMs, slot],
      ]);
    for (const { atMs, spanMs, json } of puts)
      await rows(
        `INSERT INTO statistics (at_ms, span_ms, cell_json, slot) VALUES ($1, $2, $3, $4)
         ON CONFLICT (at_ms, span_ms, slot) DO UPDATE SET cell_json = excluded.cell_json`,
        [atMs, spanMs, json, slot],
      );
    for (const { rule, decided, met, lastAtMs } of hits)
      await rows(
        `INSERT INTO rule_hits AS present (rule, decided, met, last_ms) VALUES ($1, $2, $3, $4)
         ON CONFLICT (rule) DO UPDATE SET decided = present.decided + excluded.decided,
           met = present.met + excluded.met, last_ms = greatest(present.last_ms, excluded.last_ms)`,
        [rule, decided, met, lastAtMs],
      );
    for (const { rule, from, to, count } of shadowChanges)
      await rows(
        `INSERT INTO shadow_changes AS present (rule, from_outcome, to_outcome, count) VALUES ($1, $2, $3, $4)
         ON CONFLICT (rule, from_outcome, to_outcome) DO UPDATE SET count = present.count + excluded.count`,
        [rule, from, to, count],
      );
    if (mark !== null)
      await rows(
        `INSERT INTO statistics_mark VALUES ($4, $1, $2, $3) ON CONFLICT (slot)
         DO UPDATE SET through_ms = $1, after_sequence = $2, since_ms = $3`,
        [mark.throughMs, mark.afterSequence, mark.sinceMs, slot],
      );
  };
}

async function areStored(
  rows: Transaction['rows'],
  puts: readonly StatisticsCell[],
  slot: number,
): Promise<boolean> {
  for (const { atMs, spanMs, json } of puts) {
    const existing = await rows(
      'SELECT 1 FROM statistics WHERE at_ms = $1 AND span_ms = $2 AND slot = $3 AND cell_json = $4',
      [atMs, spanMs, slot, json],
    );
    if (existing.length === 0) return false;
  }
  return true;
}
