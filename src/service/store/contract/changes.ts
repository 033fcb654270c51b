// The records of management as a reader asks for them, the latest first.

export interface ChangeRow {
  /** Its number in the chain. */
  readonly sequence: number;
  readonly atMs: number;
  readonly who: string;
  /** Such as `agent-revoked`. */
  readonly what: string;
  readonly subject: string;
  /** JSON; null where there was nothing. */
  readonly beforeJson: string | null;
  readonly afterJson: string | null;
}

export interface ChangePage {
  /** Only changes with a lower number; null for the latest. */
  readonly beforeSequence: number | null;
  readonly countMax: number;
}
