// Where meters stand that other processes enter: up to which moment this process knows of them, what has come since, and which
// of them several processes enter just now. INVARIANT: the listener has heard of every change up to `seen`, but for what
// this process has entered by itself. Processes commit beside each other, so a moment is a snapshot of the server: which
// transactions had ended.

import type { MeterPlace, MovedMeterEntry } from '../contract/metering.ts';
import type { Connection } from './server/connection.ts';

/** Entries that are moved at once: more would hold up those who wait. */
const entriesAtOnce = 5_000;
/** A meter that another process has entered meanwhile is locked first for so many batches. */
const sharedForBatches = 8;
/** What others enter is heard of within this time, also where nobody asks. */
const everyMs = 250;

/** The last entry of a part, which the next one begins after. */
interface Place {
  readonly written: string;
  readonly requestId: string | null;
  readonly definition: string;
}

interface Moved extends MovedMeterEntry, Place {
  readonly requestId: string;
}

/** The columns are null where there is none. */
type Looked = (Moved | (Place & { readonly requestId: null })) & { readonly upTo: string };

/** A class because it holds how far the changes were heard of. */
export class MovedMeters {
  #seen: string | null = null;
  #listener: (entries: readonly MovedMeterEntry[]) => void = () => undefined;
  /** By place, for how many batches more. */
  readonly #shared = new Map<string, number>();
  #lookedAtMs = -Infinity;

  /** As PostgreSQL writes it. */
  get seen(): string | null {
    return this.#seen;
  }

  onMoved(listener: (entries: readonly MovedMeterEntry[]) => void): void {
    this.#listener = listener;
  }

  /** The slot is this process's, again perhaps: the listener goes on from what it has heard, if anything. */
  begin(moment: string): void {
    this.#seen ??= moment;
    this.noteWanted();
  }

  /** The listener reads all again. */
  forget(): void {
    this.#seen = null;
    this.#shared.clear();
  }

  /** A batch of this process was stored. */
  stored(): void {
    for (const [place, batches] of this.#shared) {
      if (batches <= 1) this.#shared.delete(place);
      else this.#shared.set(place, batches - 1);
    }
  }

  /** Somebody waits to hear of what has come. */
  noteWanted(): void {
    this.#lookedAtMs = -Infinity;
  }

  /** A decision about these was out of date. */
  noteShared(places: readonly MeterPlace[]): void {
    for (const place of places) this.#shared.set(nameOf(place), sharedForBatches);
    this.noteWanted();
  }

  /** Whether others enter one of these just now. */
  isShared(places: readonly MeterPlace[]): boolean {
    return this.#shared.size > 0 && places.some((place) => this.#shared.has(nameOf(place)));
  }

  isDue(nowMs: number): boolean {
    return this.#seen !== null && nowMs - this.#lookedAtMs >= everyMs;
  }

  /** Tells what has changed. One at a time, and not while a batch is under way. */
  async catchUp(connection: Connection, slot: number | null): Promise<void> {
    if (this.#seen === null) return;
    this.#lookedAtMs = performance.now();
    let upTo: string | null = null;
    for (let last: Place | null = null; ; ) {
      const rows: readonly Looked[] = await connection.query<Looked>(look, [
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
 * An entry that was written after the moment `$1`, as far as this statement sees it. A transaction of the future is one of
 * another server, of which a copy was made, and so of the past.
 */
export const isWrittenAfter = `written >= pg_snapshot_xmin($1::pg_snapshot)
  AND written < pg_snapshot_xmax(pg_current_snapshot()) AND NOT pg_visible_in_snapshot(written, $1::pg_snapshot)`;

/** What is changed again between two parts is told by the next look. */
const look = {
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

function nameOf({ definition, key }: MeterPlace): string {
  return `${definition} ${key}`;
}
