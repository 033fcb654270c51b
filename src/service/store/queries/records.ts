// Reads records of the chain as people and a replay see them: changes of management, the log, and the times of
// the first and the last record. The chain itself is read in the folder of each store: a database has lanes.

import type { ChangeRow, VoteRow } from '../contract/audit-log.ts';
import type { LogRecord, RecordReader } from '../contract/log.ts';
import type { ChainStore } from '../contract/store.ts';
import { type Query, type QueryRunner, query } from './dialect.ts';

const timeColumns = {
  requests: 'created_ms',
  refusals: 'at_ms',
  changes: 'at_ms',
  request_events: 'at_ms',
} as const;

/** Returns SQL for a table of the times, `at_ms`, of the first or the last record of each kind. */
function timesOf(order: 'ASC' | 'DESC'): string {
  const each = Object.entries(timeColumns).map(
    ([table, column]) =>
      `SELECT * FROM (SELECT ${column} AS at_ms FROM ${table} ORDER BY sequence ${order} LIMIT 1) AS ${table}`,
  );
  return `(${each.join(' UNION ALL ')}) AS times`;
}

const changesText = `SELECT sequence, at_ms AS "atMs", who, what, subject, before_json AS "beforeJson",
    after_json AS "afterJson"
  FROM changes WHERE sequence < @before ORDER BY sequence DESC LIMIT @countMax`;

const votesText = `SELECT sequence, request_id AS "requestId", at_ms AS "atMs", who, what,
    detail_json AS "detailJson"
  FROM request_events
  WHERE what IN ('approved', 'rejected', 'taken-back') AND sequence < @before AND at_ms >= @since AND at_ms < @until
  ORDER BY sequence DESC LIMIT @countMax`;

const sequencesText = `SELECT sequence FROM requests WHERE id = @requestId
  UNION ALL SELECT sequence FROM request_events WHERE request_id = @requestId ORDER BY sequence`;

/** Returns the time of the last record; null if there is none. */
export const latest: Query<{ readonly atMs: number | null }> = query(
  `SELECT max(at_ms) AS "atMs" FROM ${timesOf('DESC')}`,
);

export function chainReads({
  rows,
}: QueryRunner): Pick<ChainStore, 'changes' | 'votes' | 'sequencesOf' | 'latestAtMs'> {
  return {
    changes: ({ beforeSequence, countMax }) =>
      rows(query<ChangeRow>(changesText, { before: beforeSequence ?? Number.MAX_SAFE_INTEGER, countMax })),
    votes: ({ beforeSequence, sinceMs, untilMs, countMax }) =>
      rows(
        query<VoteRow>(votesText, {
          before: beforeSequence ?? Number.MAX_SAFE_INTEGER,
          since: sinceMs,
          until: untilMs,
          countMax,
        }),
      ),
    sequencesOf: async (requestId) =>
      (await rows(query<{ readonly sequence: number }>(sequencesText, { requestId }))).map(
        ({ sequence }) => sequence,
      ),
    latestAtMs: async () => (await rows(latest))[0]?.atMs ?? null,
  };
}

/** Returns the time of the first record if earlier ones were deleted, else no row. */
export const firstAfterPruning: Query<{ readonly atMs: number | null }> = query(
  `SELECT (SELECT min(at_ms) FROM ${timesOf('ASC')}) AS "atMs" FROM checkpoints WHERE purpose = 'pruned' LIMIT 1`,
);

/** The cursors of streams to other programs, with the number of the last record. */
export const streamCursors: Query<{
  readonly name: string;
  readonly json: string;
  readonly lastSequence: number | null;
}> = query(
  `SELECT id AS name, document_json AS json, (SELECT max(sequence) FROM (${Object.keys(timeColumns)
    .map((table) => `SELECT max(sequence) AS sequence FROM ${table}`)
    .join(' UNION ALL ')}) AS ends) AS "lastSequence"
   FROM documents WHERE kind = 'siem-cursor' ORDER BY id`,
);

/** The time of the first record after a number; null if there is none. */
export function firstAfter(sequence: number): Query<{ readonly atMs: number | null }> {
  const each = Object.entries(timeColumns).map(
    ([table, column]) =>
      `SELECT * FROM (SELECT ${column} AS at_ms FROM ${table} WHERE sequence > @sequence ORDER BY sequence LIMIT 1) AS ${table}`,
  );
  return query(`SELECT min(at_ms) AS "atMs" FROM (${each.join(' UNION ALL ')}) AS times`, { sequence });
}

/** The columns under the names that readers know, so that no row has to be copied. */
const logColumns = {
  requests: `'request' AS kind, sequence, id, action_key AS action, created_ms AS "createdAtMs",
    expires_ms AS "expiresAtMs", record_json AS "recordJson"`,
  request_events: `'event' AS kind, sequence, request_id AS "requestId", at_ms AS "atMs", what,
    expires_ms AS "expiresAtMs", detail_json AS "detailJson"`,
  changes: `'step-up' AS kind, sequence, subject AS "agentId", at_ms AS "atMs"`,
} as const;

export function logReads({ snapshot }: QueryRunner): Pick<RecordReader, 'records'> {
  return {
    async records(after, countMax) {
      const read = (table: keyof typeof logColumns, and = '') =>
        query<LogRecord>(
          `SELECT ${logColumns[table]} FROM ${table}
           WHERE sequence > @after AND sequence <= @upTo ${and} ORDER BY sequence`,
          { after, upTo: after + countMax },
        );
      const records = await snapshot([
        read('requests'),
        read('request_events'),
        read('changes', "AND what = 'stepped-up'"),
      ]);
      const [only = [], ...others] = records.filter((all) => all.length > 0);
      return others.length === 0 ? only : records.flat().sort((a, b) => a.sequence - b.sequence);
    },
  };
}
