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
  ENOSPC:
    'cannot be written, as its disk is full: free space there (`df -h` shows it), or delete files if no inodes are left (`df -i`)',
  EDQUOT: 'cannot be written, as the disk quota of this user is used up: free space, or raise the quota',
  EMFILE: 'cannot be opened, as too many files are open: raise the limit (`ulimit -n`)',
  ENFILE: 'cannot be opened, as too many files are open on this machine',
  ELOOP: 'is a loop of links',
  ENAMETOOLONG: 'has a name that is too long',
  EIO: 'cannot be read or written, as the disk reported an error: check the disk and the system log',
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
 * Free space under which a write may have failed for lack of space: a library deletes what it could not write in
 * full before anybody looks at the disk.
 */
const leastBytes = 1_048_576;

/**
 * Looks for what is wrong with a file that a library could not open, and says it as `faultOfFile` does; null
 * when nothing is found. Changes nothing.
 */
export function findFault(path: string): string | null {
  try {
    const isThere = statSync(path, { throwIfNoEntry: false });
    if (isThere?.isDirectory() === true) return faults.EISDIR ?? null;
    const { bavail, bsize, ffree, files } = statfsSync(dirname(path));
    // Some file systems count no files.
    const isFull = bavail * bsize < leastBytes || (ffree === 0 && files > 0);
    return isFull ? (faults.ENOSPC ?? null) : null;
  } catch (error) {
    return faultOfFile(error);
  }
}

function isOfSystem(error: unknown): error is Error & { readonly code: string } {
  return error instanceof Error && 'syscall' in error && 'code' in error && typeof error.code === 'string';
}
