// Compares the entries of meters with the seal. The sum of their seals is in the seal of the store, and each
// snapshot has the sum of those that it holds, so only snapshots and the entries that none holds are read.

import type { Database } from 'better-sqlite3';
import { snapshotSpans, type TimeSpan } from '../../contract/meter-snapshot.ts';
import {
  createSum,
  isSameSum,
  rowTag,
  type SealedState,
  type SealKey,
  type StoredValue,
  type TableSum,
} from '../../contract/seal.ts';
import { sealedTables } from '../../contract/sealed-tables.ts';
import { readSeal, rowsOf } from './seal.ts';

const rowsPerStep = 500;
/** A snapshot is as long as many rows, so few are read between two steps. */
const snapshotsPerStep = 8;

/**
 * Yields now and then; returns what is not as the service left it, as a sentence in lower case without a
 * final period, or null. To be run inside one transaction.
 */
export function* checkMeters(database: Database, key: SealKey): Generator<number, string | null> {
  const state = readSeal(database, key);
  if (state === null) return "the seal is missing, or is not this service's";
  if (!isSameSum(yield* sumOfSnapshots(database, key), sumIn(state, 'meter_snapshots')))
    return 'the snapshots of meters do not match what the service wrote';
  if (!isSameSum(yield* sumOfEntries(database, key), sumIn(state, 'meter_entries')))
    return 'the entries of meters do not match what the service wrote';
  return null;
}

function sumIn({ tables }: SealedState, name: string): TableSum {
  return tables[name] ?? createSum().value();
}

function* sumOfSnapshots(database: Database, key: SealKey): Generator<number, TableSum> {
  const table = sealedTables(database).find(({ name }) => name === 'meter_snapshots')!;
  const sum = createSum();
  let count = 0;
  for (const values of rowsOf(database, table)) {
    sum.add(rowTag(key, table.name, values));
    count += 1;
    if (count % snapshotsPerStep === 0) yield snapshotsPerStep;
  }
  return sum.value();
}

/** Sums the seals of all entries, where each snapshot stands for those that it holds. */
export function* sumOfEntries(database: Database, key: SealKey): Generator<number, TableSum> {
  const sums = database
    .prepare<[], { count: number; sum: string }>(
      'SELECT entry_count AS count, tags_sum AS sum FROM meter_snapshots',
    )
    .all();
  const sum = createSum();
  for (const one of sums) sum.addAll(one);
  let count = 0;
  for (const values of looseEntries(database)) {
    sum.add(rowTag(key, 'meter_entries', values));
    count += 1;
    if (count % rowsPerStep === 0) yield rowsPerStep;
  }
  return sum.value();
}

/** The entries that no snapshot holds. */
function* looseEntries(database: Database): Generator<readonly StoredValue[], void> {
  const definitions = database
    .prepare<[], string>(
      `WITH RECURSIVE found (definition) AS (
         SELECT min(definition) FROM meter_entries
         UNION ALL SELECT (SELECT min(definition) FROM meter_entries WHERE definition > found.definition)
         FROM found WHERE definition IS NOT NULL)
       SELECT definition FROM found WHERE definition IS NOT NULL`,
    )
    .pluck();
  const read = (condition: string) =>
    database
      .prepare<(string | number)[], StoredValue[]>(
        `SELECT ${entryColumns} FROM meter_entries WHERE definition = ? AND ${condition}`,
      )
      .raw()
      .safeIntegers();
  const pending = read('granted_ms IS NULL');
  const granted = read('granted_ms >= ? AND granted_ms < ?');
  const held = prepareSnapshotSpans(database);
  const all = { fromMs: Number.MIN_SAFE_INTEGER, untilMs: Number.MAX_SAFE_INTEGER };
  for (const definition of definitions.all()) {
    yield* pending.iterate(definition);
    for (const { isHeld, fromMs, untilMs } of snapshotSpans(held(definition, all.fromMs), all))
      if (!isHeld) yield* granted.iterate(definition, fromMs, untilMs);
  }
}

/** The columns of an entry, in the order of the schema, which its seal follows. */
export const entryColumns = 'definition, request_id, meter_key, granted_ms, is_certain, value';

/** Returns a function that reads the stretches of snapshots that end after a moment, in the order of time. */
export function prepareSnapshotSpans(database: Database) {
  const held = database.prepare<[string, number], TimeSpan>(
    `SELECT from_ms AS fromMs, until_ms AS untilMs FROM meter_snapshots
     WHERE definition = ? AND until_ms > ? ORDER BY until_ms`,
  );
  return (definition: string, fromMs: number): readonly TimeSpan[] => held.all(definition, fromMs);
}
