// What each kind of store provides for a search: an index of the words of its requests, which is filled after
// the records, and the columns of the requests that the index finds.

import type { RequestCount } from '../../contract/search.ts';
import type { SearchedRequest } from '../../contract/search-text.ts';
import type { RequestFilter, RequestPosition } from '../../contract/store.ts';

/** A word to look up in the index. */
export interface IndexTerm {
  readonly word: string;
  readonly isWhole: boolean;
}

/** A request that the index has found or that a walk has passed. */
export interface SearchCandidate extends RequestPosition {
  readonly createdAtMs: number;
  /** Whether the request fits the filter. */
  readonly isFit: boolean;
  /** What the words of the request are made of; null when not asked for. */
  readonly searched: SearchedRequest | null;
}

/** Record numbers in descending order, all below `before`. */
export interface SequenceSpan {
  readonly before: number;
  readonly countMax: number;
}

export interface SearchIndex {
  /**
   * Puts the next requests into the index: those newer than all in it, or older. Returns whether more may
   * follow. Also deletes the words of requests that are no longer stored.
   */
  takeIn(which: 'newer' | 'older', countMax: number): Promise<boolean>;
  /** How many record numbers the index does not cover yet. */
  unsearched(): Promise<number>;
  /** Requests that hold all the words, in any order, the latest first. */
  holding(terms: readonly IndexTerm[], span: SequenceSpan): Promise<readonly number[]>;
  /**
   * How many requests hold all the words, as far as counted within the time; without words, how many are
   * stored.
   */
  count(terms: readonly IndexTerm[], giveUpAt: number): Promise<RequestCount>;
  /** The requests with these numbers, in this order; missing requests are left out. */
  candidates(sequences: readonly number[], query: SearchQuery): Promise<readonly SearchCandidate[]>;
  /** All requests that a list looks through. */
  walk(span: SequenceSpan, filter: RequestFilter): Promise<readonly SearchCandidate[]>;
  /** A record number above those of all requests made at `untilMs` or earlier, and not much above. */
  numberAfter(untilMs: number): Promise<number>;
  close(): Promise<void>;
}

export interface SearchQuery {
  readonly filter: RequestFilter;
  /** Whether to fill `searched`. */
  readonly isTextAsked: boolean;
}
