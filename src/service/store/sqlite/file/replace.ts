// Puts a backup in the place of a store in a file. The backup is copied beside the store, checked and prepared
// there, and only then exchanged. INVARIANT: until the exchange the store stays as it was; from then on all of it
// is in a directory of its own; a process that ends in between leaves either the store, or a database that is
// missing although its key is there, which every command refuses.

import { randomBytes } from 'node:crypto';
import {
  chmodSync,
  chownSync,
  constants,
  copyFileSync,
  existsSync,
  linkSync,
  mkdirSync,
  readdirSync,
  realpathSync,
  renameSync,
  rmSync,
  statSync,
} from 'node:fs';
import { basename, dirname, join } from 'node:path';
import Database from 'better-sqlite3';
import { faultOfFile } from '../../../file-fault.ts';
import { checkDataFiles } from '../../contract/file-guards.ts';
import { StoreError } from '../../contract/store-error.ts';
import { flush, pageDamage } from './copy.ts';
import { withStoreErrors } from './errors.ts';
import { isServedByProcess, lockForServing } from './serving-lock.ts';

export interface ReplaceOptions<Prepared> {
  /** The database file of the store. */
  readonly path: string;
  /** The database file of the backup; its key is in `<backup>.key`. */
  readonly backup: string;
  /**
   * Checks the copy at this path, and changes it into what is to be served. When it rejects, nothing is
   * exchanged.
   */
  readonly prepare: (path: string) => Promise<Prepared>;
}

export interface Replacement<Prepared> {
  readonly prepared: Prepared;
  /** The directory with all files of the earlier store; null when there was none. */
  readonly keptIn: string | null;
}

/** The files of a database that belong together, and have to be kept together. */
const databaseEnds = ['', '-wal', '-shm', '-journal', '.key'] as const;

/**
 * Replaces the store at `path`. Rejects with a StoreError, when a process serves the store, when the backup cannot
 * be copied, or with what `prepare` rejects with; then nothing has changed.
 */
export async function replaceDatabase<Prepared>({
  path,
  backup,
  prepare,
}: ReplaceOptions<Prepared>): Promise<Replacement<Prepared>> {
  const folder = dirname(path);
  withStoreErrors(path, () => {
    mkdirSync(folder, { recursive: true, mode: 0o700 });
    checkDataFiles(path);
    refuseSame(path, backup);
  });
  const lock = lockForServing(path);
  const draft = `${path}.restoring`;
  try {
    ownAsFolder(folder, [`${path}.serving`]);
    removeDraft(draft);
    copyToDraft(backup, draft);
    const prepared = await checkedThen(prepare, draft).catch((error: unknown) => {
      throw aboutBackup(error, { draft, backup });
    });
    withStoreErrors(draft, () => fold(draft));
    const keptIn = withStoreErrors(path, () => exchange(path, draft));
    return { prepared, keptIn };
  } finally {
    removeDraft(draft);
    lock.release();
  }
}

/** A backup that is in use is no snapshot, and the store itself would be replaced by its own copy. */
function refuseSame(path: string, backup: string): void {
  if (existsSync(path) && realpathSync(path) === realpathSync(backup))
    throw new StoreError('unsafe-files', `\`${backup}\` is the store itself: name the file of a backup`);
  if (isServedByProcess(backup))
    throw new StoreError(
      'already-served',
      `a service uses \`${backup}\`: make a backup of it with \`writ backup\`, and restore that`,
    );
}

/** Copies the backup, also from a medium that cannot be written. Throws StoreError. */
function copyToDraft(backup: string, draft: string): void {
  if (!existsSync(`${backup}.key`))
    throw new StoreError(
      'master-key',
      `the key of the backup, \`${backup}.key\`, is missing: copy it there; no other key opens the backup`,
    );
  for (const end of ['', '-wal', '.key']) {
    if (!existsSync(backup + end)) continue;
    try {
      copyFileSync(backup + end, draft + end, constants.COPYFILE_FICLONE);
      chmodSync(draft + end, 0o600);
    } catch (error) {
      throw copyFault(error, { from: backup + end, to: draft + end });
    }
  }
}

