// Reads the entries of meters for a start. INVARIANT: nothing is read that the service did not write: all is
// read in one snapshot of the file, and that is compared with the seal before the first entry is handed out.

import { setImmediate as pause } from 'node:timers/promises';
import type { Database } from 'better-sqlite3';
import { snapshotEntries, snapshotSpans } from '../contract/meter-snapshot.ts';
import type { MeterHistory, StoredMeterEntry } from '../contract/metering.ts';
import { sealKeyOf } from '../contract/seal.ts';
import { tampered } from '../contract/store-error.ts';
import { withStoreErrors } from './file/errors.ts';
import { type EntryColumns, entryOf } from './meters.ts';
import { checkMeters, prepareSnapshotSpans } from './seal/meter-check.ts';
import type { StateSource } from './state.ts';

/** Entries that are read between two pauses. */
const entriesAtOnce = 2_000;

type GrantedColumns = EntryColumns & { readonly granted_ms: number };

/** Opens the entries as they are now. Rejects with a StoreError, `tampered` when the seal does not hold. */
export async function openMeterHistory({ path, openReader, masterKey }: StateSource): Promise<MeterHistory> {
  const database = withStoreErrors(path, openReader);
  const close = async () => void database.close();
  try {
    database.exec('BEGIN');
    await verify(path, checkMeters(database, sealKeyOf(masterKey)));
    return { ...prepareEntries(path, database), close };
  } catch (error) {
    await close();
    throw error;
  }
}

async function verify(path: string, checking: Generator<number, string | null>): Promise<void> {
  const next = () => withStoreErrors(path, () => checking.next());
  let step = next();
  for (; step.done !== true; step = next()) await pause();
  if (step.value !== null) throw tampered(`in \`${path}\` ${step.value}`);
}

function prepareEntries(path: string, database: Database): Pick<MeterHistory, 'pending' | 'granted'> {
  const pending = database.prepare<[string], EntryColumns>(
    'SELECT * FROM meter_entries WHERE definition = ? AND granted_ms IS NULL',
  );
  const granted = database.prepare<[string, number, string, number], GrantedColumns>(
    `SELECT * FROM meter_entries WHERE definition = ? AND (granted_ms, request_id) > (?, ?) AND granted_ms < ?
     ORDER BY granted_ms, request_id LIMIT ${entriesAtOnce}`,
  );
  const snapshot = database
    .prepare<[string, number], string>(
      'SELECT entries_json FROM meter_snapshots WHERE definition = ? AND until_ms = ?',
    )
    .pluck();
  const held = prepareSnapshotSpans(database);
  const read = <T>(query: () => T): T => withStoreErrors(path, query);

  async function* loose(definition: string, fromMs: number, untilMs: number) {
    for (let after: readonly [number, string] | null = [fromMs, '']; after !== null; ) {
      const cursor: readonly [number, string] = after;
      const grants: readonly GrantedColumns[] = read(() => granted.all(definition, ...cursor, untilMs));
      yield grants.map(entryOf);
      const last = grants.length === entriesAtOnce ? grants.at(-1) : undefined;
      after = last === undefined ? null : [last.granted_ms, last.request_id];
      if (after !== null) await pause();
    }
  }

  return {
    pending: async (definition) => read(() => pending.all(definition)).map(entryOf),
    async *granted(definition, sinceMs): AsyncGenerator<readonly StoredMeterEntry[], void> {
      const all = { fromMs: sinceMs, untilMs: Number.MAX_SAFE_INTEGER };
      for (const { isHeld, fromMs, untilMs } of snapshotSpans(
        read(() => held(definition, sinceMs)),
        all,
      )) {
        if (isHeld) yield snapshotEntries(definition, read(() => snapshot.get(definition, untilMs)) ?? '');
        else yield* loose(definition, fromMs, untilMs);
        await pause();
      }
    },
  };
}
