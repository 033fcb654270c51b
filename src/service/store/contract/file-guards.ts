// Who may read and write the files of a store. INVARIANT: a store opens only if nobody but its owner can read
// its master key, and if not every user of the machine can write the database or exchange the files.

import { statSync } from 'node:fs';
import { dirname } from 'node:path';
import { StoreError } from './store-error.ts';

const othersMayReadOrWrite = 0o077;
const everybodyMayWrite = 0o002;
const sticky = 0o1000;

/**
 * Throws StoreError when the master key belongs to another user, or others may read or write it. Checks
 * nothing on platforms where files have no owners.
 */
export function checkKeyFile(path: string): void {
  const user = process.geteuid?.();
  if (user === undefined) return;
  const { mode, uid } = statSync(path);
  // Root also works on the stores of other users, whose keys belong to the owner of the directory.
  const owners = [user, 0, ...(user === 0 ? [statSync(dirname(path)).uid] : [])];
  if (!owners.includes(uid)) {
    throw unsafe(`the master key \`${path}\` belongs to another user`, `chown ${user} ${path}`);
  }
  if ((mode & othersMayReadOrWrite) !== 0) {
    const bits = (mode & 0o777).toString(8).padStart(4, '0');
    throw unsafe(`others may read or write the master key \`${path}\` (mode ${bits})`, `chmod 600 ${path}`);
  }
}

/**
 * Checks the directory and, if the file exists, the database. Throws StoreError when every user may write
 * either.
 */
export function checkDataFiles(path: string): void {
  if (process.geteuid === undefined) return;
  const folder = dirname(path);
  const { mode } = statSync(folder);
  if ((mode & everybodyMayWrite) !== 0 && (mode & sticky) === 0) {
    throw unsafe(`every user may exchange files in \`${folder}\``, `chmod o-w ${folder}`);
  }
  const file = statSync(path, { throwIfNoEntry: false });
  if (file !== undefined && (file.mode & everybodyMayWrite) !== 0) {
    throw unsafe(`every user may write the database \`${path}\``, `chmod 600 ${path}`);
  }
}

function unsafe(what: string, command: string): StoreError {
  return new StoreError('unsafe-files', `${what}: run \`${command}\``);
}
