// What the processes that serve one store agree on: which policy set decides. INVARIANT: at any place of the
// chain one set is active, and no decision by another set is stored after the record of its activation.

/** What a process tells about itself. */
export interface ReplicaAbout {
  /** Names the machine and the process. */
  readonly name: string;
  /** The version of Writ. */
  readonly version: string;
  /** When the process started, in milliseconds since 1970-01-01T00:00Z. */
  readonly startedAtMs: number;
}

export interface Replica {
  readonly slot: number;
  /** What the process has told about itself; null before it has introduced itself. */
  readonly about: ReplicaAbout | null;
  readonly isSelf: boolean;
  /** Time since the process was last heard of. */
  readonly seenAgoMs: number;
  /**
   * Digest of the set that the process has read from its policy directory; null before the process has told
   * it.
   */
  readonly wants: string | null;
  /** Whether the process can decide by the active set. */
  readonly isReady: boolean;
}

/** The replicas and the active set, all at one moment. */
export interface ReplicaSnapshot {
  /** The number of activations of a policy set so far; 0 before the first. */
  readonly epoch: number;
  /** Digest of the active set; null before the first activation. */
  readonly active: string | null;
  /** The processes that serve, by slot. */
  readonly replicas: readonly Replica[];
}

/** A policy set as stored for replicas that have not read it from a directory. */
export interface StoredPolicies {
  readonly digest: string;
  /** The policy files as JSON, which a store does not read. */
  readonly filesJson: string;
}

/** A standby server, which keeps a copy of the database. */
export interface Standby {
  readonly name: string;
  /**
   * The replication mode in PostgreSQL's words, such as `sync`; null when the database user may not see it.
   */
  readonly mode: string | null;
  /** How long a commit takes to show on the standby; null when not known. */
  readonly lagMs: number | null;
}

export interface ReplicaStore {
  now(): Promise<ReplicaSnapshot>;
  /** The last result of `now`, for any caller; null before the first. */
  latest(): ReplicaSnapshot | null;
  standbys(): Promise<readonly Standby[]>;
  /** Tells the other processes about this one. */
  introduce(about: ReplicaAbout): Promise<void>;
  /** Tells the other processes what this one wants and whether it is ready. */
  tell(word: Pick<Replica, 'wants' | 'isReady'>): Promise<void>;
  /**
   * Makes the set the active one, with a record of it, if none is active yet or all that serve want it, and
   * if `epoch` is still the number of the last activation. Returns whether the set is active now.
   */
  activate(
    set: StoredPolicies,
    activation: { readonly epoch: number; readonly atMs: number },
  ): Promise<boolean>;
  /** From now on the store refuses writes of every process that has served before. */
  fenceAll(): Promise<void>;
  find(digest: string): Promise<StoredPolicies | null>;
  /**
   * Sets the listener that is called when a decision of this process was by another set than the active one.
   * The listener looks for the active set again and returns whether it has it.
   */
  onOtherPolicies(listener: () => Promise<boolean>): void;
}
