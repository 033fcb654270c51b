// Reads the key of an agent or of an enforcement point from a file. INVARIANT: a key that other users of the machine can
// read is refused.

import { readFileSync, statSync } from 'node:fs';
import { dirname, resolve } from 'node:path';
import { fileError } from '../output/file-error.ts';
import { UsageError } from '../output/output.ts';

/** Throws a UsageError when the file cannot be read, has no key, or is open to other users. */
export function keyIn(path: string): string {
  try {
    if (isOpenToOthers(path))
      throw new UsageError(`${path} can be read by other users of this machine: chmod 600 ${path}`);
    const key = readFileSync(path, 'utf8').trim();
    if (key === '') throw new UsageError(`${path} is empty: it must contain the key`);
    return key;
  } catch (error) {
    if (error instanceof UsageError) throw error;
    throw new UsageError(`cannot read ${path}: ${fileError(error)}`);
  }
}

/** systemd gives a service its credentials in a folder that only the service can enter. */
function isOpenToOthers(path: string): boolean {
  const { CREDENTIALS_DIRECTORY: credentials } = process.env;
  const isCredential = credentials !== undefined && dirname(resolve(path)) === resolve(credentials);
  return process.platform !== 'win32' && !isCredential && (statSync(path).mode & 0o077) !== 0;
}

export function isPointKey(key: string): boolean {
  return key.startsWith('writpep_');
}
