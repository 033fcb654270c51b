// Stores statistics in rows, and reads the records from which they are counted.

import type { Database } from 'better-sqlite3';
import type {
  CellPage,
  CountedRecord,
  RuleHits,
  SequenceRange,
  ShadowChange,
  StatisticsCell,
  StatisticsChange,
  StatisticsMark,
  WaitEnd,
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

export function prepareStatisticsReads(database: Database) {
  const mark = database.prepare<[], StatisticsMark>(
    `SELECT through_ms AS throughMs, after_sequence AS afterSequence, since_ms AS sinceMs FROM statistics_mark`,
  );
  const cells = database.prepare<[object], StatisticsCell>(
    `SELECT at_ms AS atMs, span_ms AS spanMs, cell_json AS json FROM statistics
     WHERE at_ms >= @fromMs AND at_ms < @untilMs AND (at_ms, span_ms) > (@afterMs, @afterSpanMs)
       AND (@spanMs IS NULL OR span_ms = @spanMs)
     ORDER BY at_ms, span_ms LIMIT @countMax`,
  );
  const hits = database.prepare<[], RuleHits>(
    'SELECT rule, decided, met, last_ms AS lastAtMs FROM rule_hits',
  );
  const shadowChanges = database.prepare<[], ShadowChange>(
    'SELECT rule, from_outcome AS "from", to_outcome AS "to", count FROM shadow_changes',
  );
  const requests = database.prepare<[number, number], CountedRecord>(
    `SELECT 'request' AS kind, created_ms AS atMs, record_json AS recordJson FROM requests
     WHERE sequence > ? AND sequence <= ?`,
  );
  const refusals = database.prepare<[number, number], CountedRecord>(
    `SELECT 'refusal' AS kind, at_ms AS atMs, agent_id AS agentId, code FROM refusals WHERE sequence > ? AND sequence <= ?`,
  );
  // A person's approval does not end a wait; the decision that the policies then make is an event of its own.
  const ends = database.prepare<[number, number], Omit<WaitEnd, 'isStepUp'> & { readonly isStepUp: 0 | 1 }>(
    `SELECT event.at_ms AS atMs, event.status, requests.created_ms AS createdAtMs,
       coalesce(requests.outcome = 'REAUTH_REQUIRED', 0) AS isStepUp
     FROM request_events AS event LEFT JOIN requests ON requests.id = event.request_id
     WHERE event.sequence > ? AND event.sequence <= ? AND event.what IN ('rejected', 'decided', 'expired')
       AND event.status IN ('approved', 'rejected', 'expired')`,
  );
  const lastEvent = database.prepare<[], { last: number | null }>(
    'SELECT max(sequence) AS last FROM request_events',
  );
  const last = database.prepare<[], { last: number | null }>(
    `SELECT max(sequence) AS last FROM (SELECT max(sequence) AS sequence FROM requests
       UNION ALL SELECT max(sequence) FROM refusals UNION ALL SELECT max(sequence) FROM changes
       UNION ALL SELECT max(sequence) FROM request_events)`,
  );
  const waiting = database.prepare<[number], { count: number }>(
    `SELECT count(*) AS count FROM requests
     WHERE coalesce(now_status, status) = 'pending' AND coalesce(now_expires_ms, expires_ms) > ?`,
  );
  const waitEnds = ({ after, upTo }: SequenceRange): readonly WaitEnd[] =>
    ends.all(after, upTo).map((end) => ({ ...end, isStepUp: end.isStepUp === 1 }));
  return {
    statisticsMark: (): StatisticsMark | null => mark.get() ?? null,
    statisticsCells: ({ after, ...page }: CellPage): readonly StatisticsCell[] =>
      cells.all({ ...page, afterMs: after?.atMs ?? page.fromMs, afterSpanMs: after?.spanMs ?? 0 }),
    ruleHits: () => ({ hits: hits.all(), shadowChanges: shadowChanges.all() }),
    countedRecords: ({ after, upTo }: SequenceRange): readonly CountedRecord[] => [
      ...requests.all(after, upTo),
      ...refusals.all(after, upTo),
      ...waitEnds({ after, upTo }).map((end) => ({ kind: 'end' as const, ...end })),
    ],
    waitEnds,
    lastEvent: (): number => lastEvent.get()?.last ?? 0,
    lastRecordSequence: (): number => last.get()?.last ?? 0,
    waitingCount: (nowMs: number): number => waiting.get(nowMs)?.count ?? 0,
  };
}
