// What can be seen of a store without changing it: for whoever asks what is wrong with an installation.

export interface ExaminedStore {
  /** Whether an earlier version made it: the rest of it is not looked at then. */
  readonly isEarlier: boolean;
  /** Whether a process serves it at this moment. */
  readonly isServed: boolean;
  /** When the newest record was made, in milliseconds; null where there is none. */
  readonly newestMs: number | null;
  /** The clock of the database's server, in milliseconds; null for a file. */
  readonly serverMs: number | null;
  /** The first thing that was changed, and not by the service; null where a quick look finds none. */
  readonly difference: string | null;
}
