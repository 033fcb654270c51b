// Reads what came of all requests of one agent. INVARIANT: each read looks at a bounded stretch of the
// agent's own records.

import type { Database } from 'better-sqlite3';
import type {
  GrantedFound,
  GrantedPage,
  GrantedRequest,
  OutcomeCount,
  OutcomePage,
  OutcomesFound,
} from '../contract/agent-activity.ts';

/** How many records are looked through at once. */
export const activityAtOnce = 2_000;

interface Counted extends OutcomeCount {
  readonly last: number;
}

interface Looked extends GrantedRequest {
  readonly sequence: number;
  readonly isFound: 0 | 1;
}

const countText = (columns: string, table: string): string => `
  SELECT day, outcome, count(*) AS count, max(sequence) AS last
  FROM (SELECT sequence, ${columns} FROM ${table}
    WHERE agent_id = @agentId AND sequence > @afterSequence ORDER BY sequence LIMIT ${activityAtOnce})
  GROUP BY day, outcome`;

const dayOf = (column: string): string => `${column} / 86400000 AS day`;

export const outcomeTexts = {
  requests: countText(`${dayOf('created_ms')}, outcome`, 'requests'),
  refusals: countText(`${dayOf('at_ms')}, 'refused' AS outcome`, 'refusals'),
} as const;

/**
 * Whether a request was granted. An expired request with a time of decision is a grant that is over; a wait
 * that ended without a grant has no such time.
 */
const isGranted = `(coalesce(now_status, status) IN ('auto_approved', 'approved', 'consumed')
  OR (coalesce(now_status, status) = 'expired' AND coalesce(now_decided_ms, decided_ms) IS NOT NULL))`;

export const grantedText = `
  SELECT sequence, created_ms AS createdAtMs, action_key = @actionKey AND ${isGranted} AS isFound,
    iif(action_key = @actionKey AND ${isGranted}, record_json -> '$.payload', '') AS payloadJson
  FROM requests WHERE agent_id = @agentId AND sequence < @before
  ORDER BY sequence DESC LIMIT ${activityAtOnce}`;

export function prepareActivityReads(database: Database) {
  const counts = {
    requests: database.prepare<[OutcomePage], Counted>(outcomeTexts.requests),
    refusals: database.prepare<[OutcomePage], Counted>(outcomeTexts.refusals),
  };
  const granted = database.prepare<[object], Looked>(grantedText);
  return {
    outcomes(page: OutcomePage): OutcomesFound {
      const found = counts[page.kind].all(page);
      const through = found.length === 0 ? null : Math.max(...found.map(({ last }) => last));
      return { counts: found.map(({ day, outcome, count }) => ({ day, outcome, count })), through };
    },
    granted({ agentId, actionKey, beforeSequence, countMax }: GrantedPage): GrantedFound {
      const found: GrantedRequest[] = [];
      let looked = 0;
      let last: number | null = null;
      const before = beforeSequence ?? Number.MAX_SAFE_INTEGER;
      for (const { sequence, isFound, ...one } of granted.iterate({ agentId, actionKey, before })) {
        if (found.length === countMax) return { found, next: last };
        looked += 1;
        last = sequence;
        if (isFound === 1) found.push(one);
      }
      return { found, next: looked === activityAtOnce ? last : null };
    },
  };
}
