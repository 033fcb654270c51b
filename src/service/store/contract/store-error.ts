// The error of a store that cannot do its work: a code for programs, and a sentence that tells the operator
// what to do. The message names files of the service and must not reach a client.

export type StoreErrorCode =
  /** A later version of Writ wrote the database. */
  | 'newer-database'
  /** An earlier version of Writ wrote the database, which is opened for reading only. */
  | 'older-database'
  /** The database belongs to another program. */
  | 'foreign-database'
  | 'unwritable'
  | 'locked'
  | 'corrupt'
  | 'full'
  /** The disk reported an error. */
  | 'io'
  /**
   * The caller's text has a zero byte, which this database can neither store nor look for; nothing was
   * stored.
   */
  | 'zero-byte'
  /** More writes or reads wait than the limits allow, or one has waited for too long; nothing was stored. */
  | 'overloaded'
  /** Another process serves this store. */
  | 'already-served'
  | 'writer-died'
  /** Another process has taken this one's place; nothing of this process is stored any more. */
  | 'fenced'
  /**
   * Other replicas decide by policies that this one has not compiled, or what a decision needs has not been read
   * yet; nothing was stored.
   */
  | 'not-ready'
  /** The database does not answer; nothing was stored. */
  | 'unreachable'
  /** The connection broke before the database told whether the write is stored. */
  | 'uncertain'
  | 'closed'
  /** The records are now elsewhere, or are being copied to this store. */
  | 'moved'
  /** The master key is missing, malformed or that of another database. */
  | 'master-key'
  /** Something was changed, but not by the service. */
  | 'tampered'
  /** The database is missing, or others may read or write its files. */
  | 'unsafe-files'
  /** A mistake in Writ; `cause` tells more. */
  | 'internal';

/** A class, so that `instanceof` tells its rejections from others. */
export class StoreError extends Error {
  readonly code: StoreErrorCode;

  constructor(code: StoreErrorCode, message: string, options?: { readonly cause: unknown }) {
    super(message, options);
    this.name = 'StoreError';
    this.code = code;
  }
}

/** Whether the failed call may have taken effect all the same. */
export function isUncertain(error: unknown): boolean {
  return error instanceof StoreError && error.code === 'uncertain';
}

/** Returns the error for a request that is not as the service wrote it; `what` is such a sentence. */
export function tamperedRequest(requestId: string, what: string): StoreError {
  return tamperedRecord(`request \`${requestId}\`: ${what}`);
}

/** The same for records, which nobody can accept as they are. */
export function tamperedRecord(what: string): StoreError {
  const advice = 'see `writ audit verify`; undo the change, or restore a backup';
  return new StoreError('tampered', `${what}: ${advice}`);
}

/** Returns the error; `what` is a sentence in lower case without a final period. */
export function tampered(what: string): StoreError {
  const advice = 'see `writ audit verify`; restore a backup, or accept it with `writ audit accept`';
  return new StoreError('tampered', `${what}: ${advice}`);
}
