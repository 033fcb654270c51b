// What a store tells about a search besides its results: how many requests fit, and whether all were counted.

/** How many requests fit a filter. */
export interface RequestCount {
  /** The requests that were found within the time limit of a count. */
  readonly count: number;
  /** Whether `count` is complete, so that no other requests fit. */
  readonly isWhole: boolean;
}
