// Reads what came of all requests of one agent. INVARIANT: each read looks at a bounded stretch of the agent's
// own records.

import type { ActivityStore, GrantedRequest, OutcomeCount } from '../contract/agent-activity.ts';
import { type Dialect, type QueryRunner, query } from './dialect.ts';
import { isGrantOver } from './meters.ts';
import { numberReads, statusNow } from './request-lists.ts';

/** How many records are looked through at once. */
export const activityAtOnce = 2_000;

const outcomeText = (columns: string, table: string): string => `
  SELECT day, outcome, count(*) AS count, max(sequence) AS last
  FROM (SELECT sequence, ${columns} FROM ${table}
    WHERE agent_id = @agentId AND sequence > @afterSequence ORDER BY sequence LIMIT ${activityAtOnce}) AS looked
  GROUP BY day, outcome`;

/** Whether a request was granted. */
const isGranted = `(${statusNow} IN ('auto_approved', 'approved', 'consumed') OR ${isGrantOver})`;

export function activityTexts(sql: Dialect) {
  return {
    requests: outcomeText('created_ms / 86400000 AS day, outcome', 'requests'),
    refusals: outcomeText("at_ms / 86400000 AS day, 'refused' AS outcome", 'refusals'),
    granted: `SELECT sequence, id, created_ms AS "createdAtMs", action_key = @actionKey AND ${isGranted} AS "isFound",
        CASE WHEN action_key = @actionKey AND ${isGranted} THEN ${sql.memberOf('record_json', 'payload')} ELSE '' END AS "payloadJson"
      FROM requests WHERE agent_id = @agentId AND sequence < @before
      ORDER BY sequence DESC LIMIT ${activityAtOnce}`,
  };
}

interface CountRow extends OutcomeCount {
  readonly last: number;
}

interface GrantedRow extends GrantedRequest {
  readonly sequence: number;
  readonly isFound: boolean | 0 | 1;
}

export function activityReads(runner: QueryRunner): ActivityStore {
  const texts = activityTexts(runner.sql);
  return {
    numberBefore: numberReads(runner).numberBefore,
    async outcomes({ agentId, kind, afterSequence }) {
      const counts = await runner.rows(query<CountRow>(texts[kind], { agentId, afterSequence }));
      const through = counts.length === 0 ? null : Math.max(...counts.map(({ last }) => last));
      return { counts: counts.map(({ day, outcome, count }) => ({ day, outcome, count })), through };
    },
    granted({ agentId, actionKey, beforeSequence, countMax }) {
      const before = beforeSequence ?? Number.MAX_SAFE_INTEGER;
      const granted = query<GrantedRow>(texts.granted, { agentId, actionKey, before });
      return runner.scan(granted, (rows) => {
        const requests: GrantedRequest[] = [];
        let looked = 0;
        let last: number | null = null;
        for (const { sequence, isFound, ...one } of rows) {
          if (requests.length === countMax) return { items: requests, next: last };
          looked += 1;
          last = sequence;
          if (isFound) requests.push(one);
        }
        return { items: requests, next: looked === activityAtOnce ? last : null };
      });
    },
  };
}
