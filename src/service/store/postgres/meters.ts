// Stores entries of meters in rows. Several processes enter meters, so a request that rests on meters is
// decided when its turn to be stored comes, and again when another process was faster. What this process
// knows of meters outlasts a connection, but not the server: meters are read again after the server has
// restarted, or when a write of another kind is in doubt.

import { lastingMeterPrefix } from '../../../language/value/lasting-meter.ts';
import type { MeterEntryRow, MeterStore } from '../contract/metering.ts';
import { grantedAtMs, isCounted, meterReads } from '../queries/meters.ts';
import type { AppendFunctions } from './append-requests.ts';
import type { CommitQueue } from './commit-queue.ts';
import { entriesWhere, keepSnapshot, meterHistory } from './meter-history.ts';
import { idArray } from './server/arrays.ts';
import { otherPolicies } from './server/errors.ts';
import type { ReadPool } from './server/read-pool.ts';
import { requestIdOrNull } from './server/request-ids.ts';
import type { Transaction, Work } from './transaction.ts';

export function meterStore(pool: ReadPool, queue: CommitQueue, asking: AppendFunctions): MeterStore {
  return {
    spend: (places, work) => asking.spend(places, work),
    onUncertain: (listener) => queue.onUncertain(listener),
    onMoved: (listener) => queue.moved.onMoved(listener),
    catchUp: () => queue.catchUp(),
    position: () => queue.moved.seen,
    async note(definitions, atMs, policies) {
      const noted = await queue.write(noteMeters(definitions, atMs, policies ?? null));
      if (noted === null) throw otherPolicies();
      return noted;
    },
    noteComplete: (definition, sinceMs) =>
      queue.write(async (transaction) => {
        await transaction.rows('UPDATE meters SET is_whole = true, since_ms = $2 WHERE definition = $1', [
          definition,
          sinceMs,
        ]);
      }),
    openPast: async () => meterHistory(pool),
    keepSnapshot: (definition, within) => keepSnapshot(pool, queue, { definition, within }),
    enteredBy: (requestId) => entriesWhere(pool, 'request_id = $1', [requestIdOrNull(requestId)]),
    add: (late) => queue.write(addEntries(late)),
    ...meterReads(pool.queries),
    forget: (definition, beforeMs, countMax) =>
      queue.write(async (transaction) => {
        await transaction.alone();
        const gone = await transaction.rows<{ readonly key: string }>(
          `DELETE FROM meter_entries WHERE definition = $1 AND request_id IN (
             SELECT request_id FROM meter_entries WHERE definition = $1 AND granted_ms < $2 LIMIT $3)
           RETURNING meter_key AS key`,
          [definition, beforeMs, countMax],
        );
        await forgetLocks(
          transaction,
          `definition = $1 AND meter_key = ANY ($2) AND NOT EXISTS (SELECT FROM meter_entries AS entry
             WHERE entry.definition = meter_locks.definition AND entry.meter_key = meter_locks.meter_key)`,
          [definition, [...new Set(gone.map(({ key }) => key))]],
        );
        return gone.length;
      }),
  };
}

function addEntries(late: readonly (MeterEntryRow & { readonly requestId: string })[]): Work<void> {
  return async ({ rows, alone }) => {
    await alone();
    await rows(
      `INSERT INTO meter_entries (definition, request_id, meter_key, granted_ms, is_certain, value, written)
       SELECT late.definition, late.request_id, late.key, ${grantedAtMs}, late.certain, late.value, '0'
       FROM unnest($1::text[], $2::uuid[], $3::text[], $4::bool[], $5::text[])
         AS late(definition, request_id, key, certain, value)
       JOIN requests ON requests.id = late.request_id AND ${isCounted('starts_with(late.definition, $6)')}
       ON CONFLICT DO NOTHING`,
      [
        ...[late.map(({ definition }) => definition), idArray(late.map(({ requestId }) => requestId))],
        ...[late.map(({ key }) => key), late.map(({ isCertain }) => isCertain)],
        ...[late.map(({ value }) => value), lastingMeterPrefix],
      ],
    );
  };
}

/** Deletes locks of meters, except those that are held: their holder waits for this write to end. */
async function forgetLocks(
  { rows }: Transaction,
  condition: string,
  values: readonly unknown[],
): Promise<void> {
  await rows(
    `DELETE FROM meter_locks WHERE ctid IN (SELECT ctid FROM meter_locks WHERE ${condition} FOR UPDATE SKIP LOCKED)`,
    values,
  );
}

/**
 * Returns since when each meter has every request; in a new store none can be missing. Returns null when
 * another policy set is active.
 */
function noteMeters(
  definitions: readonly string[],
  atMs: number,
  policies: string | null,
): Work<readonly (number | null)[] | null> {
  return async (transaction) => {
    const { rows } = transaction;
    await transaction.alone();
    const [control] = await rows<{ readonly isActive: boolean }>(
      'SELECT coalesce(policy_digest = $1, true) AS "isActive" FROM control',
      [policies],
    );
    if (control?.isActive !== true) return null;
    await rows('DELETE FROM meter_entries WHERE definition <> ALL ($1::text[])', [definitions]);
    await rows('DELETE FROM meters WHERE definition <> ALL ($1::text[])', [definitions]);
    await forgetLocks(transaction, 'definition <> ALL ($1::text[])', [definitions]);
    await rows(
      `INSERT INTO meters SELECT definition, CASE WHEN is_new THEN 0 ELSE $2::int8 END, is_new
       FROM unnest($1::text[]) AS definition,
         (SELECT NOT EXISTS (SELECT 1 FROM requests) AND NOT EXISTS (SELECT 1 FROM checkpoints) AS is_new) AS store
       ON CONFLICT DO NOTHING`,
      [definitions, atMs],
    );
    const spans = await rows<{ readonly definition: string; readonly sinceMs: number | null }>(
      'SELECT definition, CASE WHEN is_whole THEN since_ms END AS "sinceMs" FROM meters',
    );
    const since = new Map(spans.map(({ definition, sinceMs }) => [definition, sinceMs]));
    return definitions.map((definition) => since.get(definition) ?? null);
  };
}
