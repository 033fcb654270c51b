// What can be seen of a store without changing it, to find what is wrong with an installation.

export interface ExaminedStore {
  /** Whether an earlier version of Writ made the store; if so, nothing else is examined. */
  readonly isEarlier: boolean;
  /** Whether a process serves the store now. */
  readonly isServed: boolean;
  /** When the newest record was made, in milliseconds since 1970; null when there is none. */
  readonly newestMs: number | null;
  /** The clock of the database server, in milliseconds since 1970; null for a file. */
  readonly serverMs: number | null;
  /** The first thing that was changed, but not by the service; null when a quick check finds none. */
  readonly difference: string | null;
  /** How far streams to other programs have the records. */
  readonly cursors: readonly ExaminedCursor[];
}

export interface ExaminedCursor {
  readonly name: string;
  /** The stored document. */
  readonly json: string;
  /** How many records the receiver lacks, at most. */
  readonly lacking: number;
  /** When the first of these was made; null when there are none. */
  readonly lackingSinceMs: number | null;
}

interface StoredCursor {
  readonly name: string;
  readonly json: string;
  readonly lastSequence: number | null;
}

/** The number of the last record that the receiver has. */
export function sequenceOf({ json }: Pick<StoredCursor, 'json'>): number {
  return (JSON.parse(json) as { readonly sequence: number }).sequence;
}

/** `firstMs`: the time of the first record after that number. */
export function examinedCursor(stored: StoredCursor, firstMs: number | null): ExaminedCursor {
  const lacking = Math.max(0, (stored.lastSequence ?? 0) - sequenceOf(stored));
  const { name, json } = stored;
  return { name, json, lacking, lackingSinceMs: lacking === 0 ? null : firstMs };
}
