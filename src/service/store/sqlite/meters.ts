// Stores entries of meters in rows. INVARIANT: the write that records a request or one of its events changes
// the entries of the request in the same transaction, so either both are stored or neither.

import type { Database } from 'better-sqlite3';
import { isLastingMeter, lastingMeterPrefix } from '../../../language/value/lasting-meter.ts';
import type { MeterEntryRow, SettledEntryRow, StoredMeterEntry } from '../contract/metering.ts';
import type { RequestEvent } from '../contract/records.ts';
import { grantedAtMs, isCounted } from '../queries/meters.ts';
import { watchMeterEntries } from './meter-snapshots.ts';
import type { Seal } from './seal/seal.ts';

export interface EntryColumns {
  readonly definition: string;
  readonly request_id: string;
  readonly meter_key: string;
  readonly granted_ms: number | null;
  readonly is_certain: number;
  readonly value: string | null;
}

export type MeterEntries = ReturnType<typeof prepareMeterEntries>;

/** Statements for what a request enters, and for what becomes of its entries later. */
export function prepareMeterEntries(database: Database, noteEntry: Seal['noteEntry']) {
  const forgetSnapshots = watchMeterEntries(database);
  const insert = database.prepare<[string, string, string, number | null, number, string | null]>(
    'INSERT INTO meter_entries VALUES (?, ?, ?, ?, ?, ?) ON CONFLICT DO NOTHING',
  );
  const grant = database.prepare<[number, string]>(
    'UPDATE meter_entries SET granted_ms = ? WHERE request_id = ? AND granted_ms IS NULL',
  );
  const release = database.prepare<[string]>(
    'DELETE FROM meter_entries WHERE request_id = ? AND granted_ms IS NULL',
  );
  const withdraw = database.prepare<[string, string]>(
    'DELETE FROM meter_entries WHERE request_id = ? AND definition NOT GLOB ?',
  );
  const remove = database.prepare<[string, string]>(
    'DELETE FROM meter_entries WHERE request_id = ? AND definition = ?',
  );
  return {
    put(requestId: string, grantedAtMs: number | null, entry: MeterEntryRow): void {
      const { definition, key, isCertain, value } = entry;
      const columns = [definition, requestId, key, grantedAtMs, Number(isCertain), value] as const;
      if (insert.run(...columns).changes === 0) return;
      noteEntry(columns);
      if (grantedAtMs !== null) forgetSnapshots(definition, grantedAtMs);
    },
    settle(requestId: string, grantedAtMs: number | null, { isGone, ...entry }: SettledEntryRow): void {
      remove.run(requestId, entry.definition);
      if (!isGone) this.put(requestId, grantedAtMs, entry);
    },
    /** Changes the entries as the event changes their request. */
    follow({ requestId, what, state: { status, decidedAtMs } }: RequestEvent): void {
      if (what === 'released') withdraw.run(requestId, `${lastingMeterPrefix}*`);
      else if (status === 'approved' && decidedAtMs !== null) grant.run(decidedAtMs, requestId);
      else if (status === 'rejected' || status === 'expired' || status === 'withdrawn')
        release.run(requestId);
    },
  };
}

interface LateEntries {
  readonly entries: readonly (MeterEntryRow & { readonly requestId: string })[];
}

interface MeterSnapshot {
  readonly definitions: readonly string[];
  readonly atMs: number;
}

interface WholeMeter {
  readonly definition: string;
  readonly sinceMs: number;
}

interface OldEntries {
  readonly definition: string;
  readonly beforeMs: number;
  readonly countMax: number;
}

export function prepareMeterWrites(database: Database, meterEntries: MeterEntries) {
  const grantOf = database.prepare<[string, number], { grantedAtMs: number | null }>(
    `SELECT ${grantedAtMs} AS grantedAtMs FROM requests WHERE id = ? AND ${isCounted('?')}`,
  );
  const makeWhole = database.prepare<[number, string]>(
    'UPDATE meters SET is_whole = 1, since_ms = ? WHERE definition = ?',
  );
  const forget = database.prepare<[string, number, number]>(
    `DELETE FROM meter_entries WHERE (definition, request_id) IN
       (SELECT definition, request_id FROM meter_entries WHERE definition = ? AND granted_ms < ? LIMIT ?)`,
  );
  return {
    'add-meter-entries'({ entries }: LateEntries): 'added' {
      for (const entry of entries) {
        const request = grantOf.get(entry.requestId, Number(isLastingMeter(entry.definition)));
        if (request !== undefined) meterEntries.put(entry.requestId, request.grantedAtMs, entry);
      }
      return 'added';
    },
    'note-meters': prepareNoteMeters(database),
    'note-whole-meter'({ definition, sinceMs }: WholeMeter): 'noted' {
      makeWhole.run(sinceMs, definition);
      return 'noted';
    },
    'forget-meter-entries': ({ definition, beforeMs, countMax }: OldEntries): number =>
      forget.run(definition, beforeMs, countMax).changes,
  };
}

/**
 * Returns a function that notes the meters in use and returns since when each has every request; in a new
 * store none can be missing.
 */
function prepareNoteMeters(database: Database): (now: MeterSnapshot) => readonly (number | null)[] {
  const spans = database.prepare<[], { definition: string; sinceMs: number | null }>(
    'SELECT definition, iif(is_whole, since_ms, NULL) AS sinceMs FROM meters',
  );
  const addMeter = database.prepare<[string, number, number]>('INSERT INTO meters VALUES (?, ?, ?)');
  const anyRecord = database.prepare<[], unknown>(
    'SELECT 1 FROM requests UNION ALL SELECT 1 FROM checkpoints',
  );
  const removeMeter = database.prepare<[string]>('DELETE FROM meters WHERE definition = ?');
  const removeEntries = database.prepare<[string]>('DELETE FROM meter_entries WHERE definition = ?');
  return ({ definitions, atMs }) => {
    const since = new Map(spans.all().map(({ definition, sinceMs }) => [definition, sinceMs]));
    for (const definition of since.keys()) {
      if (definitions.includes(definition)) continue;
      removeMeter.run(definition);
      removeEntries.run(definition);
    }
    const isNew = anyRecord.get() === undefined;
    for (const definition of definitions) {
      if (since.has(definition)) continue;
      since.set(definition, isNew ? 0 : null);
      addMeter.run(definition, isNew ? 0 : atMs, Number(isNew));
    }
    return definitions.map((definition) => since.get(definition) ?? null);
  };
}

export function prepareMeterReads(database: Database) {
  const entered = database.prepare<[string], EntryColumns>(
    'SELECT * FROM meter_entries WHERE request_id = ?',
  );
  return { enteredBy: (requestId: string) => entered.all(requestId).map(entryOf) };
}

export function entryOf(columns: EntryColumns): StoredMeterEntry {
  const { definition, request_id: requestId, meter_key: key, granted_ms: grantedAtMs, value } = columns;
  return { definition, requestId, key, grantedAtMs, isCertain: columns.is_certain === 1, value };
}
