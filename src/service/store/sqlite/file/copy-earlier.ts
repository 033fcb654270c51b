// Copies a database of an earlier schema before it is brought up to date; the copy lies beside it. INVARIANT:
// the copy is whole and on the disk before anything in the database changes, and has the state of the
// database at that time, however often a start was tried before.

import { existsSync, rmSync, statSync } from 'node:fs';
import Database from 'better-sqlite3';
import { copyDatabase } from './copy.ts';
import { withStoreErrors } from './errors.ts';

/** Returns the schema of a database that has to be brought up to date; null when there is nothing to do. */
type EarlierVersion = (database: Database.Database) => number | null;

/**
 * Makes `<path>.schema-N` and its key if the database has to be brought up to date. Rejects with a
 * StoreError.
 */
export async function copyEarlier(path: string, versionOf: EarlierVersion): Promise<void> {
  const version = withStoreErrors(path, () => earlierVersion(path, versionOf));
  if (version === null) return;
  const target = `${path}.schema-${version}`;
  withStoreErrors(target, () => {
    for (const end of ['.key', '']) rmSync(`${target}${end}`, { force: true });
  });
  await copyDatabase(path, target);
}

function earlierVersion(path: string, versionOf: EarlierVersion): number | null {
  // Every released version made a key, so a database without one needs no copy.
  const isThere = [path, `${path}.key`].every((one) => existsSync(one)) && statSync(path).size > 0;
  if (!isThere) return null;
  // Opened for writing, so that SQLite rolls back the work of a process that was killed.
  const database = new Database(path, { fileMustExist: true });
  try {
    return versionOf(database);
  } finally {
    database.close();
  }
}
