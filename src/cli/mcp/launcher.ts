// How a client of the Model Context Protocol starts `writ`: the package of the project if it is installed there,
// otherwise the one of this machine.

import { existsSync } from 'node:fs';
import { isAbsolute, join, relative, resolve } from 'node:path';

export const entryFile = resolve(import.meta.dirname, '../writ.js');

/** How a client starts `writ`, and how the paths in its configuration are written. */
export interface Launcher {
  readonly command: string;
  readonly args: readonly string[];
  /** Whether the entries work on every machine with a copy of the configuration's folder. */
  readonly isShared: boolean;
  readonly pathOf: (path: string) => string;
}

/** Clients start servers in the project's folder, so that paths below it are relative to it. */
export function launcherIn(folder: string): Launcher {
  if (!existsSync(join(folder, 'node_modules/writ/package.json')))
    return { command: process.execPath, args: [entryFile], isShared: false, pathOf: (path) => resolve(path) };
  return {
    command: 'npx',
    args: ['--no', 'writ'],
    isShared: true,
    pathOf(path) {
      const below = relative(folder, resolve(path));
      return below.startsWith('..') || isAbsolute(below) ? resolve(path) : below;
    },
  };
}
