// What completion offers: plain data, as an editor takes it.

export interface Offer {
  readonly label: string;
  /** Beside the label: a type, a kind. */
  readonly detail?: string;
  /** Below it, for the one that is chosen. */
  readonly info?: string;
  /** Inserted in place of the label. */
  readonly apply?: string;
  /** Higher ones come first. */
  readonly boost?: number;
}

export interface Completed {
  /** Where the word begins that an offer takes the place of. */
  readonly from: number;
  readonly options: readonly Offer[];
}
