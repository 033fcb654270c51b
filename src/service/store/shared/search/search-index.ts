// What a kind of store brings to a search: an index of the words of its requests, which is filled behind the records, and the
// columns of the requests that it finds.

import type { RequestCount } from '../../contract/search.ts';
import type { SearchedRequest } from '../../contract/search-text.ts';
import type { RequestFilter, RequestPlace } from '../../contract/store.ts';

/** A word as the index is asked for it. */
export interface IndexTerm {
  readonly word: string;
  readonly isWhole: boolean;
}

/** A request that the index has named, or that a walk has come by. */
export interface LookedAt extends RequestPlace {
  readonly createdAtMs: number;
  /** It fits the filter. */
  readonly isFit: boolean;
  /** What its words are made from; null where nobody asked for that. */
  readonly searched: SearchedRequest | null;
}

/** Numbers of records from newer to older, all below `before`. */
export interface NumberStretch {
  readonly before: number;
  readonly countMax: number;
}

export interface SearchIndex {
  /**
   * Puts the next requests into the index: those that are newer than all in it, or older. Yields whether there may be more of
   * them. Words of requests that are no longer stored go.
   */
  takeIn(which: 'newer' | 'older', countMax: number): Promise<boolean>;
  /** How many numbers of records there are that the index has not come by. */
  unsearched(): Promise<number>;
  /** Requests that hold all the words, in whatever order, the latest first. */
  holding(terms: readonly IndexTerm[], stretch: NumberStretch): Promise<readonly number[]>;
  /** How many hold all the words, as far as was counted in time; of no words, how many are stored. */
  count(terms: readonly IndexTerm[], giveUpAt: number): Promise<RequestCount>;
  /** The requests with these numbers, in this order; those that are not there are left out. */
  look(sequences: readonly number[], asked: Asked): Promise<readonly LookedAt[]>;
  /** All requests that a list looks through. */
  walk(stretch: NumberStretch, filter: RequestFilter): Promise<readonly LookedAt[]>;
  /** A number above those of all requests that were made at the time or before, and not much above. */
  numberAfter(untilMs: number): Promise<number>;
  close(): Promise<void>;
}

export interface Asked {
  readonly filter: RequestFilter;
  /** Whether `searched` is to be filled. */
  readonly isTextAsked: boolean;
}
