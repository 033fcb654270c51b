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
}
