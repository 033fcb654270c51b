// Reads the stored counts, and the records from which they are counted. In a database each process has its own
// counts of the time, in its slot. The last settled record is read by each store itself.

import type {
  CountedRecord,
  RuleHits,
  ShadowChange,
  StatisticsCell,
  StatisticsMark,
  StatisticsStore,
  WaitEnd,
} from '../contract/statistics.ts';
import { type Query, type QueryRunner, query } from './dialect.ts';
import { endNow, statusNow } from './request-lists.ts';

/** The slot of a process that does not serve. */
export const noSlot = -1;

type StatisticsReads = Omit<StatisticsStore, 'change' | 'lastSequence'>;

export function statisticsReads(
  { sql, rows, snapshot }: QueryRunner,
  ownSlot: () => number,
): StatisticsReads {
  const range = 'sequence > @after AND sequence <= @upTo';
  const isOwnRecord = sql.isOwn(`coalesce(slot, ${noSlot})`);
  // A person's approval does not end a wait; the decision that the policies then make is an event of its own.
  const endsText = `SELECT event.at_ms AS "atMs", event.status, requests.created_ms AS "createdAtMs",
      coalesce(requests.outcome = 'REAUTH_REQUIRED', FALSE) AS "isStepUp"
    FROM (SELECT * FROM request_events WHERE ${range} AND ${isOwnRecord}) AS event
    LEFT JOIN requests ON requests.id = event.request_id
    WHERE event.what IN ('rejected', 'decided', 'expired') AND event.status IN ('approved', 'rejected', 'expired')
    ORDER BY event.sequence`;
  const waitEnds: StatisticsReads['waitEnds'] = async ({ after, upTo }) => {
    const ends = await rows(query<WaitEnd>(endsText, { after, upTo, slot: ownSlot() }));
    return ends.map((end) => ({ ...end, isStepUp: Boolean(end.isStepUp) }));
  };
  const number = async (numbers: Query<{ readonly found: number | null }>) =>
    (await rows(numbers))[0]?.found ?? 0;
  return {
    async mark() {
      const text = `SELECT through_ms AS "throughMs", after_sequence AS "afterSequence",
          (SELECT min(since_ms) FROM statistics_mark) AS "sinceMs"
        FROM statistics_mark WHERE ${sql.isOwn('slot')}`;
      return (await rows(query<StatisticsMark>(text, { slot: ownSlot() })))[0] ?? null;
    },
    cells: ({ spanMs, fromMs, untilMs, after, countMax, isOwn = false }) =>
      rows(
        query<StatisticsCell>(
          `SELECT at_ms AS "atMs", span_ms AS "spanMs", ${sql.linesOf('cell_json')} AS json FROM statistics
           WHERE at_ms >= @fromMs AND at_ms < @untilMs AND (at_ms, span_ms) > (@afterMs, @afterSpanMs)
             AND (${sql.isNull('@spanMs', 'bigint')} OR span_ms = @spanMs) ${isOwn ? `AND ${sql.isOwn('slot')}` : ''}
           GROUP BY at_ms, span_ms ORDER BY at_ms, span_ms LIMIT @countMax`,
          {
            spanMs,
            fromMs,
            untilMs,
            afterMs: after?.atMs ?? fromMs,
            afterSpanMs: after?.spanMs ?? 0,
            countMax,
            slot: ownSlot(),
          },
        ),
      ),
    async hits() {
      const [hits, shadowChanges] = await snapshot([
        query<RuleHits>('SELECT rule, decided, met, last_ms AS "lastAtMs" FROM rule_hits ORDER BY rule'),
        query<ShadowChange>(
          'SELECT rule, from_outcome AS "from", to_outcome AS "to", count FROM shadow_changes ORDER BY rule',
        ),
      ]);
      return { hits, shadowChanges };
    },
    async counted({ after, upTo }) {
      const where = `WHERE ${range} AND ${isOwnRecord}`;
      const requests = `SELECT 'request' AS kind, created_ms AS "atMs", record_json AS "recordJson" FROM requests ${where}`;
      const refusals = `SELECT 'refusal' AS kind, at_ms AS "atMs", agent_id AS "agentId", code FROM refusals ${where}`;
      const parameters = { after, upTo, slot: ownSlot() };
      return [
        ...(await rows(query<CountedRecord>(requests, parameters))),
        ...(await rows(query<CountedRecord>(refusals, parameters))),
        ...(await waitEnds({ after, upTo })).map((end) => ({ kind: 'end' as const, ...end })),
      ];
    },
    waitEnds,
    lastEvent: () => number(query('SELECT max(sequence) AS found FROM request_events')),
    waiting: (nowMs) =>
      number(
        query(
          `SELECT count(*) AS found FROM requests WHERE ${statusNow} = 'pending' AND ${endNow} > @nowMs`,
          { nowMs },
        ),
      ),
  };
}
