// Turns paths relative to the policy directory, as spans hold them, into paths relative to the folder in
// which the command runs, where editors and build servers look for files.

import { isAbsolute, join, relative, sep } from 'node:path';

/** A path with forward slashes; absolute when the file is not under the current folder. */
export function displayPath(root: string | null, file: string): string {
  if (root === null) return file;
  const path = join(root, file);
  const near = relative(process.cwd(), path);
  const isUnder = near !== '..' && !near.startsWith(`..${sep}`) && !isAbsolute(near);
  return (isUnder ? near : path).split(sep).join('/');
}
