// Compares the rows of a store with each other, in one snapshot, and requests with their seals. The database
// has no seal over the rows beside the records, so the check finds what contradicts the records there, not
// every edit.

import type { SealKey } from '../contract/seal.ts';
import type { StateCheck, StateDifference, StateStore } from '../contract/state.ts';
import { tampered } from '../contract/store-error.ts';
import { endNow, leastRequestId, statusNow } from '../queries/request-lists.ts';
import { readStored } from './request-reads.ts';
import { requestDifference } from './seals/request-seals.ts';
import type { ReadPool, Rows } from './server/read-pool.ts';

/** The most differences that a check returns: enough to see what happened. */
const differencesMax = 20;

interface StateRow {
  readonly row: string;
}

export function consistencyStore({ snapshot }: ReadPool, sealKey: SealKey): StateStore {
  return {
    differences: (check) => snapshot((rows) => differencesOf({ rows, sealKey }, check)),
    accept: () => Promise.reject(tampered('rows contradict the records, and there is no seal to renew')),
  };
}

interface StateReading {
  readonly rows: Rows;
  readonly sealKey: SealKey;
}

async function differencesOf(
  { rows, sealKey }: StateReading,
  { isQuick, onProgress }: StateCheck,
): Promise<readonly StateDifference[]> {
  const differences = [
    ...(await endDifferences(rows)),
    ...(await requestDifferences({ rows, sealKey }, isQuick ? openRequests : allRequests)),
    ...(isQuick ? [] : await entryDifferences(rows, onProgress)),
  ];
  return differences.slice(0, differencesMax);
}

/** Requests that wait or may still be granted, by what their rows say. */
const openRequests = `SELECT id FROM requests WHERE id > $1 AND (${statusNow} = 'pending'
  OR (${statusNow} = 'approved' AND ${endNow} > extract(epoch FROM clock_timestamp()) * 1000))
  AND ${statusNow} <> 'auto_approved' ORDER BY id LIMIT $2`;
const allRequests = 'SELECT id FROM requests WHERE id > $1 ORDER BY id LIMIT $2';
const requestsAtOnce = 500;

/** Returns the requests that are not as the service wrote them. */
async function requestDifferences(
  { rows, sealKey }: StateReading,
  text: string,
): Promise<readonly StateDifference[]> {
  const differences: StateDifference[] = [];
  for (let after = leastRequestId; differences.length < differencesMax; ) {
    const ids = (await rows<{ readonly id: string }>(text, [after, requestsAtOnce])).map(({ id }) => id);
    for (const request of await readStored(rows, ids)) {
      const message = requestDifference(sealKey, request);
      if (message !== null) differences.push({ table: 'requests', row: request.row.id, message });
    }
    if (ids.length < requestsAtOnce) return differences;
    after = ids.at(-1) ?? after;
  }
  return differences;
}

const laneOfTable = {
  requests: 'lane',
  refusals: '0',
  changes: '0',
  request_events: '0',
  knots: '0',
} as const;

/**
 * Finds the lanes that do not end with the record that the service wrote. Up to the last knot the records
 * themselves tell where lanes end, and verifying the chain checks them against it. Only the later records are
 * read, however many there are in all, since a start waits for this check.
 */
async function endDifferences(rows: Rows): Promise<readonly StateDifference[]> {
  // Read as a value first, so that the planner knows how few records come after it.
  const [known] = await rows<{ readonly last: number }>(
    'SELECT coalesce((SELECT max(sequence) FROM knots), (SELECT sequence FROM chain_end)) AS last',
  );
  const records = Object.entries(laneOfTable).map(
    ([table, lane]) => `SELECT sequence, hash, ${lane} AS lane FROM ${table}`,
  );
  const ends = await rows<StateRow>(
    `WITH record AS NOT MATERIALIZED (${records.join(' UNION ALL ')}),
     lane_end AS (
       SELECT 0 AS lane, sequence, hash FROM chain_end UNION ALL SELECT slot + 1, lane_sequence, lane_hash FROM replicas)
     SELECT sequence::text AS row FROM lane_end
     WHERE sequence > coalesce((SELECT max(sequence) FROM checkpoints WHERE purpose = 'pruned'), 0)
       AND (SELECT hash FROM record WHERE record.sequence = lane_end.sequence LIMIT 1) IS DISTINCT FROM hash
     UNION ALL SELECT record.sequence::text FROM record JOIN lane_end USING (lane)
     WHERE record.sequence > lane_end.sequence AND record.sequence >= $1`,
    [known?.last ?? 0],
  );
  const message = 'the chain does not end here with the record that the service wrote';
  return ends.map(({ row }) => ({ table: 'records', row, message }));
}

/** How many entries are read at once; an answer about more might not come in time. */
const entriesAtOnce = 20_000;

interface Entry {
  readonly definition: string;
  readonly request_id: string;
  readonly differs: boolean;
}

/** Returns the meter entries that contradict the record of their request. */
async function entryDifferences(
  rows: Rows,
  onProgress: StateCheck['onProgress'],
): Promise<readonly StateDifference[]> {
  const pruned = await rows("SELECT 1 FROM checkpoints WHERE purpose = 'pruned' LIMIT 1");
  if (pruned.length > 0) return [];
  const message = 'it does not match the record of its request';
  const differences: StateDifference[] = [];
  let [request, definition, count] = [leastRequestId, '', 0];
  for (;;) {
    const entries = await rows<Entry>(
      `SELECT definition, request_id,
         NOT is_gone AND granted_ms IS DISTINCT FROM coalesce(now_decided_ms, decided_ms) AS differs
       FROM (SELECT * FROM meter_entries WHERE (request_id, definition) > ($1, $2)
         ORDER BY request_id, definition LIMIT ${entriesAtOnce}) AS entry
       LEFT JOIN requests ON requests.id = request_id ORDER BY request_id, definition`,
      [request, definition],
    );
    count += entries.length;
    onProgress?.(count);
    for (const one of entries)
      if (one.differs)
        differences.push({
          table: 'meter_entries',
          row: JSON.stringify([one.definition, one.request_id]),
          message,
        });
    const last = entries.at(-1);
    if (last === undefined || entries.length < entriesAtOnce || differences.length >= differencesMax)
      return differences;
    [request, definition] = [last.request_id, last.definition];
  }
}
