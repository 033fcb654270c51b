// Records of changes of management as readers get them, the latest first.

export interface ChangeRow {
  /** The number of the record in the chain. */
  readonly sequence: number;
  readonly atMs: number;
  readonly who: string;
  /** What happened, such as `agent-revoked`. */
  readonly what: string;
  readonly subject: string;
  /** The subject before the change, as JSON; null when there was none. */
  readonly beforeJson: string | null;
  readonly afterJson: string | null;
}

export interface ChangePage {
  /** Only changes with lower record numbers; null begins with the latest change. */
  readonly beforeSequence: number | null;
  readonly countMax: number;
}
