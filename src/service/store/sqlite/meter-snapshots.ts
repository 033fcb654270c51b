// Snapshots of meters in rows. INVARIANT: a snapshot holds exactly the entries that were granted within its
// stretch. It is made in one transaction with nothing beside it, and whatever adds, changes or removes one of its
// entries later deletes it, by triggers of the writer's own connection or, for an added entry, by what adds it.
// `tags_sum` is the sum of the seals of its entries, so the entries that no snapshot holds are verified without
// reading those that one holds.

import type { Database } from 'better-sqlite3';
import {
  type GrantedEntry,
  type SnapshotRange,
  snapshotSpans,
  snapshotText,
  type TimeSpan,
} from '../contract/meter-snapshot.ts';
import { createSum, rowTag, type SealKey } from '../contract/seal.ts';
import { entryColumns, prepareSnapshotSpans } from './seal/meter-check.ts';

/**
 * Deletes a snapshot as soon as an entry within its stretch is changed or removed. Returns a function that does so for
 * an entry that is added.
 */
export function watchMeterEntries(database: Database): (definition: string, grantedAtMs: number) => void {
  const forget = (definition: string, grantedAtMs: string) =>
    `DELETE FROM meter_snapshots WHERE definition = ${definition}
       AND until_ms > ${grantedAtMs} AND from_ms <= ${grantedAtMs}`;
  const forgetAt = (row: 'NEW' | 'OLD') => `${forget(`${row}.definition`, `${row}.granted_ms`)};`;
  const trigger = (event: string, body: string) =>
    database.exec(
      `CREATE TEMP TRIGGER meter_snapshots_${event} AFTER ${event} ON main.meter_entries BEGIN ${body} END`,
    );
  trigger('UPDATE', forgetAt('OLD') + forgetAt('NEW'));
  trigger('DELETE', forgetAt('OLD'));
  const forgetAdded = database.prepare<[string, number, number]>(forget('?', '?'));
  return (definition, grantedAtMs) => void forgetAdded.run(definition, grantedAtMs, grantedAtMs);
}

interface NewSnapshot {
  readonly definition: string;
  readonly within: SnapshotRange;
}

type EntryValues = readonly [string, string, string, bigint, bigint, string | null];

export function prepareSnapshotWrites(database: Database, key: SealKey) {
  const held = prepareSnapshotSpans(database);
  const limit = database
    .prepare<[string, number, number, number], number>(
      `SELECT granted_ms FROM meter_entries WHERE definition = ? AND granted_ms >= ? AND granted_ms < ?
       ORDER BY granted_ms LIMIT 1 OFFSET ?`,
    )
    .pluck();
  const entries = database
    .prepare<[string, number, number], EntryValues>(
      `SELECT ${entryColumns} FROM meter_entries WHERE definition = ? AND granted_ms >= ? AND granted_ms < ?
       ORDER BY granted_ms, request_id`,
    )
    .raw()
    .safeIntegers();
  const insert = database.prepare<[string, number, number, number, string, string]>(
    'INSERT INTO meter_snapshots VALUES (?, ?, ?, ?, ?, ?)',
  );

  function keep(definition: string, { fromMs, untilMs }: TimeSpan): number {
    const grantedEntries: GrantedEntry[] = [];
    const tags = createSum();
    for (const values of entries.iterate(definition, fromMs, untilMs)) {
      const [, requestId, meterKey, grantedAtMs, isCertain, value] = values;
      tags.add(rowTag(key, 'meter_entries', values));
      grantedEntries.push({
        definition,
        requestId,
        key: meterKey,
        grantedAtMs: Number(grantedAtMs),
        isCertain: isCertain === 1n,
        value,
      });
    }
    insert.run(
      definition,
      fromMs,
      untilMs,
      grantedEntries.length,
      snapshotText(grantedEntries),
      tags.value().sum,
    );
    return untilMs;
  }

  return {
    /** Returns from where to go on. */
    'keep-meter-snapshot'({ definition, within }: NewSnapshot): number | 'nothing-left' {
      for (const { isHeld, fromMs, untilMs } of snapshotSpans(held(definition, within.fromMs), within)) {
        if (isHeld) continue;
        const next = limit.get(definition, fromMs, untilMs, within.countMax);
        // Those of one millisecond stay together.
        if (next !== undefined)
          return keep(definition, { fromMs, untilMs: next > fromMs ? next : fromMs + 1 });
        const hasEntries = limit.get(definition, fromMs, untilMs, 0) !== undefined;
        // A gap between snapshots is filled however few entries it has, and the last one once there are enough.
        if (hasEntries && untilMs < within.untilMs) return keep(definition, { fromMs, untilMs });
      }
      return 'nothing-left';
    },
  };
}
