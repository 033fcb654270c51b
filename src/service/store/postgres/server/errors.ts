// Turns what PostgreSQL and the network report into a StoreError with a sentence for the operator. INVARIANT:
// a write whose result is not known is never reported as not stored.

import { faultOfFile, fileOfError } from '../../../file-fault.ts';
import { StoreError, type StoreErrorCode } from '../../contract/store-error.ts';

type ReportedCode = Extract<
  StoreErrorCode,
  | 'fenced'
  | 'newer-database'
  | 'unreachable'
  | 'locked'
  | 'full'
  | 'io'
  | 'corrupt'
  | 'unwritable'
  | 'zero-byte'
  | 'internal'
>;

const messages = {
  fenced:
    'another process has taken the place of this one in the database, which had not heard of it for 5 s, or has upgraded it: this one stores nothing any more, so start it again',
  'newer-database':
    'another version of Writ has upgraded this database since it was opened here: use that version',
  unreachable: 'the database cannot be reached: nothing is granted until it can',
  locked: 'another transaction has locked the database: end it, or try again once it is done',
  full: 'the disk of the database server is full: free space on it; the service then continues by itself',
  io: 'the database reported an error of its disk: check the disk and the log of the server',
  corrupt: 'the database is damaged: restore it from a backup',
  unwritable: 'the database refuses this user: let it own the database, or grant it what it lacks',
  'zero-byte': 'a text has a NUL character, which PostgreSQL cannot store',
  internal: 'the database refused a statement: this is a mistake in Writ, please report it',
} as const satisfies Record<ReportedCode, string>;

/** What an error means, by the beginning of its five-character code in PostgreSQL. */
const beginnings: readonly (readonly [string, ReportedCode])[] = [
  ['WR001', 'fenced'],
  ['WR007', 'newer-database'],
  ['08', 'unreachable'],
  ['57P', 'unreachable'],
  ['25006', 'unreachable'],
  // Texts are well-formed before they are sent, so a zero byte is all that the server can object to in them.
  ['22021', 'zero-byte'],
  ['22P05', 'zero-byte'],
  ['53100', 'full'],
  ['53', 'unreachable'],
  ['55P03', 'locked'],
  ['40', 'locked'],
  ['57014', 'locked'],
  ['58', 'io'],
  ['XX001', 'corrupt'],
  ['XX002', 'corrupt'],
  ['28', 'unwritable'],
  ['3D000', 'unwritable'],
  ['42501', 'unwritable'],
];

export function toStoreFailure(error: unknown): StoreError {
  if (error instanceof StoreError) return error;
  if (isServerFault(error)) return serverFault(error.message, error);
  const file = fileOfError(error, '');
  if (file !== '') return new StoreError('unwritable', `\`${file}\` ${faultOfFile(error)}`, { cause: error });
  const code = classify(error);
  return new StoreError(code, messages[code], { cause: error });
}

/** Whether the server refused because it may lose what it acknowledges; its message tells why. */
export function isServerFault(error: unknown): error is Error {
  return error instanceof Error && 'code' in error && error.code === 'WR006';
}

/**
 * Whether another process used the same idempotency key at the same moment, or the two processes waited for
 * each other's locks.
 */
export function isLostRace(error: unknown): boolean {
  if (!(error instanceof Error) || !('code' in error)) return false;
  return (
    error.code === '40P01' || ('constraint' in error && error.constraint === 'requests_by_idempotency_key')
  );
}

/** Whether a row with this key exists already. */
export function isInUse(error: unknown): boolean {
  const cause = error instanceof StoreError ? error.cause : error;
  return cause instanceof Error && 'code' in cause && cause.code === '23505';
}

/** `fault` is the end of a sentence about the server. */
export function serverFault(fault: string, cause?: unknown): StoreError {
  return new StoreError('unwritable', `the server of the database ${fault}`, { cause });
}

/** What the server needs before it can store; `lack` is the end of a sentence about it. */
export function serverLack(lack: string): StoreError {
  return new StoreError('unreachable', `the server of the database ${lack}`);
}

export function unreachable(cause: unknown): StoreError {
  return new StoreError('unreachable', messages.unreachable, { cause });
}

export function zeroByte(): StoreError {
  return new StoreError('zero-byte', messages['zero-byte']);
}

export function fenced(): StoreError {
  return new StoreError('fenced', messages.fenced);
}

/**
 * The error when another policy set than that of the decision is active, and this process does not have the
 * active one.
 */
export function otherPolicies(): StoreError {
  const message = 'another policy set is active, and this replica cannot decide by it yet: see /readyz';
  return new StoreError('not-ready', message);
}

/**
 * The error when the connection broke, or was given up, after a write was sent and before its result was
 * known.
 */
export function uncertain(cause: unknown): StoreError {
  const message = 'the connection to the database failed before it confirmed the record';
  return new StoreError('uncertain', message, { cause });
}

function classify(error: unknown): ReportedCode {
  if (!(error instanceof Error)) return 'internal';
  const code = 'code' in error && typeof error.code === 'string' ? error.code : '';
  const entry = beginnings.find(([beginning]) => code.startsWith(beginning));
  if (entry !== undefined) return entry[1];
  // Errors of the network and of the driver have no code of PostgreSQL.
  return /^[0-9A-Z]{5}$/.test(code) && 'severity' in error ? 'internal' : ofDriver(error);
}

/**
 * Errors of Writ's own code pass through the driver as well; all other errors mean that the server cannot be
 * reached.
 */
function ofDriver(error: Error): ReportedCode {
  return error instanceof TypeError || error instanceof RangeError ? 'internal' : 'unreachable';
}
