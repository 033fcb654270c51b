// Opens the store of a data directory for one command, in the name of the user who runs it, and closes it again. An
// error of the store becomes one line for the operator.

import { existsSync } from 'node:fs';
import { userInfo } from 'node:os';
import { join } from 'node:path';
import type { Command } from 'commander';
import type { Store } from '../../../service/store/contract/store.ts';
import { StoreError } from '../../../service/store/contract/store-error.ts';
import { openStore } from '../../../service/store/open.ts';
import { type ExitCode, exitCodes, printError } from '../output/output.ts';

export interface DataOption {
  readonly data: string;
}

/** Adds the option that names the data directory. */
export function withDataOption(command: Command): Command {
  return command.option('--data <directory>', 'the data directory of the service', './var');
}

/** The store must be there: a misspelt directory is an error, not an empty store. */
export async function withStore(
  { data }: DataOption,
  run: (store: Store) => Promise<ExitCode>,
): Promise<ExitCode> {
  const path = join(data, 'writ.db');
  if (!existsSync(path)) {
    printError(`error: there is no store at ${path}: name the data directory of the service with --data\n`);
    return exitCodes.wrong;
  }
  try {
    const store = await openStore({ path, actor: commandLineUser() });
    try {
      return await run(store);
    } finally {
      await store.close();
    }
  } catch (error) {
    if (!(error instanceof StoreError)) throw error;
    printError(`error: ${error.message}\n`);
    return exitCodes.wrong;
  }
}

/** The name under which changes from the command line are recorded. */
export function commandLineUser(): string {
  try {
    return userInfo().username;
  } catch {
    // A user id without a name, as in many containers.
    return `uid ${process.getuid?.() ?? 'unknown'}`;
  }
}
