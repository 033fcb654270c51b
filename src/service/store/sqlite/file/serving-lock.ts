// Lets one process at a time serve a store, since each process counts meters for itself. The lock is one of
// the operating system, on a file beside the database, so it ends with its process, however the process ends.

import { closeSync, existsSync, openSync } from 'node:fs';
import Database from 'better-sqlite3';
import { StoreError } from '../../contract/store-error.ts';
import { toFailure, toStoreError, withStoreErrors } from './errors.ts';

export interface ServingLock {
  release(): void;
}

/** Whether a process serves the database at `path`; takes no lock. */
export function isServedByProcess(path: string): boolean {
  const lockPath = `${path}.serving`;
  if (!existsSync(lockPath)) return false;
  const database = new Database(lockPath, { readonly: true, timeout: 0 });
  try {
    database.prepare('SELECT count(*) FROM sqlite_schema').get();
    return false;
  } catch (error) {
    if (toFailure(error, lockPath).code !== 'locked') throw error;
    return true;
  } finally {
    database.close();
  }
}

/** How long to wait for the lock, for a process that is just ending. */
const waitMs = 2_000;

/** Takes the lock for the database at `path`. Throws a StoreError when another process serves it. */
export function lockForServing(path: string): ServingLock {
  const lockPath = `${path}.serving`;
  const database = withStoreErrors(lockPath, () => {
    closeSync(openSync(lockPath, 'a', 0o600));
    return new Database(lockPath, { timeout: waitMs });
  });
  try {
    database.exec('BEGIN EXCLUSIVE');
  } catch (error) {
    database.close();
    const failure = toFailure(error, lockPath);
    if (failure.code !== 'locked') throw toStoreError(failure);
    throw new StoreError(
      'already-served',
      `another process serves \`${path}\`: each would count meters for itself, so stop that one first, or name another data directory`,
    );
  }
  return { release: () => void database.close() };
}
