// What the processes that serve one store agree on: which policy set decides. INVARIANT: at any place of the chain one set is
// active, and no decision of another one is stored behind the record of its activation.

/** What a process says of itself. */
export interface ReplicaAbout {
  /** Its machine and process. */
  readonly name: string;
  /** Of Writ. */
  readonly version: string;
  /** Milliseconds since 1970-01-01T00:00Z. */
  readonly startedAtMs: number;
}

export interface Replica {
  readonly slot: number;
  /** Null before it has said so. */
  readonly about: ReplicaAbout | null;
  readonly isSelf: boolean;
  /** How long ago it was heard of. */
  readonly seenAgoMs: number;
  /** The set that stands in its policy directory; null before it has said so. */
  readonly wants: string | null;
  /** Whether it can decide by the active set. */
  readonly isReady: boolean;
}

/** All of one moment. */
export interface ReplicasNow {
  /** Grows with each activation; 0 before the first. */
  readonly epoch: number;
  /** Digest of the active set; null before the first activation. */
  readonly active: string | null;
  /** Those that serve, by slot. */
  readonly replicas: readonly Replica[];
}

/** A set as it is kept for replicas that have not read it from a directory. */
export interface StoredPolicies {
  readonly digest: string;
  /** JSON; the store does not look into it. */
  readonly filesJson: string;
}

/** A copy that the database keeps of itself. */
export interface Standby {
  readonly name: string;
  /** As PostgreSQL has it, such as `sync`; null where its user may not see it. */
  readonly mode: string | null;
  /** Until a commit shows there; null where it is not known. */
  readonly lagMs: number | null;
}

export interface ReplicaStore {
  now(): Promise<ReplicasNow>;
  /** What `now` has found last, for any caller; null before. */
  latest(): ReplicasNow | null;
  standbys(): Promise<readonly Standby[]>;
  /** Tells the others who this is. */
  introduce(about: ReplicaAbout): Promise<void>;
  /** This process's own word. */
  tell(word: Pick<Replica, 'wants' | 'isReady'>): Promise<void>;
  /**
   * Makes the set the active one, with a record of it, where none is active yet, or all that serve want it, and `epoch` is still
   * the number of the activation before. Yields whether it is active now.
   */
  activate(
    set: StoredPolicies,
    activation: { readonly epoch: number; readonly atMs: number },
  ): Promise<boolean>;
  /** Whatever any process sends that has served before is stored no more. */
  fenceAll(): Promise<void>;
  find(digest: string): Promise<StoredPolicies | null>;
  /** The listener is asked to look again where a decision was by another set than the active one; yields whether it has that. */
  onOtherPolicies(listener: () => Promise<boolean>): void;
}
