// The records of requests as a log to be read from one end to the other, by a replay that asks what other policies would have
// decided: nothing but what that takes, in the order of the chain.

/** Times are milliseconds since 1970-01-01T00:00Z. */
export type LogRecord =
  | {
      readonly kind: 'request';
      /** In the chain. */
      readonly sequence: number;
      readonly id: string;
      readonly action: string;
      readonly createdAtMs: number;
      /** The end of the wait or the grant, as it was recorded first. */
      readonly expiresAtMs: number;
      readonly recordJson: string;
    }
  | {
      readonly kind: 'event';
      readonly sequence: number;
      readonly requestId: string;
      readonly atMs: number;
      readonly what: string;
      /** As the event leaves it. */
      readonly expiresAtMs: number;
      /** Null where there is none. */
      readonly detailJson: string | null;
    }
  /** A control owner has stepped up for an agent. */
  | {
      readonly kind: 'step-up';
      readonly sequence: number;
      readonly agentId: string;
      readonly atMs: number;
    };

/** Where the records of a store can be opened to be read alone, from any thread. */
export type RecordsPlace = { readonly path: string } | { readonly url: string };

/** The records of a store to be read alone; another process may be writing to it. */
export interface RecordReader {
  /** By number: those with the `countMax` numbers after `afterSequence`. */
  records(afterSequence: number, countMax: number): Promise<readonly LogRecord[]>;
  /** What there is of them now. */
  extent(): Promise<LogExtent>;
  /** A number below those of all records from a moment on, and not much below. */
  numberBefore(atMs: number): Promise<number>;
  close(): Promise<void>;
}

export interface LogExtent {
  /** Records up to this one were deleted; null where none was. */
  readonly prunedTo: number | null;
  readonly lastSequence: number;
}
