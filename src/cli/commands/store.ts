// `writ store`: moves the records into a PostgreSQL database, and brings the store of an earlier version up to
// date.

import { existsSync } from 'node:fs';
import { type Command, Option } from 'commander';
import { isDatabaseAddress } from '../../service/settings/address-forms.ts';
import type { SchemaVersions } from '../../service/store/contract/schema-version.ts';
import { StoreError } from '../../service/store/contract/store-error.ts';
import type { CopyProgress, CopyResult } from '../../service/store/move/copy-store.ts';
import { displayLocation, openStoreAt, schemaVersionsOf, storeLocationOf } from '../../service/store/open.ts';
import { createProgress, type Progress } from '../bench/progress.ts';
import {
  commandLineUser,
  commandStoreLocation,
  type DataOption,
  withDataOption,
  withStoreAt,
} from '../client/with-store.ts';
import {
  createMarks,
  type ExitCode,
  exitCodes,
  print,
  printError,
  printJson,
  UsageError,
} from '../output/output.ts';
import { addExamples } from '../support/help-layout.ts';

type Finish = (code: ExitCode) => void;

export function defineStore(command: Command, finish: Finish): void {
  addExamples(command, examples);
  defineCopy(command, finish);
  defineMigrate(command, finish);
}

const examples = `
Examples:
  writ store copy --to postgres://writ@db.example.com/writ    # while the service runs; stop it when asked
  writ store migrate                                          # after an upgrade, while no service runs`;

interface CopyOptions {
  readonly data: string;
  readonly to: string;
  readonly json?: boolean;
}

function defineCopy(command: Command, finish: Finish): void {
  command
    .command('copy')
    .description('move everything in the data directory into an empty PostgreSQL database')
    .option('--data <directory>', 'the data directory of the service', './var')
    .addOption(
      new Option('--to <address>', 'the database, such as postgres://writ@host/writ').makeOptionMandatory(),
    )
    .option('--json', 'print the result as JSON')
    .action(async (options: CopyOptions) => finish(await copy(options)));
}

async function copy({ data, to, json }: CopyOptions): Promise<ExitCode> {
  if (!isDatabaseAddress(to))
    throw new UsageError('--to must be an address such as postgres://user@host/database');
  const [from, target] = [storeLocationOf({ data, database: null }), storeLocationOf({ data, database: to })];
  if (!('path' in from) || !('keyFile' in target)) throw new Error('--to must be a database');
  const { path } = from;
  if (!existsSync(path)) {
    printError(`error: there is no store at ${path}: name the data directory of the service with --data\n`);
    return exitCodes.wrong;
  }
  const shownUrl = displayLocation(target);
  const progress = createProgress();
  try {
    const onProgress = (one: CopyProgress) => showProgress(progress, one);
    // Loaded here, because only this needs the driver of PostgreSQL.
    const { copyStore } = await import('../../service/store/move/copy-store.ts');
    const copied = await copyStore({ path, ...target, shownUrl, who: commandLineUser(), onProgress });
    progress.end();
    if (json === true) printJson({ ok: true, ...inJson(copied) });
    else print(describe(copied, { path, shownUrl }));
    return exitCodes.ok;
  } catch (error) {
    progress.end();
    if (!(error instanceof StoreError)) throw error;
    if (json === true) printJson({ ok: false, error: { code: error.code, message: error.message } });
    else printError(`error: ${error.message}\n${again(error)}`);
    return exitCodes.wrong;
  }
}

/** The advice to run the command again, when another run can solve the error; empty otherwise. */
function again({ code }: StoreError): string {
  return ['unreachable', 'uncertain', 'full', 'io', 'locked'].includes(code)
    ? 'nothing is lost, and the copy is not in use: run the command again to continue\n'
    : '';
}

function showProgress(progress: Progress, one: CopyProgress): void {
  switch (one.kind) {
    case 'records':
      progress.show(one.all === 0 ? 1 : one.done / one.all, `of ${one.all.toLocaleString('en')} records`);
      return;
    case 'waiting':
      progress.end();
      printError('everything so far is copied: if the service is running, stop it to copy the rest\n');
      return;
    case 'stopped':
      progress.end();
      printError('no process serves the store: copying the rest\n');
  }
}

function inJson({ end, recordCount, stoppedMs }: CopyResult) {
  return { records: recordCount, last: end.sequence, hash: end.hash, stopped_ms: Math.round(stoppedMs) };
}

function describe(
  { end, recordCount, stoppedMs }: CopyResult,
  { path, shownUrl }: { readonly path: string; readonly shownUrl: string },
): string {
  return `${createMarks().good('✓')} ${recordCount.toLocaleString('en')} records are in ${shownUrl}, each with its hash
  the last, ${end.sequence}, has hash ${end.hash}
  the service was stopped for ${(stoppedMs / 1000).toFixed(1)} s; start it with --store ${shownUrl}
  ${path} is no longer used: keep it as long as you keep backups
`;
}

interface MigrateOptions extends DataOption {
  readonly json?: boolean;
}

function defineMigrate(command: Command, finish: Finish): void {
  withDataOption(command.command('migrate'))
    .description('upgrade the store of an earlier version, as the next start of the service would')
    .option('--json', 'print the result as JSON')
    .action(async (options: MigrateOptions) => finish(await migrate(options)));
}

/** The store is upgraded by opening it, under the same lock as by a start of the service. */
function migrate(options: MigrateOptions): Promise<ExitCode> {
  let versions: SchemaVersions = { actual: 0, own: 0 };
  return withStoreAt(
    options,
    async (target) => {
      versions = await schemaVersionsOf(target);
      return await openStoreAt({ ...target, actor: commandLineUser(), isUpgradeAllowed: true });
    },
    async () => {
      const [before, after] = [versions.actual, versions.own];
      const place = commandStoreLocation(options);
      const location = displayLocation(place);
      const copy = 'url' in place || before === after ? null : `${place.path}.schema-${before}`;
      if (options.json === true) printJson({ ok: true, before, after, copy });
      else if (before === after)
        print(`${createMarks().good('✓')} ${location} already has schema ${after}\n`);
      else {
        print(`${createMarks().good('✓')} ${location} had schema ${before} and now has schema ${after}\n`);
        if (copy !== null) print(`  a copy from before is in ${copy}: keep it as secret as the store\n`);
      }
      return exitCodes.ok;
    },
  );
}
