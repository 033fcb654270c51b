// What a store says when it cannot do its work: a code for programs and a sentence for the operator, telling what to
// do. The message names files of the service and must not reach a client.

export type StoreErrorCode =
  /** Written by a later version of Writ. */
  | 'newer-database'
  /** Written by an earlier version of Writ, and opened to be read alone. */
  | 'older-database'
  /** A database of some other program. */
  | 'foreign-database'
  | 'unwritable'
  | 'locked'
  | 'corrupt'
  | 'full'
  /** The disk reported an error. */
  | 'io'
  /** A text of the caller has a zero byte, which this database cannot keep or look for; nothing was stored. */
  | 'zero-byte'
  /** More writes are waiting than the limit. */
  | 'overloaded'
  /** Another process serves this store. */
  | 'already-served'
  | 'writer-died'
  /** Another process serves this store by now; nothing of this one is stored any more. */
  | 'fenced'
  /** Other replicas decide by policies that this one has not compiled; nothing was stored. */
  | 'not-ready'
  /** The database does not answer; nothing was stored. */
  | 'unreachable'
  /** The connection broke before the database said whether the write is stored. */
  | 'uncertain'
  | 'closed'
  /** The records are elsewhere now, or are being copied here. */
  | 'moved'
  /** The master key is missing, malformed or that of another database. */
  | 'master-key'
  /** Something was changed, and not by the service. */
  | 'tampered'
  /** The database is missing, or others may read or write its files. */
  | 'unsafe-files'
  /** A mistake of ours: the cause says more. */
  | 'internal';

/** A class because a rejected promise is told apart by `instanceof`. */
export class StoreError extends Error {
  readonly code: StoreErrorCode;

  constructor(code: StoreErrorCode, message: string, options?: { readonly cause: unknown }) {
    super(message, options);
    this.name = 'StoreError';
    this.code = code;
  }
}

/** Whether what was asked for may have been done all the same. */
export function isUncertain(error: unknown): boolean {
  return error instanceof StoreError && error.code === 'uncertain';
}

/** `what`: a sentence in lower case without a final period. */
export function tampered(what: string): StoreError {
  const advice = 'see `writ audit verify`; restore a backup, or take it as it is with `writ audit accept`';
  return new StoreError('tampered', `${what}: ${advice}`);
}
