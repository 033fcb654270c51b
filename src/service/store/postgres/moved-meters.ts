// Where meters stand that other processes enter: up to which record this process knows of them, what has come since, and which
// of them several processes enter just now. INVARIANT: whoever listens has heard of every change up to `seen`, but for what
// this process has entered by itself.

import type { MeterPlace, MovedMeterEntry } from '../contract/metering.ts';
import type { Connection } from './server/connection.ts';

/** More than this at once would hold up those who wait. */
const entriesAtOnce = 5_000;
/** A meter that another process has entered meanwhile is locked first for so many batches. */
const sharedForBatches = 8;
/** What others enter is heard of within this time, also where nobody asks. */
const everyMs = 250;

interface Moved extends MovedMeterEntry {
  readonly version: number;
  readonly upTo: number;
}

/** A class because it holds how far the changes were heard of. */
export class MovedMeters {
  #seen: number | null = null;
  #listener: (entries: readonly MovedMeterEntry[]) => void = () => undefined;
  /** By place, for how many batches more. */
  readonly #shared = new Map<string, number>();
  /** Records have been stored that this process has not looked at. */
  #isBehind = false;
  #lookedAtMs = -Infinity;

  get seen(): number | null {
    return this.#seen;
  }

  onMoved(listener: (entries: readonly MovedMeterEntry[]) => void): void {
    this.#listener = listener;
  }

  /** The slot is this process's, again perhaps: whoever listens goes on from what it has heard, if anything. */
  begin(lastSequence: number): void {
    this.#seen ??= lastSequence;
    this.noteWanted();
  }

  /** Whoever listens reads all anew once the slot is this process's again. */
  forget(): void {
    this.#seen = null;
    this.#shared.clear();
  }

  /** A batch of this process was stored; between `first` and the last record of before others have stored something. */
  stored(first: number, last: number): void {
    if (this.#seen === first) this.#seen = last;
    else this.#isBehind = true;
    for (const [place, batches] of this.#shared) {
      if (batches <= 1) this.#shared.delete(place);
      else this.#shared.set(place, batches - 1);
    }
  }

  /** Somebody waits to hear of what has come. */
  noteWanted(): void {
    this.#isBehind = true;
    this.#lookedAtMs = -Infinity;
  }

  /** Something else was stored. */
  noteOthers(): void {
    this.#isBehind = true;
  }

  /** A decision about these was out of date. */
  noteShared(places: readonly MeterPlace[]): void {
    for (const place of places) this.#shared.set(nameOf(place), sharedForBatches);
    this.noteWanted();
  }

  /** Those that others enter just now, each once. */
  sharedOf(places: readonly MeterPlace[]): readonly string[] {
    if (this.#shared.size === 0) return [];
    return [...new Set(places.map(nameOf))].filter((name) => this.#shared.has(name));
  }

  isDue(nowMs: number): boolean {
    return this.#isBehind && nowMs - this.#lookedAtMs >= everyMs;
  }

  /** Tells what has changed. One at a time, and not while a batch is under way. */
  async catchUp(connection: Connection, slot: number | null): Promise<void> {
    if (this.#seen === null) return;
    this.#lookedAtMs = performance.now();
    for (;;) {
      const rows: readonly Moved[] = await connection.query<Moved>(look, [this.#seen, slot]);
      const entries = rows.filter(({ requestId }) => requestId !== null);
      this.#listener(entries);
      if (entries.length < entriesAtOnce) {
        this.#seen = rows[0]?.upTo ?? this.#seen;
        this.#isBehind = false;
        return;
      }
      this.#seen = entries.at(-1)?.version ?? this.#seen;
    }
  }
}

/** In one look with the end of the chain: whoever stores holds that row, so nothing is missing before it. */
const look = {
  name: 'moved',
  text: `SELECT end_now.sequence AS "upTo", entry.* FROM chain_end AS end_now LEFT JOIN LATERAL (
      SELECT definition, request_id AS "requestId", meter_key AS key, granted_ms AS "grantedAtMs",
        is_certain AS "isCertain", value, version, is_gone AS "isGone"
      FROM meter_entries
      WHERE version > $1 AND version <= end_now.sequence AND slot IS DISTINCT FROM $2
      ORDER BY version LIMIT ${entriesAtOnce}) AS entry ON true
    ORDER BY entry.version`,
};

function nameOf({ definition, key }: MeterPlace): string {
  return `${definition} ${key}`;
}
