// Recorded requests as a log that a replay reads from one end to the other, to find what other policies would
// have decided. Holds nothing but what a replay needs, in the order of the chain.

/** A record of the log. Times are milliseconds since 1970-01-01T00:00Z. */
export type LogRecord =
  | {
      readonly kind: 'request';
      /** The number of the record in the chain. */
      readonly sequence: number;
      readonly id: string;
      readonly action: string;
      readonly createdAtMs: number;
      /** The end of the wait or of the grant, as first recorded. */
      readonly expiresAtMs: number;
      readonly recordJson: string;
    }
  | {
      readonly kind: 'event';
      readonly sequence: number;
      readonly requestId: string;
      readonly atMs: number;
      readonly what: string;
      /** The end of the wait or of the grant after this event. */
      readonly expiresAtMs: number;
      /** What belongs to the event, such as a comment, as JSON; null for nothing. */
      readonly detailJson: string | null;
    }
  /** A control owner stepped up for an agent. */
  | {
      readonly kind: 'step-up';
      readonly sequence: number;
      readonly agentId: string;
      readonly atMs: number;
    };

/** The place of a store's records, from which any thread can open them for reading only. */
export type RecordsLocation = { readonly path: string } | { readonly url: string };

/** Reads the records of a store without writing; another process may be writing to the store meanwhile. */
export interface RecordReader {
  /** The records with the `countMax` numbers after `afterSequence`, by number. */
  records(afterSequence: number, countMax: number): Promise<readonly LogRecord[]>;
  /** Which records there are now. */
  extent(): Promise<LogExtent>;
  /** A record number below those of all records made at `atMs` or later, and not much below. */
  numberBefore(atMs: number): Promise<number>;
  close(): Promise<void>;
}

export interface LogExtent {
  /** The number up to which records were deleted; null when none was deleted. */
  readonly prunedTo: number | null;
  readonly lastSequence: number;
}
