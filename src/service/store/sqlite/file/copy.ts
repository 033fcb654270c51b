// Copies a database in use and its master key, in one step that neither waits for writers nor makes them
// wait. INVARIANT: a copy appears only when it is whole, checked and on the disk; no existing file is
// overwritten.

import { randomBytes } from 'node:crypto';
import {
  chmodSync,
  closeSync,
  constants,
  copyFileSync,
  fsyncSync,
  linkSync,
  openSync,
  rmSync,
} from 'node:fs';
import { dirname } from 'node:path';
import Database from 'better-sqlite3';
import { StoreError } from '../../contract/store-error.ts';
import { withStoreErrors } from './errors.ts';

/** Copies the database at `path` to `target`, and its key to `<target>.key`. Rejects with a StoreError. */
export async function copyDatabase(path: string, target: string): Promise<void> {
  const draft = `${target}.${process.pid}.${randomBytes(4).toString('hex')}`;
  try {
    withStoreErrors(target, () => createForOwner(draft));
    await transfer(path, draft);
    withStoreErrors(target, () => {
      check(draft);
      copyFileSync(`${path}.key`, `${draft}.key`, constants.COPYFILE_EXCL);
      chmodSync(`${draft}.key`, 0o600);
      for (const file of [draft, `${draft}.key`]) flush(file);
      publish(draft, target);
      flush(dirname(target));
    });
  } finally {
    for (const end of ['', '-journal', '-wal', '-shm', '.key']) rmSync(draft + end, { force: true });
  }
}

function createForOwner(draft: string): void {
  closeSync(openSync(draft, 'wx', 0o600));
}

async function transfer(path: string, draft: string): Promise<void> {
  const source = withStoreErrors(path, () => new Database(path, { readonly: true, fileMustExist: true }));
  try {
    // All pages are copied in one step: a write between two steps would make the copy begin again.
    const pagesAtOnce = 0x7fffffff;
    await source.backup(draft, { progress: () => pagesAtOnce });
  } catch (error) {
    withStoreErrors(draft, () => {
      throw error;
    });
  } finally {
    source.close();
  }
}

/** Reads every page and index of the copy. Throws StoreError when one is damaged. */
function check(draft: string): void {
  const damage = pageDamage(draft);
  if (damage !== null)
    throw new StoreError(
      'corrupt',
      `the database and therefore its copy are damaged, and the copy was deleted: ${damage}`,
    );
}

/** Reads every page and index of a database. Returns what is damaged, in SQLite's words; null when nothing is. */
export function pageDamage(path: string): string | null {
  const database = new Database(path, { fileMustExist: true });
  try {
    const verdict = database.pragma('integrity_check', { simple: true });
    return verdict === 'ok' ? null : String(verdict);
  } finally {
    database.close();
  }
}

/**
 * Gives the drafts their final names. A link never replaces an existing file. The key comes first, since a
 * database without its key is of no use.
 */
function publish(draft: string, target: string): void {
  link(`${draft}.key`, `${target}.key`);
  try {
    link(draft, target);
  } catch (error) {
    rmSync(`${target}.key`);
    throw error;
  }
}

function link(draft: string, target: string): void {
  try {
    linkSync(draft, target);
  } catch (error) {
    if (!(error instanceof Error && 'code' in error && error.code === 'EEXIST')) throw error;
    throw new StoreError('unwritable', `\`${target}\` already exists: name a new file for the backup`);
  }
}

export function flush(path: string): void {
  const file = openSync(path, 'r');
  fsyncSync(file);
  closeSync(file);
}
