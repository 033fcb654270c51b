// Records of changes of management, and of people's votes on requests, as readers get them: the latest first.

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

/** A vote of a person on a request, or an approval that a person has taken back. */
export interface VoteRow {
  readonly sequence: number;
  readonly requestId: string;
  readonly atMs: number;
  /** The person's name in the record. */
  readonly who: string;
  readonly what: 'approved' | 'rejected' | 'taken-back';
  /** What the vote holds, as JSON: the person, the group, the comment. */
  readonly detailJson: string | null;
}

export interface VotePage extends ChangePage {
  /** Milliseconds since 1970; only votes from this moment on. */
  readonly sinceMs: number;
  /** Only votes before this moment. */
  readonly untilMs: number;
}
