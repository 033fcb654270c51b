// Reads the requests that meters count. The entries of meters are read in the folder of each store: a database
// keeps those that are gone, and a start reads both in different ways.

import { isLastingMeter } from '../../../language/value/lasting-meter.ts';
import type { CountedRequest, MeterStore } from '../contract/metering.ts';
import type { RequestPosition } from '../contract/store.ts';
import { type QueryRunner, query } from './dialect.ts';
import { firstAfterPruning } from './records.ts';
import { scannedRequestsMax, statusNow } from './request-lists.ts';

export const grantedAtMs = 'coalesce(now_decided_ms, decided_ms)';

/** Whether a request had a grant that is over; a wait that expired without a grant has no time of decision. */
export const isGrantOver = `(${statusNow} = 'expired' AND ${grantedAtMs} IS NOT NULL)`;

/**
 * Whether a meter counts a request; `isLasting` is SQL for whether its entries last. A consumed grant still counts, and
 * one that was released counts in meters whose entries last.
 */
export function isCounted(isLasting: string): string {
  return `(${statusNow} IN ('auto_approved', 'approved', 'pending') OR ${isGrantOver}
    OR (${statusNow} = 'consumed' AND (${isLasting} OR NOT EXISTS
      (SELECT 1 FROM request_events WHERE request_id = requests.id AND what = 'released'))))`;
}

const countedText = `SELECT sequence, id, action_key AS "actionKey", created_ms AS "createdAtMs",
    ${grantedAtMs} AS "grantedAtMs", record_json AS "recordJson",
    (SELECT detail_json FROM request_events
     WHERE request_id = requests.id AND what = 'consumed' ORDER BY sequence LIMIT 1) AS "outcomeJson"
  FROM requests WHERE sequence > @after AND sequence <= @upTo AND ${isCounted('@isLasting')}
    AND (${statusNow} = 'pending' OR ${grantedAtMs} > @sinceMs)
  ORDER BY sequence LIMIT @countMax`;

export function meterReads({ rows }: QueryRunner): Pick<MeterStore, 'counted' | 'completeSinceMs'> {
  return {
    async counted({ definition, sinceMs, after, countMax }) {
      const upTo = after + scannedRequestsMax;
      const counted = query<CountedRequest & RequestPosition>(countedText, {
        after,
        upTo,
        sinceMs,
        countMax,
        isLasting: isLastingMeter(definition),
      });
      const requests = await rows(counted);
      if (requests.length === countMax) return { requests, next: requests.at(-1)?.sequence ?? null };
      const [more] = await rows(query('SELECT 1 FROM requests WHERE sequence > @upTo LIMIT 1', { upTo }));
      return { requests, next: more === undefined ? null : upTo };
    },
    async completeSinceMs() {
      const [first] = await rows(firstAfterPruning);
      return first === undefined ? null : (first.atMs ?? Number.MAX_SAFE_INTEGER);
    },
  };
}
