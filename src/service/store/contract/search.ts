// What a store says of a search besides what it has found: whether all requests were searched, and how many fit.

/** How many requests fit what is asked. */
export interface RequestCount {
  /** Those that were found in the time that a count may take. */
  readonly count: number;
  /** There is none besides. */
  readonly isWhole: boolean;
}
