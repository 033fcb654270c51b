// The items of a completion list, as plain data for an editor.

export interface CompletionOption {
  readonly label: string;
  /** Shown beside the label: a type, a kind. */
  readonly detail?: string;
  /** Shown below the label of the selected offer. */
  readonly info?: string;
  /** Inserted instead of the label. */
  readonly apply?: string;
  /** Offers with a higher number come first. */
  readonly boost?: number;
}

export interface CompletionList {
  /** The offset where the word that an offer replaces begins. */
  readonly from: number;
  readonly options: readonly CompletionOption[];
}
