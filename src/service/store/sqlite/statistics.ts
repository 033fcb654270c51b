// Stores statistics in rows.

import type { Database } from 'better-sqlite3';
import type {
  RuleHits,
  ShadowChange,
  StatisticsCell,
  StatisticsChange,
  StatisticsMark,
} from '../contract/statistics.ts';

export function prepareStatisticsWrites(database: Database) {
  const put = database.prepare<[StatisticsCell]>(
    `INSERT INTO statistics (at_ms, span_ms, cell_json) VALUES (@atMs, @spanMs, @json)
     ON CONFLICT (at_ms, span_ms) DO UPDATE SET cell_json = excluded.cell_json`,
  );
  const stored = database.prepare<[StatisticsCell]>(
    'SELECT 1 FROM statistics WHERE at_ms = @atMs AND span_ms = @spanMs AND cell_json = @json',
  );
  const remove = database.prepare<[number, number, number]>(
    'DELETE FROM statistics WHERE span_ms = ? AND at_ms >= ? AND at_ms < ?',
  );
  const addHits = database.prepare<[RuleHits]>(
    `INSERT INTO rule_hits (rule, decided, met, last_ms) VALUES (@rule, @decided, @met, @lastAtMs)
     ON CONFLICT (rule) DO UPDATE SET decided = decided + excluded.decided, met = met + excluded.met,
       last_ms = max(coalesce(last_ms, excluded.last_ms), coalesce(excluded.last_ms, last_ms))`,
  );
  const addChange = database.prepare<[ShadowChange]>(
    `INSERT INTO shadow_changes (rule, from_outcome, to_outcome, count) VALUES (@rule, @from, @to, @count)
     ON CONFLICT (rule, from_outcome, to_outcome) DO UPDATE SET count = count + excluded.count`,
  );
  const setMark = database.prepare<[StatisticsMark]>(
    'INSERT OR REPLACE INTO statistics_mark VALUES (1, @throughMs, @afterSequence, @sinceMs)',
  );
  return {
    'change-statistics'({ change }: { readonly change: StatisticsChange }): 'changed' {
      const { puts, removed, hits, shadowChanges, mark, isAgain = false } = change;
      if (isAgain && puts.every((cell) => stored.get(cell) !== undefined)) return 'changed';
      if (removed !== null) remove.run(removed.spanMs, removed.fromMs, removed.untilMs);
      for (const cell of puts) put.run(cell);
      for (const one of hits) addHits.run(one);
      for (const one of shadowChanges) addChange.run(one);
      if (mark !== null) setMark.run(mark);
      return 'changed';
    },
  };
}
