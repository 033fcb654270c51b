// The directory in which an author works. Tools take paths of it and no others. INVARIANT: no path that leads
// out of the directory is read, whether it is written so or a link leads there.

import { existsSync, realpathSync, statSync } from 'node:fs';
import { relative, resolve } from 'node:path';
import { errorReason, isInsideFolder } from '../../../service/policies/directory-listing.ts';
import { UsageError } from '../../output/output.ts';
import { defaultPath } from '../../support/load-policies.ts';

/** The real path of the directory. Throws a UsageError when there is no such directory. */
export function openWorkspace(directory: string): string {
  const isDirectory = statSync(directory, { throwIfNoEntry: false })?.isDirectory() === true;
  if (!isDirectory) throw new UsageError(`${directory} is not a directory`);
  return realpathSync(directory);
}

/**
 * The path of a file or directory in the workspace, which is the current directory; relative to it, links
 * resolved. Throws a UsageError for a path that leads out of it or does not exist.
 */
function pathInWorkspace(path: string): string {
  const root = realpathSync(process.cwd());
  if (path.includes('\0') || !isInsideFolder(root, resolve(root, path))) throw outside(path);
  const real = realPathOf(resolve(root, path), path);
  if (!isInsideFolder(root, real)) throw outside(path);
  return relative(root, real) || '.';
}

/** The path of policies: `policies` if there is such a folder, otherwise the whole workspace. */
export function policiesInWorkspace(path: string | undefined): string {
  return pathInWorkspace(path ?? defaultPath());
}

/** The path of a regular file: reading a pipe or a device could wait for ever. */
export function fileInWorkspace(path: string): string {
  const inside = pathInWorkspace(path);
  if (!statSync(inside).isFile()) throw new UsageError(`\`${path}\` is not a regular file`);
  return inside;
}

/** Throws a UsageError when one of the paths leads out of the workspace. Paths may be missing. */
export function refuseOutside(paths: readonly string[]): void {
  for (const path of paths) {
    const root = realpathSync(process.cwd());
    if (!isInsideFolder(root, resolve(root, path))) throw outside(path);
    if (existsSync(path)) pathInWorkspace(path);
  }
}

function realPathOf(full: string, path: string): string {
  try {
    return realpathSync(full);
  } catch (error) {
    throw new UsageError(`\`${path}\` ${errorReason(error)} in the workspace`);
  }
}

function outside(path: string): UsageError {
  return new UsageError(`\`${path}\` leads out of the workspace: name a path below its directory`);
}
