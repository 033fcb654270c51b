// Stores statistics in rows, and reads the records from which they are counted.

import type {
  CountedRecord,
  RuleHits,
  SequenceRange,
  ShadowChange,
  StatisticsCell,
  StatisticsChange,
  StatisticsMark,
  StatisticsStore,
  WaitEnd,
} from '../contract/statistics.ts';
import { settledSequence } from './chain.ts';
import type { CommitQueue } from './commit-queue.ts';
import type { ReadPool } from './server/read-pool.ts';
import type { Transaction, Work } from './transaction.ts';

/** Stands for the slot of a process that does not serve. */
const noSlot = -1;

export function statisticsStore(
  { rows, snapshot }: ReadPool,
  queue: Pick<CommitQueue, 'write' | 'fence'>,
): StatisticsStore {
  const ownSlot = () => queue.fence.slot ?? noSlot;
  const number = async (text: string, values: readonly unknown[] = []) =>
    (await rows<{ readonly found: number | null }>(text, values))[0]?.found ?? 0;
  // A person's approval does not end a wait; the decision that the policies then make is an event of its own.
  const waitEnds = ({ after, upTo }: SequenceRange) =>
    rows<WaitEnd>(
      `SELECT event.at_ms AS "atMs", event.status, requests.created_ms AS "createdAtMs",
         coalesce(requests.outcome = 'REAUTH_REQUIRED', false) AS "isStepUp"
       FROM request_events AS event LEFT JOIN requests ON requests.id = event.request_id
       WHERE event.sequence > $1 AND event.sequence <= $2 AND coalesce(event.slot, ${noSlot}) = $3 AND event.what IN ('rejected', 'decided', 'expired')
         AND event.status IN ('approved', 'rejected', 'expired') ORDER BY event.sequence`,
      [after, upTo, ownSlot()],
    );
  return {
    async mark() {
      const [mark] = await rows<StatisticsMark>(
        `SELECT through_ms AS "throughMs", after_sequence AS "afterSequence",
           (SELECT min(since_ms) FROM statistics_mark) AS "sinceMs"
         FROM statistics_mark WHERE slot = $1`,
        [ownSlot()],
      );
      return mark ?? null;
    },
    cells: ({ spanMs, fromMs, untilMs, after, countMax, isOwn = false }) =>
      rows<StatisticsCell>(
        `SELECT at_ms AS "atMs", span_ms AS "spanMs", string_agg(cell_json, E'\\n' ORDER BY slot) AS json
         FROM statistics
         WHERE at_ms >= $1 AND at_ms < $2 AND (at_ms, span_ms) > ($3, $4) AND ($5::int8 IS NULL OR span_ms = $5)
           AND ($7::int4 IS NULL OR slot = $7)
         GROUP BY at_ms, span_ms ORDER BY at_ms, span_ms LIMIT $6`,
        [
          ...[fromMs, untilMs, after?.atMs ?? fromMs, after?.spanMs ?? 0, spanMs, countMax],
          isOwn ? ownSlot() : null,
        ],
      ),
    hits: () =>
      snapshot(async (read) => ({
        hits: await read<RuleHits>(
          'SELECT rule, decided, met, last_ms AS "lastAtMs" FROM rule_hits ORDER BY rule',
        ),
        shadowChanges: await read<ShadowChange>(
          'SELECT rule, from_outcome AS "from", to_outcome AS "to", count FROM shadow_changes ORDER BY rule',
        ),
      })),
    change: (change) => queue.write(changeStatistics(change), 'left'),
    async counted(range) {
      const records = await rows<CountedRecord>(
        `SELECT 'request' AS kind, created_ms AS "atMs", record_json AS "recordJson" FROM requests
         WHERE sequence > $1 AND sequence <= $2 AND coalesce(slot, ${noSlot}) = $3`,
        [range.after, range.upTo, ownSlot()],
      );
      const refusals = await rows<CountedRecord>(
        `SELECT 'refusal' AS kind, at_ms AS "atMs", agent_id AS "agentId", code FROM refusals
         WHERE sequence > $1 AND sequence <= $2 AND coalesce(slot, ${noSlot}) = $3`,
        [range.after, range.upTo, ownSlot()],
      );
      const ends = await waitEnds(range);
      return [...records, ...refusals, ...ends.map((end) => ({ kind: 'end' as const, ...end }))];
    },
    waitEnds,
    lastEvent: () => number('SELECT max(sequence) AS found FROM request_events'),
    lastSequence: () => settledSequence(rows),
    waiting: (nowMs) =>
      number(
        `SELECT count(*) AS found FROM requests
         WHERE coalesce(now_status, status) = 'pending' AND coalesce(now_expires_ms, expires_ms) > $1`,
        [nowMs],
      ),
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
    const found = await rows(
      'SELECT 1 FROM statistics WHERE at_ms = $1 AND span_ms = $2 AND slot = $3 AND cell_json = $4',
      [atMs, spanMs, slot, json],
    );
    if (found.length === 0) return false;
  }
  return true;
}
