// Follows the meters that other processes enter: up to which moment this process knows them, what has come
// since, and which meters several processes enter just now. Processes commit beside each other, so a moment
// is a snapshot of the server, which tells the transactions that had ended. INVARIANT: the listener has heard
// of every change up to `seen`, except what this process has entered itself.

import type { MeterSeries, MovedMeterEntry } from '../contract/metering.ts';
import type { Connection } from './server/connection.ts';

/** How many entries are read at once; more would delay the writes that wait. */
const entriesAtOnce = 5_000;
/** After another process has entered a meter in between, the meter is locked first for this many batches. */
const sharedForBatches = 8;
/** Entries of other processes are heard of within this time, even if nobody asks. */
const everyMs = 250;

/** The last entry of a part, after which the next part begins. */
interface PageEnd {
  readonly written: string;
  readonly requestId: string | null;
  readonly definition: string;
}

interface MovedEntry extends MovedMeterEntry, PageEnd {
  readonly requestId: string;
}

/** A row of the answer; the columns of the entry are null when there is no entry. */
type EntryRow = (MovedEntry | (PageEnd & { readonly requestId: null })) & { readonly upTo: string };

/** A class because it holds how far the changes have been heard of. */
export class MovedMeters {
  #seen: string | null = null;
  #listener: (entries: readonly MovedMeterEntry[]) => void = () => undefined;
  /** By meter, for how many more batches the meter is locked first. */
  readonly #shared = new Map<string, number>();
  #lookedAtMs = -Infinity;

  /** The moment up to which changes have been heard of, as PostgreSQL writes it; null when none is known. */
  get seen(): string | null {
    return this.#seen;
  }

  onMoved(listener: (entries: readonly MovedMeterEntry[]) => void): void {
    this.#listener = listener;
  }

  /**
   * Begins after a claim of the slot, perhaps a repeated one: the listener goes on from what it has heard,
   * else from `moment`.
   */
  begin(moment: string): void {
    this.#seen ??= moment;
    this.noteWanted();
  }

  /** Forgets the moment, for when the listener reads all meters again. */
  forget(): void {
    this.#seen = null;
    this.#shared.clear();
  }

  /** Counts down the batches; to be called when a batch of this process was stored. */
  stored(): void {
    for (const [series, batches] of this.#shared) {
      if (batches <= 1) this.#shared.delete(series);
      else this.#shared.set(series, batches - 1);
    }
  }

  /** Makes changes due to be read, since somebody waits to hear of them. */
  noteWanted(): void {
    this.#lookedAtMs = -Infinity;
  }

  /** Notes that other processes enter these meters, since a decision on them was out of date. */
  noteShared(places: readonly MeterSeries[]): void {
    for (const place of places) this.#shared.set(nameOf(place), sharedForBatches);
    this.noteWanted();
  }

  /** Whether other processes enter one of these meters just now. */
  isShared(places: readonly MeterSeries[]): boolean {
    return this.#shared.size > 0 && places.some((place) => this.#shared.has(nameOf(place)));
  }

  isDue(nowMs: number): boolean {
    return this.#seen !== null && nowMs - this.#lookedAtMs >= everyMs;
  }

  /** Tells the listener what has changed. To be called one at a time, and not while a batch is under way. */
  async catchUp(connection: Connection, slot: number | null): Promise<void> {
    if (this.#seen === null) return;
    this.#lookedAtMs = performance.now();
    let upTo: string | null = null;
    for (let last: PageEnd | null = null; ; ) {
      const rows: readonly EntryRow[] = await connection.query<EntryRow>(entriesQuery, [
        ...[this.#seen, slot, upTo],
        ...[last?.written ?? null, last?.requestId ?? null, last?.definition ?? null],
      ]);
      const entries = rows.filter((row) => row.requestId !== null);
      this.#listener(entries);
      upTo ??= rows[0]?.upTo ?? null;
      last = entries.at(-1) ?? null;
      if (entries.length < entriesAtOnce) break;
    }
    this.#seen = upTo;
  }
}

/**
 * SQL condition for entries that were written after the moment `$1`, as far as this statement sees them. A
 * transaction number from the future belongs to another server, of which this one is a copy, so it lies in
 * the past.
 */
export const isWrittenAfter = `written >= pg_snapshot_xmin($1::pg_snapshot)
  AND written < pg_snapshot_xmax(pg_current_snapshot()) AND NOT pg_visible_in_snapshot(written, $1::pg_snapshot)`;

/**
 * SQL condition for entries that the transaction itself has taken out, which `isWrittenAfter` does not see. What
 * it has granted or refused waited when the meters were read, so their readings allowed for it.
 */
export const isRemovedByThisTransaction = 'written = pg_current_xact_id_if_assigned() AND is_gone';

/** An entry that changes again between two parts is in the answer to the next look. */
const entriesQuery = {
  name: 'moved',
  text: `SELECT pg_current_snapshot()::text AS "upTo", entry.* FROM (SELECT) AS always LEFT JOIN LATERAL (
      SELECT definition, request_id AS "requestId", meter_key AS key, granted_ms AS "grantedAtMs",
        is_certain AS "isCertain", value, written, is_gone AS "isGone"
      FROM meter_entries
      WHERE ${isWrittenAfter} AND slot IS DISTINCT FROM $2
        AND ($3::text IS NULL OR pg_visible_in_snapshot(written, $3::pg_snapshot))
        AND ($4::xid8 IS NULL OR (written, request_id, definition) > ($4::xid8, $5::uuid, $6::text))
      ORDER BY written, request_id, definition LIMIT ${entriesAtOnce}) AS entry ON true
    ORDER BY entry.written, entry."requestId", entry.definition`,
};

function nameOf({ definition, key }: MeterSeries): string {
  return `${definition} ${key}`;
}
