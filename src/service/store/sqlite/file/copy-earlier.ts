// A file of an earlier schema into a copy beside it, before it is brought up to date. INVARIANT: the copy is whole and on the disk
// before anything of the database changes, and is of the state that it has then, however often a start was tried before.

import { existsSync, rmSync, statSync } from 'node:fs';
import Database from 'better-sqlite3';
import { schemaVersionBefore } from '../migrate.ts';
import { copyDatabase } from './copy.ts';
import { withStoreErrors } from './errors.ts';

/** Makes `<path>.schema-N` and its key where there is something to bring up to date. Rejects with a StoreError. */
export async function copyEarlier(path: string): Promise<void> {
  const version = withStoreErrors(path, () => earlierVersion(path));
  if (version === null) return;
  const target = `${path}.schema-${version}`;
  withStoreErrors(target, () => {
    for (const end of ['.key', '']) rmSync(`${target}${end}`, { force: true });
  });
  await copyDatabase(path, target);
}

function earlierVersion(path: string): number | null {
  // No version without a key was ever released.
  const isThere = [path, `${path}.key`].every((one) => existsSync(one)) && statSync(path).size > 0;
  if (!isThere) return null;
  // Opened for writing, so that what a process left that was killed is rolled back.
  const database = new Database(path, { fileMustExist: true });
  try {
    return schemaVersionBefore(database);
  } finally {
    database.close();
  }
}
