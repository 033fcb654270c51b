// What a store keeps of meters: the entries of requests, and since when every request has entered a meter.
// Entries are stored with the record of their request and change with it, in one transaction.

import type { SnapshotRange } from './meter-snapshot.ts';
import type { RequestRow } from './records.ts';
import type { AppendLimits, AppendResult } from './store.ts';

export interface MeterSeries {
  /** Digest of the meter's definition, its name excepted. */
  readonly definition: string;
  /** The agent, owner, session or value that the meter counts for. */
  readonly key: string;
}

/** What a request adds to a meter. */
export interface MeterEntryRow extends MeterSeries {
  readonly isCertain: boolean;
  /**
   * An amount as decimal text, a text that stands for a distinct value, or `anew`, with which the meter
   * starts again; null when the value is not known.
   */
  readonly value: string | null;
}

export interface StoredMeterEntry extends MeterEntryRow {
  readonly requestId: string;
  /** When the request was granted; null while it is pending. */
  readonly grantedAtMs: number | null;
}

/** An entry as it stands once the result of the call is known. */
export interface SettledEntryRow extends MeterEntryRow {
  /** Whether the meter does not count the request. */
  readonly isGone: boolean;
}

/** An entry as it stands after another process, or a person, has changed it. */
export interface MovedMeterEntry extends StoredMeterEntry {
  /**
   * Whether the entry no longer counts. Then `grantedAtMs` is when the request was granted, or else when it
   * ended.
   */
  readonly isGone: boolean;
}

/** A request that was decided on the totals of meters, with what it adds to them. */
export interface SpendingRequest {
  readonly row: RequestRow;
  readonly limits: AppendLimits;
  readonly entries: readonly MeterEntryRow[];
  /**
   * Called when the request was not stored, before anything else is decided on its meters. Another call
   * changes nothing.
   */
  readonly revertMeters: () => void;
}

/** The meters that a later decision about a request has read. */
export interface MetersRead {
  readonly series: readonly MeterSeries[];
  /** The store's position when the meters were read, as from `MeterStore.position`. */
  readonly position: string | null;
}

export interface MeterStore {
  /**
   * Runs `work`, which decides on the meters at `places`, and stores the request that it returns; resolves to
   * `nothing` when it returns null. `work` is synchronous, so no other request comes between its reading and
   * its entering. It is called again when what it read was out of date; then nothing of the call before is
   * stored.
   */
  spend(
    series: readonly MeterSeries[],
    work: () => SpendingRequest | null,
  ): Promise<AppendResult | 'nothing'>;
  /**
   * Calls the listener when the store no longer knows what has become of meters, before anything is decided
   * on them. The listener has to read all totals again.
   */
  onUncertain(listener: () => void): void;
  /**
   * Calls the listener with the entries that were changed elsewhere, before anything is decided on their
   * meters.
   */
  onMoved(listener: (entries: readonly MovedMeterEntry[]) => void): void;
  /** Resolves when the `onMoved` listener has heard of all changes made before the call. */
  catchUp(): Promise<void>;
  /**
   * How far changes have been heard of, in the store's own notation; null when no other process enters
   * meters.
   */
  position(): string | null;
  /**
   * From now on every request enters these meters and no others; what was stored of others is deleted.
   * Returns, in the order of `definitions`, since when every request has entered each meter; null when
   * requests that were pending at that time may be missing. Rejects when several processes serve the store
   * and these are not the meters of the active policies.
   */
  note(definitions: readonly string[], atMs: number, policies?: string): Promise<readonly (number | null)[]>;
  /**
   * Notes that the meter has every request that was granted since a moment, and those that were pending when
   * it was new.
   */
  noteComplete(definition: string, sinceMs: number): Promise<void>;
  /**
   * Opens the entries for reading. Rejects with a StoreError `tampered` when the store can tell that they are
   * not those that the service wrote.
   */
  openPast(): Promise<MeterHistory>;
  /**
   * Keeps a snapshot of the next granted entries that none holds, so that a start reads them quickly; looks
   * at those granted within the stretch. Returns from where to go on; null when too few entries are left for
   * another snapshot.
   */
  keepSnapshot(definition: string, within: SnapshotRange): Promise<number | null>;
  /** Entries of one request. */
  enteredBy(requestId: string): Promise<readonly StoredMeterEntry[]>;
  /** Adds entries for requests that are already recorded, if these are granted or pending. */
  add(entries: readonly (MeterEntryRow & { readonly requestId: string })[]): Promise<void>;
  /** Requests that were granted after `sinceMs` or are pending, by record number. */
  counted(page: CountedPage): Promise<CountedRequests>;
  /** The moment from which on no record was deleted; null when no record ever was. */
  completeSinceMs(): Promise<number | null>;
  /** Deletes entries granted before a moment, at most `countMax`; returns how many were deleted. */
  forget(definition: string, beforeMs: number, countMax: number): Promise<number>;
}

/** The entries of meters, as they are while it is open or as they were when it was opened. */
export interface MeterHistory {
  /** Entries of pending requests. */
  pending(definition: string): Promise<readonly StoredMeterEntry[]>;
  /** Entries granted since a moment, by time, in parts. */
  granted(definition: string, sinceMs: number): AsyncIterable<readonly StoredMeterEntry[]>;
  close(): Promise<void>;
}

export interface CountedPage {
  /** The meter that counts: one whose entries last also counts grants that were given back. */
  readonly definition: string;
  readonly sinceMs: number;
  /** The record number after which a page begins; 0 for the first page. */
  readonly after: number;
  readonly countMax: number;
}

export interface CountedRequests {
  readonly requests: readonly CountedRequest[];
  /**
   * The `after` of the next page; null when this page is the last. Each page looks through a fixed number of
   * records, so it may hold no request.
   */
  readonly next: number | null;
}

export interface CountedRequest {
  readonly id: string;
  readonly actionKey: string;
  readonly createdAtMs: number;
  readonly grantedAtMs: number | null;
  readonly recordJson: string;
  /** What was reported about the call, as JSON: `{executed, result?}`; null when nothing was reported. */
  readonly outcomeJson: string | null;
}
