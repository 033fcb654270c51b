// `writ restore`: puts a backup in the place of a store, or makes a store safe that was restored in another way.

import { existsSync } from 'node:fs';
import { resolve } from 'node:path';
import type { Command } from 'commander';
import { isWhole, type StoreVerification, verifyStore } from '../../service/audit/verify-store.ts';
import { writCommand } from '../../service/http/writ-command.ts';
import { nameOfDifference } from '../../service/store/contract/state.ts';
import { StoreError, type StoreErrorCode } from '../../service/store/contract/store-error.ts';
import { openStoreAt, refuseMovedStore, schemaVersionsOf } from '../../service/store/open.ts';
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
import { makeSafe, type SafeStore } from '../support/make-safe.ts';

interface RestoreOptions extends DataOption {
  readonly inPlace?: boolean;
  readonly metersKnown?: boolean;
  readonly json?: boolean;
}

export function defineRestore(command: Command, finish: (code: ExitCode) => void): void {
  withDataOption(command)
    .argument('[file]', 'the backup, as `writ backup` made it; its key is in FILE.key')
    .option('--in-place', 'the store was restored by other means, such as pg_restore: only make it safe')
    .option('--meters-known', 'nothing was granted since the backup: meters continue from it')
    .option('--json', 'print the result as JSON')
    .addHelpText('after', examples)
    .action(async (file: string | undefined, options: RestoreOptions) => {
      finish(await restore(file, options));
    });
}

const examples = `
Stop the service first. The backup is verified before anything is replaced, and the store that it replaces is
kept in a directory next to it. Everything stays stopped afterwards until you turn the kill switch off, because
the backup lacks what was revoked, stopped and used later.

Examples:
  writ restore /backup/writ-2026-03-01.db
  writ restore /backup/writ-2026-03-01.db --data /var/lib/writ
  writ restore --in-place --store postgres://writ@db.example.com/writ    # after pg_restore`;

async function restore(file: string | undefined, options: RestoreOptions): Promise<ExitCode> {
  const location = commandStoreLocation(options);
  const isInPlace = options.inPlace === true;
  if ('url' in location && !isInPlace)
    throw new UsageError(
      'a database is restored with its own tools: run `pg_restore`, put `writ.key` back into the data directory, then run `writ restore --in-place`',
    );
  if (isInPlace === (file !== undefined))
    throw new UsageError(
      isInPlace
        ? 'use a backup or --in-place, not both'
        : 'name the backup: `writ restore FILE`; --in-place makes a store safe that was restored by other means',
    );
  if (file === undefined || 'url' in location) return await makeSafeInPlace(options);
  return await restoreFile({ file, path: location.path, options });
}

function makeSafeInPlace(options: RestoreOptions): Promise<ExitCode> {
  return withStoreAt(
    options,
    (location) => openStoreAt({ ...location, actor: commandLineUser() }),
    async (store) => {
      const safe = await makeSafe(store, safetyOf(options));
      if (options.json === true) printJson({ ok: true, ...inJson(safe) });
      else
        print(
          `${createMarks().good('✓')} the records continue from ${moment(safe)}\n${afterwards(safe, options)}`,
        );
      return exitCodes.ok;
    },
  );
}

interface FileRestore {
  readonly file: string;
  /** The database file of the store. */
  readonly path: string;
  readonly options: RestoreOptions;
}

interface PreparedRestore {
  readonly recordCount: number;
  /** The schema that the backup had, when this command has upgraded the copy; else null. */
  readonly earlierSchema: number | null;
  readonly safe: SafeStore;
}

