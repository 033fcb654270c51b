// Opens the store of a data directory for one command, in the name of the user who runs the command, and
// closes it again. An error of the store becomes one line for the operator.

import { existsSync } from 'node:fs';
import { userInfo } from 'node:os';
import type { Command } from 'commander';
import { isDatabaseAddress } from '../../service/settings/address-forms.ts';
import type { RecordReader } from '../../service/store/contract/log.ts';
import type { Store } from '../../service/store/contract/store.ts';
import { StoreError, type StoreErrorCode } from '../../service/store/contract/store-error.ts';
import {
  fileOf,
  openRecords,
  openStore,
  refuseMovedStore,
  type StoreLocation,
  storeLocationOf,
} from '../../service/store/open.ts';
import { type ExitCode, exitCodes, printError, printJson, UsageError } from '../output/output.ts';

export interface DataOption {
  readonly data: string;
  /** Address of the database; absent when the store is a file of the data directory. */
  readonly store?: string | undefined;
}

export const storeMeaning = "the service's PostgreSQL database, if it has one (WRIT_STORE)";

/** Adds the options that name the data directory and the database. */
export function withDataOption(command: Command): Command {
  return command
    .option('--data <directory>', 'the data directory of the service', './var')
    .option('--store <address>', storeMeaning);
}

export interface StoreOptions extends DataOption {
  /** Prints the error of a store that cannot be used as JSON on standard output. */
  readonly json?: boolean | undefined;
  /** `create` makes a missing store and says so; by default, a missing store is an error. */
  readonly missing?: 'create' | undefined;
}

/**
 * Runs a command on the store. A missing store is an error, because a misspelt directory must not become an
 * empty store.
 */
export function withStore(
  options: StoreOptions,
  run: (store: Store) => Promise<ExitCode>,
): Promise<ExitCode> {
  return withStoreAt(options, (location) => openStore({ ...location, actor: commandLineUser() }), run);
}

/** Runs a command on the records of the store, which it opens for reading only. */
export function withRecords(
  options: StoreOptions,
  run: (records: RecordReader) => Promise<ExitCode>,
): Promise<ExitCode> {
  return withStoreAt(options, openRecords, run);
}

/** Runs a command on what `open` opens at the place, and closes that again. */
export async function withStoreAt<Opened extends { close(): Promise<void> }>(
  { json, missing, ...options }: StoreOptions,
  open: (location: StoreLocation) => Promise<Opened>,
  run: (opened: Opened) => Promise<ExitCode>,
): Promise<ExitCode> {
  const location = commandStoreLocation(options);
  const file = fileOf(location);
  const fail = (code: StoreErrorCode | 'no-store', message: string): ExitCode => {
    if (json === true) printJson({ ok: false, error: { code, message } });
    else printError(`error: ${message}\n`);
    return exitCodes.wrong;
  };
  const isMissing = !existsSync(file);
  try {
    if (!('url' in location)) refuseMovedStore(location.path);
    if (isMissing && missing !== 'create') {
      return fail(
        'no-store',
        `there is no store at ${file}: name the data directory of the service with --data`,
      );
    }
    const opened = await open(location);
    if (isMissing) printError(`created a new store at ${file}, for a service with this --data\n`);
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

/** The place of the store. Throws a UsageError when `store` is not the address of a database. */
export function commandStoreLocation({ data, store = process.env.WRIT_STORE }: DataOption): StoreLocation {
  if (store !== undefined && !isDatabaseAddress(store))
    throw new UsageError('--store must be an address such as postgres://user@host/database');
  return storeLocationOf({ data, database: store ?? null });
}

/** The name under which changes from the command line are recorded. */
export function commandLineUser(): string {
  try {
    return userInfo().username;
  } catch {
    // The user id has no name, as in many containers.
    return `uid ${process.getuid?.() ?? 'unknown'}`;
  }
}
