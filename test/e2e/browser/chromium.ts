// Finds Chromium: the path in `CHROMIUM_PATH`, else the first of the usual names on the path, else the npm
// copy that install.ts has unpacked. That copy brings its libraries and fonts, so the machine needs only a C
// library.

import { accessSync, constants, readFileSync } from 'node:fs';
import { delimiter, join } from 'node:path';

const names = ['chromium-headless-shell', 'chromium', 'chromium-browser', 'google-chrome', 'chrome'];
const modules = join(import.meta.dirname, '../../node_modules');
const cache = join(import.meta.dirname, '../../../node_modules/.cache');

export interface Chromium {
  readonly path: string;
  /** Variables that Chromium needs in addition to the environment. */
  readonly env: Readonly<Record<string, string>>;
}

/** The Chromium to use; null when there is none. */
export function findChromium(): Chromium | null {
  const path = ofMachine();
  if (path !== null) return { path, env: {} };
  if (process.env.CHROMIUM_PATH) return null;
  const unpacked = join(unpackedFolder(), 'chromium');
  return isExecutable(unpacked) ? { path: unpacked, env: environmentOf(unpackedFolder()) } : null;
}

/**
 * The folder for the npm copy. Its name has the package's version, so that a new version is unpacked
 * separately.
 */
export function unpackedFolder(): string {
  const { version } = JSON.parse(readFileSync(join(modules, '@sparticuz/chromium/package.json'), 'utf8')) as {
    version: string;
  };
  return join(cache, `chromium-${version}`);
}

function environmentOf(folder: string): Readonly<Record<string, string>> {
  const others = process.env.LD_LIBRARY_PATH;
  return {
    LD_LIBRARY_PATH: [join(folder, 'al2023/lib'), ...(others ? [others] : [])].join(delimiter),
    FONTCONFIG_FILE: join(folder, 'fonts.conf'),
  };
}

function ofMachine(): string | null {
  const named = process.env.CHROMIUM_PATH;
  if (named) return isExecutable(named) ? named : null;
  const folders = (process.env.PATH ?? '').split(delimiter);
  const candidates = names.flatMap((name) => folders.map((folder) => join(folder, name)));
  return candidates.find(isExecutable) ?? null;
}

function isExecutable(path: string): boolean {
  try {
    accessSync(path, constants.X_OK);
    return true;
  } catch {
    return false;
  }
}
