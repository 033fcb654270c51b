// Writes a command of Writ so that it works when it is pasted: by its name where that is on the path, else through
// npx in an installed package, or from the sources in a checkout.

import { existsSync } from 'node:fs';
import { delimiter, join } from 'node:path';

/** Whether Writ runs from an installed package, not from a checkout. */
const isPackage = import.meta.url.includes('/node_modules/');

/** npm runs a script in this folder, so a script suits only who is there. */
const checkout = join(import.meta.dirname, '../../..');

/** The place of a store, as options of a command name it. */
interface NamedStore {
  readonly data?: string | undefined;
  /** Address of the database; it is not shown, because it can contain a password. */
  readonly store?: string | undefined;
}

/** The whole command, such as `npx --no writ agent list --data /var/lib/writ` for `agent list`. */
export function writCommand(command: string, { data, store }: NamedStore = {}): string {
  const flags = [
    ...(data === undefined ? [] : [`--data ${shellWord(data)}`]),
    ...(store === undefined ? [] : ['--store "$WRIT_STORE"']),
  ];
  return [prefix(), command, ...flags].join(' ');
}

function prefix(): string {
  if (isOnPath()) return 'writ';
  if (isPackage) return 'npx --no writ';
  return process.cwd() === checkout
    ? 'npm run -s writ --'
    : `node ${shellWord(join(checkout, 'src/cli/writ.js'))}`;
}

/** npx and npm add folders of packages to the path of the commands that they start, which a shell does not have. */
function isOnPath(): boolean {
  const folders = (process.env.PATH ?? '').split(delimiter);
  return folders.some(
    (folder) =>
      !folder.endsWith(join('node_modules', '.bin')) &&
      ['writ', 'writ.cmd'].some((name) => existsSync(join(folder, name))),
  );
}

/** A text quoted so that a shell takes it as one word. */
export function shellWord(text: string): string {
  return /^[\w./@:+-]+$/.test(text) ? text : `'${text.replaceAll("'", `'\\''`)}'`;
}
