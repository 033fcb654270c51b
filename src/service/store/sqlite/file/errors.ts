// Turns what SQLite and the file system report into a StoreError with a sentence for the operator. A failure
// is the plain form of the error, which can pass between threads.

import Database from 'better-sqlite3';
import { faultOfFile, fileOfError, findFault } from '../../../file-fault.ts';
import { StoreError, type StoreErrorCode } from '../../contract/store-error.ts';

export interface StoreFailure {
  readonly code: StoreErrorCode;
  readonly message: string;
  /** What SQLite or the file system reported, for logs. */
  readonly detail: string;
}

/** Returns the failure for an error that was met at the database file `path`. */
export function toFailure(error: unknown, path: string): StoreFailure {
  const detail = error instanceof Error ? `${codeOf(error)}: ${error.message}` : String(error);
  if (error instanceof StoreError) return { code: error.code, message: error.message, detail };
  const code = classify(error);
  const fault = faultOfFile(error) ?? (mayBeFile.has(code) ? findFault(path) : null);
  if (fault !== null) return { code, message: `\`${fileOfError(error, path)}\` ${fault}`, detail };
  return { code, message: `${messages[code]} (database \`${path}\`)`, detail };
}

export function toStoreError({ code, message, detail }: StoreFailure): StoreError {
  return new StoreError(code, message, { cause: detail });
}

/** Runs `work` and returns its result; throws what it throws as a StoreError. */
export function withStoreErrors<T>(path: string, work: () => T): T {
  try {
    return work();
  } catch (error) {
    throw toStoreError(toFailure(error, path));
  }
}

type ReportedCode = Exclude<
  StoreErrorCode,
  | 'newer-database'
  | 'older-database'
  | 'foreign-database'
  | 'already-served'
  | 'overloaded'
  | 'zero-byte'
  | 'writer-died'
  | 'not-ready'
  | 'fenced'
  | 'unreachable'
  | 'uncertain'
  | 'closed'
  | 'moved'
  | 'master-key'
  | 'tampered'
  | 'unsafe-files'
>;

/** What SQLite says in few words, though the file system may know more. */
const mayBeFile: ReadonlySet<StoreErrorCode> = new Set<StoreErrorCode>(['unwritable', 'full', 'io']);

const messages = {
  unwritable: 'the database cannot be opened or written: check that the path is a file and its permissions',
  locked: 'another process has locked the database: end it, or try again once it is done',
  corrupt: 'the file is damaged or is not a database: restore it from a backup',
  full: 'the disk is full: free space on it; a running service then continues by itself',
  io: 'the disk reported an error: check the disk, the limit on the size of files (`ulimit -f`) and the system log',
  internal: 'the database refused a statement: this is a mistake in Writ, please report it',
} as const satisfies Record<ReportedCode, string>;

/**
 * What an error means, by the beginning of its code: SQLite extends its codes at the end
 * (`SQLITE_BUSY_SNAPSHOT`).
 */
const beginnings: readonly (readonly [string, ReportedCode])[] = [
  ['SQLITE_FULL', 'full'],
  ['SQLITE_BUSY', 'locked'],
  ['SQLITE_LOCKED', 'locked'],
  ['SQLITE_PROTOCOL', 'locked'],
  ['SQLITE_CORRUPT', 'corrupt'],
  ['SQLITE_NOTADB', 'corrupt'],
  ['SQLITE_READONLY', 'unwritable'],
  ['SQLITE_CANTOPEN', 'unwritable'],
  ['SQLITE_PERM', 'unwritable'],
  ['SQLITE_AUTH', 'unwritable'],
  ['SQLITE_IOERR', 'io'],
  ['ENOSPC', 'full'],
  ['EDQUOT', 'full'],
  ['EIO', 'io'],
];

function classify(error: unknown): ReportedCode {
  if (!(error instanceof Error)) return 'internal';
  const code = codeOf(error);
  const entry = beginnings.find(([beginning]) => code.startsWith(beginning));
  if (entry !== undefined) return entry[1];
  // All other errors of the file system (EACCES, EROFS, ENOTDIR, ENAMETOOLONG) are about the path.
  return 'syscall' in error ? 'unwritable' : 'internal';
}

function codeOf(error: Error): string {
  if (error instanceof Database.SqliteError) return error.code;
  return 'code' in error && typeof error.code === 'string' ? error.code : error.name;
}
