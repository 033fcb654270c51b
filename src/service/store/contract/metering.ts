// What a store keeps of meters: the entries of requests, and since when every request has entered a meter. Entries come
// with the record of their request and change with it, in one transaction.

import type { RequestRow } from './records.ts';
import type { AppendLimits, AppendResult } from './store.ts';

export interface MeterPlace {
  /** Digest of all that the meter says. */
  readonly definition: string;
  /** For whom it counts. */
  readonly key: string;
}

/** What a request adds to a meter. */
export interface MeterEntryRow extends MeterPlace {
  readonly isCertain: boolean;
  /** An amount as decimal text, a value to tell apart, or `anew`; null where it is not known. */
  readonly value: string | null;
}

export interface StoredMeterEntry extends MeterEntryRow {
  readonly requestId: string;
  /** Null while the request is pending. */
  readonly grantedAtMs: number | null;
}

/** How an entry stands since it is known what the call has returned. */
export interface SettledEntryRow extends MeterEntryRow {
  /** The meter does not count the request. */
  readonly isGone: boolean;
}

/** An entry as it stands since another process, or a person, has changed it. */
export interface MovedMeterEntry extends StoredMeterEntry {
  /** It counts no more; the time is that of its grant, or else of its end. */
  readonly isGone: boolean;
}

/** A request that was decided on where meters stand, and what it adds to them. */
export interface Spending {
  readonly row: RequestRow;
  readonly limits: AppendLimits;
  readonly entries: readonly MeterEntryRow[];
  /** It was not stored: called before anything else is decided on these meters. Calling it again changes nothing. */
  readonly takeBack: () => void;
}

/** What a later decision about a request has read of meters. */
export interface MetersRead {
  readonly places: readonly MeterPlace[];
  /** Where the store was when they were read. */
  readonly position: string | null;
}

export interface MeterStore {
  /**
   * Stores what `work` makes of where meters stand at these places; `nothing` where it makes nothing. `work` is synchronous, so that
   * no other request comes between its reading and its entering. It is called anew where what it read was out of date,
   * and then nothing of the call before is stored.
   */
  spend(places: readonly MeterPlace[], work: () => Spending | null): Promise<AppendResult | 'nothing'>;
  /**
   * The listener is called when the store cannot tell any more what has become of meters, before anything is decided on them:
   * where they stand has to be read anew.
   */
  onUncertain(listener: () => void): void;
  /** The listener hears how entries stand that were changed elsewhere, before anything is decided on them. */
  onMoved(listener: (entries: readonly MovedMeterEntry[]) => void): void;
  /** Resolves when the listener has heard of all that had been changed by the call. */
  catchUp(): Promise<void>;
  /** Up to where changes have been heard of, as the store writes it; null where no other process enters meters. */
  position(): string | null;
  /**
   * From now on every request enters these meters and no others; what was kept of others is forgotten. Yields, in the
   * order of `definitions`, since when it has been so; null where requests may lack that were pending then. Rejects
   * where several processes serve, and these are the meters of a set of policies that is not the active one.
   */
  note(definitions: readonly string[], atMs: number, policies?: string): Promise<readonly (number | null)[]>;
  /** Requests that were pending when the meter was new have entered it too. */
  noteWhole(definition: string): Promise<void>;
  /** Entries of requests that are pending. */
  pending(definition: string): Promise<readonly StoredMeterEntry[]>;
  /** What a request has entered. */
  enteredBy(requestId: string): Promise<readonly StoredMeterEntry[]>;
  /** Entries that were granted after a place, by time; the first are those granted after a moment. */
  granted(definition: string, after: EntryPlace, countMax: number): Promise<readonly StoredMeterEntry[]>;
  /** Entries for requests that are already recorded, as far as these are granted or pending. */
  add(entries: readonly (MeterEntryRow & { readonly requestId: string })[]): Promise<void>;
  /** Requests that were granted after a moment or are pending, by the number of their records. */
  counted(page: CountedPage): Promise<CountedRequests>;
  /** The moment from which on no record was deleted; null where none ever was. */
  wholeSinceMs(): Promise<number | null>;
  /** Forgets entries that were granted before a moment; yields how many. */
  forget(definition: string, beforeMs: number, countMax: number): Promise<number>;
}

export interface EntryPlace {
  readonly grantedAtMs: number;
  readonly requestId: string;
}

export interface CountedPage {
  readonly sinceMs: number;
  /** The number that a page goes on behind; 0 for the first page. */
  readonly after: number;
  readonly countMax: number;
}

export interface CountedRequests {
  readonly requests: readonly CountedRequest[];
  /** Where the next page goes on; null where there is none. So many are looked through for a page and no more, so one may hold none. */
  readonly next: number | null;
}

export interface CountedRequest {
  readonly id: string;
  readonly actionKey: string;
  readonly createdAtMs: number;
  readonly grantedAtMs: number | null;
  readonly recordJson: string;
  /** What was reported of the call: `{executed, result?}`; null where nothing was. */
  readonly outcomeJson: string | null;
}
