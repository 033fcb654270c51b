// Opens the store of a data directory for one command, in the name of the user who runs it, and closes it again. An
// error of the store becomes one line for the operator.

import { existsSync } from 'node:fs';
import { userInfo } from 'node:os';
import { join } from 'node:path';
import type { Command } from 'commander';
import type { RecordReader } from '../../../service/store/contract/log.ts';
import type { Store } from '../../../service/store/contract/store.ts';
import { StoreError, type StoreErrorCode } from '../../../service/store/contract/store-error.ts';
import { openRecords, openStore } from '../../../service/store/open.ts';
import { type ExitCode, exitCodes, printError, printJson } from '../output/output.ts';

export interface DataOption {
  readonly data: string;
}

/** Adds the option that names the data directory. */
export function withDataOption(command: Command): Command {
  return command.option('--data <directory>', 'the data directory of the service', './var');
}

export interface StoreOptions extends DataOption {
  /** Prints the error of a store that cannot be used as JSON on standard output. */
  readonly json?: boolean | undefined;
}

/** Runs a command on the store. A store that is missing is an error: a misspelt directory must not become an empty store. */
export function withStore(
  options: StoreOptions,
  run: (store: Store) => Promise<ExitCode>,
): Promise<ExitCode> {
  return withOpened(options, (path) => openStore({ path, actor: commandLineUser() }), run);
}

/** Runs a command on the records of the store, which it only reads. */
export function withRecords(
  options: StoreOptions,
  run: (records: RecordReader) => Promise<ExitCode>,
): Promise<ExitCode> {
  return withOpened(options, (path) => openRecords({ path }), run);
}

async function withOpened<Opened extends { close(): Promise<void> }>(
  { data, json }: StoreOptions,
  open: (path: string) => Promise<Opened>,
  run: (opened: Opened) => Promise<ExitCode>,
): Promise<ExitCode> {
  const path = join(data, 'writ.db');
  const fail = (code: StoreErrorCode | 'no-store', message: string): ExitCode => {
    if (json === true) printJson({ ok: false, error: { code, message } });
    else printError(`error: ${message}\n`);
    return exitCodes.wrong;
  };
  if (!existsSync(path)) {
    return fail(
      'no-store',
      `there is no store at ${path}: name the data directory of the service with --data`,
    );
  }
  try {
    const opened = await open(path);
    try {
      return await run(opened);
    } finally {
      await opened.close();
    }
  } catch (error) {
    if (!(error instanceof StoreError)) throw error;
    return fail(error.code, error.message);
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
