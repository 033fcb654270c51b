// Reads what came of all requests of one agent. INVARIANT: each read looks at a bounded stretch of the
// agent's own records.

import type { ActivityStore, GrantedRequest, OutcomeCount } from '../contract/agent-activity.ts';
import { numberBefore } from './request-lists.ts';
import type { ReadPool } from './server/read-pool.ts';

/** How many records are looked through at once. */
const activityAtOnce = 2_000;

interface Counted extends OutcomeCount {
  readonly last: number;
}

interface Looked extends GrantedRequest {
  readonly sequence: number;
  readonly isFound: boolean;
}

const counts = {
  requests: countText('created_ms / 86400000 AS day, outcome', 'requests'),
  refusals: countText("at_ms / 86400000 AS day, 'refused' AS outcome", 'refusals'),
} as const;

function countText(columns: string, table: string): string {
  return `SELECT day, outcome, count(*) AS count, max(sequence) AS last
    FROM (SELECT sequence, ${columns} FROM ${table}
      WHERE agent_id = $1 AND sequence > $2 ORDER BY sequence LIMIT ${activityAtOnce}) AS looked
    GROUP BY day, outcome`;
}

/**
 * Whether a request was granted. An expired request with a time of decision is a grant that is over; a wait
 * that ended without a grant has no such time.
 */
const isGranted = `(coalesce(now_status, status) IN ('auto_approved', 'approved', 'consumed')
  OR (coalesce(now_status, status) = 'expired' AND coalesce(now_decided_ms, decided_ms) IS NOT NULL))`;

const grantedText = `
  SELECT sequence, created_ms AS "createdAtMs", action_key = $2 AND ${isGranted} AS "isFound",
    CASE WHEN action_key = $2 AND ${isGranted} THEN (record_json::json -> 'payload')::text ELSE '' END AS "payloadJson"
  FROM requests WHERE agent_id = $1 AND sequence < $3
  ORDER BY sequence DESC LIMIT ${activityAtOnce}`;

export function activityStore({ rows, snapshot }: ReadPool): ActivityStore {
  return {
    numberBefore: (atMs) => numberBefore({ snapshot }, atMs),
    async outcomes({ agentId, kind, afterSequence }) {
      const found = await rows<Counted>(counts[kind], [agentId, afterSequence]);
      const through = found.length === 0 ? null : Math.max(...found.map(({ last }) => last));
      return { counts: found.map(({ day, outcome, count }) => ({ day, outcome, count })), through };
    },
    async granted({ agentId, actionKey, beforeSequence, countMax }) {
      const before = beforeSequence ?? Number.MAX_SAFE_INTEGER;
      const looked = await rows<Looked>(grantedText, [agentId, actionKey, before]);
      const found: GrantedRequest[] = [];
      let last: number | null = null;
      for (const { sequence, isFound, ...one } of looked) {
        if (found.length === countMax) return { found, next: last };
        last = sequence;
        if (isFound) found.push(one);
      }
      return { found, next: looked.length === activityAtOnce ? last : null };
    },
  };
}
