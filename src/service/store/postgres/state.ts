// What the rows of a store say of each other, compared in one snapshot. The database has no seal over what stands beside the
// records, so what is found is what contradicts the records, not every edit.

import type { StateCheck, StateDifference, StateStore } from '../contract/state.ts';
import { tampered } from '../contract/store-error.ts';
import type { ReadPool, Rows } from './server/read-pool.ts';

/** Enough to see what happened. */
const differencesMax = 20;

interface Found {
  readonly row: string;
}

export function consistencyStore({ snapshot }: ReadPool): StateStore {
  return {
    differences: (check) => snapshot((rows) => differencesOf(rows, check)),
    accept: () => Promise.reject(tampered('rows contradict the records, and there is no seal to renew')),
  };
}

async function differencesOf(rows: Rows, { isQuick }: StateCheck): Promise<readonly StateDifference[]> {
  const found = [...(await endDifferences(rows)), ...(isQuick ? [] : await entryDifferences(rows))];
  return found.slice(0, differencesMax);
}

const laneOfTable = {
  requests: 'lane',
  refusals: '0',
  changes: '0',
  request_events: '0',
  knots: '0',
} as const;

/** Up to the last knot the records themselves say where lanes end: each is held against it when they are verified. */
async function endDifferences(rows: Rows): Promise<readonly StateDifference[]> {
  const records = Object.entries(laneOfTable).map(
    ([table, lane]) => `SELECT sequence, hash, ${lane} AS lane FROM ${table}`,
  );
  const ends = await rows<Found>(
    `WITH record AS (${records.join(' UNION ALL ')}),
     lane_end AS (
       SELECT 0 AS lane, sequence, hash FROM chain_end UNION ALL SELECT slot + 1, lane_sequence, lane_hash FROM replicas)
     SELECT sequence::text AS row FROM lane_end
     WHERE sequence > coalesce((SELECT max(sequence) FROM checkpoints WHERE purpose = 'pruned'), 0) AND NOT EXISTS (
       SELECT FROM record WHERE record.sequence = lane_end.sequence AND record.hash = lane_end.hash)
     UNION ALL SELECT record.sequence::text FROM record JOIN lane_end USING (lane)
     WHERE record.sequence > lane_end.sequence AND record.sequence >= coalesce((SELECT max(sequence) FROM knots), (
       SELECT sequence FROM chain_end))`,
  );
  const message = 'the last record of its lane is not the one that the service wrote';
  return ends.map(({ row }) => ({ table: 'records', row, message }));
}

/** Entries that contradict the record of their request. */
async function entryDifferences(rows: Rows): Promise<readonly StateDifference[]> {
  const entries = await rows<Found>(
    `SELECT json_build_array(definition, request_id)::text AS row
     FROM meter_entries LEFT JOIN requests ON requests.id = request_id
     WHERE NOT is_gone AND granted_ms IS DISTINCT FROM coalesce(now_decided_ms, decided_ms)
       AND NOT EXISTS (SELECT 1 FROM checkpoints WHERE purpose = 'pruned') LIMIT ${differencesMax}`,
  );
  const message = 'it is not what the record of its request says';
  return entries.map(({ row }) => ({ table: 'meter_entries', row, message }));
}