/** Reads every page and index of the copy before it is prepared. Rejects with a StoreError. */
async function checkedThen<Prepared>(
  prepare: ReplaceOptions<Prepared>['prepare'],
  draft: string,
): Promise<Prepared> {
  const damage = withStoreErrors(draft, () => pageDamage(draft));
  if (damage !== null) throw new StoreError('corrupt', damage);
  return await prepare(draft);
}

/** The system names only the source of a copy, even when the target has no space. */
function copyFault(error: unknown, { from, to }: { readonly from: string; readonly to: string }): unknown {
  const fault = faultOfFile(error);
  if (fault === null || !(error instanceof Error) || !('code' in error)) return error;
  const isFull = error.code === 'ENOSPC' || error.code === 'EDQUOT';
  return new StoreError(isFull ? 'full' : 'io', `\`${isFull ? to : from}\` ${fault}`, { cause: error });
}

/** An error at the copy is one of the backup, which is the file that the operator knows. */
function aboutBackup(
  error: unknown,
  { draft, backup }: { readonly draft: string; readonly backup: string },
): unknown {
  if (!(error instanceof StoreError) || ['full', 'io', 'unwritable'].includes(error.code)) return error;
  const message =
    error.code === 'corrupt'
      ? `\`${backup}\` is damaged or is not a database: restore another backup`
      : error.message.replaceAll(draft, backup);
  return new StoreError(error.code, message, { cause: error });
}

/** Writes everything into the one file, which is then whole by itself, and to the disk. */
function fold(draft: string): void {
  const database = new Database(draft, { fileMustExist: true });
  try {
    database.pragma('wal_checkpoint(TRUNCATE)');
  } finally {
    database.close();
  }
  for (const file of [draft, `${draft}.key`]) flush(file);
}

/** Keeps the store in a directory of its own, and gives the draft its place. Returns that directory. */
function exchange(path: string, draft: string): string | null {
  const folder = dirname(path);
  const earlier = databaseEnds.map((end) => path + end).filter((file) => existsSync(file));
  const keptIn = earlier.length === 0 ? null : keepIn(folder, earlier);
  ownAsFolder(folder, [draft, `${draft}.key`]);
  // The database goes first: without it, and with its key, no command begins a new store.
  for (const file of earlier.filter((one) => !one.endsWith('.key'))) rmSync(file);
  for (const name of readdirSync(folder))
    if (name.startsWith(`${basename(path)}.search`)) rmSync(join(folder, name), { force: true });
  renameSync(`${draft}.key`, `${path}.key`);
  renameSync(draft, path);
  flush(folder);
  return keptIn;
}

/** Links the files into a new directory: they are there before they leave their place. */
function keepIn(folder: string, files: readonly string[]): string {
  const moment = new Date().toISOString().slice(0, 19).replaceAll(':', '-');
  const backupFolder = join(folder, `before-restore-${moment}-${randomBytes(2).toString('hex')}`);
  mkdirSync(backupFolder, { mode: 0o700 });
  for (const file of files) linkSync(file, join(backupFolder, basename(file)));
  ownAsFolder(folder, [backupFolder]);
  flush(backupFolder);
  flush(folder);
  return backupFolder;
}

/** Files that root makes in the directory of another user belong to that user, whose service reads them. */
function ownAsFolder(folder: string, files: readonly string[]): void {
  if (process.geteuid?.() !== 0) return;
  const { uid, gid } = statSync(folder);
  for (const file of files) chownSync(file, uid, gid);
}

function removeDraft(draft: string): void {
  const folder = dirname(draft);
  for (const name of readdirSync(folder))
    if (name.startsWith(basename(draft))) rmSync(join(folder, name), { force: true });
}
