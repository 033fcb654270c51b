// Who may read and write the files of a store. INVARIANT: a store opens only where nobody but its owner can read its
// master key, and not every user of the machine can write the database or exchange the files.

import { statSync } from 'node:fs';
import { dirname } from 'node:path';
import { StoreError } from './store-error.ts';

const othersMayReadOrWrite = 0o077;
const everybodyMayWrite = 0o002;
const sticky = 0o1000;

/** Throws StoreError. Where files have no owners there is nothing to see. */
export function checkKeyFile(path: string): void {
  const user = process.geteuid?.();
  if (user === undefined) return;
  const { mode, uid } = statSync(path);
  // Root works on the stores of others; their key is that of the owner of the directory.
  const owners = [user, 0, ...(user === 0 ? [statSync(dirname(path)).uid] : [])];
  if (!owners.includes(uid)) {
    throw unsafe(`the master key \`${path}\` belongs to another user`, `chown ${user} ${path}`);
  }
  if ((mode & othersMayReadOrWrite) !== 0) {
    const bits = (mode & 0o777).toString(8).padStart(4, '0');
    throw unsafe(`others may read or write the master key \`${path}\` (mode ${bits})`, `chmod 600 ${path}`);
  }
}

/** The directory and, where it is there, the database. Throws StoreError. */
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
