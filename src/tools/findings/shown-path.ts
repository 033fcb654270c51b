// Paths as spans have them, relative to the policy directory → paths as seen from the folder in which the command runs,
// where editors and build servers look for files.

import { isAbsolute, join, relative, sep } from 'node:path';

/** With forward slashes; absolute where the file is not under the current folder. */
export function shownPath(root: string | null, file: string): string {
  if (root === null) return file;
  const path = join(root, file);
  const near = relative(process.cwd(), path);
  const isUnder = near !== '..' && !near.startsWith(`..${sep}`) && !isAbsolute(near);
  return (isUnder ? near : path).split(sep).join('/');
}
