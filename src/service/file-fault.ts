// What is wrong with a file or directory, in words for the operator of the service.

import { statfsSync, statSync } from 'node:fs';
import { dirname } from 'node:path';

const faults: Readonly<Record<string, string>> = {
  ENOENT: 'does not exist',
  EISDIR: 'is a directory, and must be a file',
  ENOTDIR: 'lies under a file, where a directory must be',
  EEXIST: 'is a file, and must be a directory',
  EACCES: 'may not be read or written by this user',
  EPERM: 'may not be read or written by this user',
  EROFS: 'is on a file system that cannot be written',
  ENOSPC: 'has no room: the disk is full, or takes no more files (`df -h` and `df -i` tell which)',
  EDQUOT: 'has no room: the quota of this user is used up',
  EMFILE: 'cannot be opened, as too many files are open: raise the limit (`ulimit -n`)',
  ENFILE: 'cannot be opened, as too many files are open on this machine',
  ELOOP: 'is a loop of links',
  ENAMETOOLONG: 'has a name that is too long',
  EIO: 'cannot be read or written, as the disk reported an error: look at the disk and the system log',
};

/**
 * Returns the end of a sentence about the file at which the system has refused; null for an error of another
 * kind.
 */
export function faultOfFile(error: unknown): string | null {
  if (!isOfSystem(error)) return null;
  return faults[error.code] ?? `cannot be read or written (${error.code})`;
}

/** Returns the file that the error names; `otherwise` where it names none. */
export function fileOfError(error: unknown, otherwise: string): string {
  return isOfSystem(error) && 'path' in error && typeof error.path === 'string' ? error.path : otherwise;
}

/**
 * Looks for what is wrong with a file that a library could not open, and says it as `faultOfFile` does; null
 * when nothing is found. Changes nothing.
 */
export function findFault(path: string): string | null {
  try {
    const isThere = statSync(path, { throwIfNoEntry: false });
    if (isThere?.isDirectory() === true) return faults.EISDIR ?? null;
    const { bavail, ffree, files } = statfsSync(dirname(path));
    // Some file systems count no files.
    return bavail === 0 || (ffree === 0 && files > 0) ? (faults.ENOSPC ?? null) : null;
  } catch (error) {
    return faultOfFile(error);
  }
}

function isOfSystem(error: unknown): error is Error & { readonly code: string } {
  return error instanceof Error && 'syscall' in error && 'code' in error && typeof error.code === 'string';
}