async function restoreFile({ file, path, options }: FileRestore): Promise<ExitCode> {
  const fail = (code: StoreErrorCode | 'no-backup', message: string): ExitCode => {
    if (options.json === true) printJson({ ok: false, error: { code, message } });
    else printError(`error: ${message}\nnothing was changed\n`);
    return exitCodes.wrong;
  };
  if (!existsSync(file)) return fail('no-backup', `there is no backup at ${file}`);
  try {
    refuseMovedStore(path);
    // Loaded here, because only this needs SQLite itself.
    const { replaceDatabase } = await import('../../service/store/sqlite/file/replace.ts');
    const { prepared, keptIn } = await replaceDatabase({
      path,
      backup: resolve(file),
      prepare: (draft) => prepare(draft, { file, options }),
    });
    if (options.json === true) printJson({ ok: true, ...inJson(prepared.safe), kept_in: keptIn });
    else print(describe({ file, path, prepared, keptIn, options }));
    return exitCodes.ok;
  } catch (error) {
    if (!(error instanceof StoreError)) throw error;
    return fail(error.code, error.message);
  }
}

/** Verifies the copy of the backup, upgrades it where an earlier version made it, and makes it safe. */
async function prepare(
  draft: string,
  { file, options }: Pick<FileRestore, 'file' | 'options'>,
): Promise<PreparedRestore> {
  const { actual: found, own } = await schemaVersionsOf({ path: draft });
  const store = await openStoreAt({ path: draft, actor: commandLineUser(), isUpgradeAllowed: true });
  try {
    const verification = await verifyStore(store);
    if (!isWhole(verification)) throw changed(file, verification);
    const recordCount = verification.chain.kind === 'whole' ? verification.chain.end.sequence : 0;
    const safe = await makeSafe(store, safetyOf(options));
    return { recordCount, earlierSchema: found === own ? null : found, safe };
  } finally {
    await store.close();
  }
}

function changed(file: string, { chain, differences }: StoreVerification): StoreError {
  const [difference] = differences;
  const what =
    chain.kind === 'broken'
      ? `record ${chain.break.sequence}: ${chain.break.message}`
      : difference === undefined
        ? ''
        : `${nameOfDifference(difference)}: ${difference.message}`;
  return new StoreError('tampered', `the backup ${file} was changed after it was made: ${what}`);
}

function safetyOf({ metersKnown = false }: RestoreOptions) {
  return { who: commandLineUser(), nowMs: Date.now(), areMetersKnown: metersKnown };
}

function moment({ newestMs }: SafeStore): string {
  return newestMs === null ? 'the beginning' : new Date(newestMs).toISOString();
}

function inJson({ newestMs, ended, sessions, switchId }: SafeStore) {
  const newest = newestMs === null ? null : new Date(newestMs).toISOString();
  return { newest_record_at: newest, ended, sessions, switch: switchId };
}

interface RestoreResult extends FileRestore {
  readonly prepared: PreparedRestore;
  readonly keptIn: string | null;
}

function describe({ file, path, prepared, keptIn, options }: RestoreResult): string {
  const { recordCount, earlierSchema, safe } = prepared;
  const records = `${recordCount.toLocaleString('en')} records up to ${moment(safe)}`;
  const upgraded =
    earlierSchema === null ? '' : `\n  an earlier version made it (schema ${earlierSchema}): it was upgraded`;
  const keptText =
    keptIn === null ? 'there was no store before' : `the store from before is kept, unchanged, in ${keptIn}`;
  return `${createMarks().good('✓')} ${path} is restored from ${file}: ${records}, verified${upgraded}
  ${keptText}
${afterwards(safe, options)}`;
}

function afterwards(
  { ended, sessions, switchId }: SafeStore,
  { data, store, metersKnown = false }: RestoreOptions,
): string {
  const resume = writCommand(`kill-switch off ${switchId} --reason "later changes checked"`, { data, store });
  return `  ended requests (pending or granted): ${ended}; ended sessions: ${sessions}
  the kill switch is on for everything: start the service, check agents, keys, people and kill switches for
  later changes, then
  ${resume}
${metersKnown ? '' : '  meters are unknown until their windows have passed, so rules that read them stop requests until then\n'}`;
}
