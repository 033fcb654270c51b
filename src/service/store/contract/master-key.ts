// The service's master key: 32 random bytes in hexadecimal, in a file beside the database that only its owner
// can read. The database keeps a digest of the key, and the key file notes that the database is sealed.
// INVARIANT: a key and its database are created together or not at all. When one of the two exists without
// the other, the other was lost, and no new one is created.

import { createHmac, randomBytes } from 'node:crypto';
import {
  closeSync,
  existsSync,
  fsyncSync,
  linkSync,
  mkdirSync,
  openSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  writeSync,
} from 'node:fs';
import { dirname } from 'node:path';
import Database from 'better-sqlite3';
import { faultOfFile } from '../../file-fault.ts';
import { checkKeyFile } from './file-guards.ts';
import { StoreError } from './store-error.ts';

const keyForm = /^([0-9a-f]{64})(\s+sealed)?\s*$/i;
export const masterKeySetting = 'master_key_check';

export interface MasterKey {
  readonly key: Buffer;
  /** Whether the database has ever had a seal; if it has, the database is refused without one. */
  readonly isSealed: boolean;
  /**
   * To be called once the database exists and is sealed: gives the key file its final name and notes the seal
   * in it.
   */
  readonly keep: () => void;
}

/**
 * Returns the master key of the database at `path`; creates a key when there is neither key nor database.
 * Throws StoreError.
 */
export function readMasterKey(path: string): MasterKey {
  const keyPath = `${path}.key`;
  const present = readKey(keyPath);
  if (present !== null) {
    // The key is looked for before the database: a process that creates a store gives the key file its final
    // name only once the database exists.
    if (isMissing(path)) throw databaseMissing(path);
    return { ...present, keep: () => present.isSealed || noteSealed(keyPath, present.key) };
  }
  const draftPath = `${keyPath}.new`;
  if (isMissing(path) || !knowsMasterKey(path)) createKeyFile(draftPath);
  // Another process may have given the draft its final name meanwhile.
  const key = readKey(draftPath) ?? readKey(keyPath);
  if (key === null) throw keyMissing(keyPath);
  return { key: key.key, isSealed: false, keep: () => publish(draftPath, keyPath) };
}

/**
 * Returns the master key at `path` of a database that is not a file; creates one when the database has not
 * noted a key (`isKnown` is false) and the file is missing. Throws StoreError.
 */
export function readKeyOf(path: string, isKnown: boolean): Buffer {
  mkdirSync(dirname(path), { recursive: true, mode: 0o700 });
  if (!isKnown && !existsSync(path)) createKeyFile(path);
  const masterKey = readKey(path);
  if (masterKey === null) throw keyMissing(path);
  return masterKey.key;
}

/**
 * Returns the master key of the database at `path` and creates nothing. Throws StoreError when the key or the
 * database is missing.
 */
export function existingMasterKey(path: string): Buffer {
  const key = presentKey(`${path}.key`);
  if (isMissing(path)) throw databaseMissing(path);
  return key;
}

/** Returns the master key at `path` and creates nothing. Throws StoreError when the key is missing. */
export function presentKey(path: string): Buffer {
  const masterKey = readKey(path);
  if (masterKey === null) throw keyMissing(path);
  return masterKey.key;
}

/**
 * Puts the master key of a copied store at `path`, for the copy. Throws StoreError when another key is there.
 */
export function copyKey(path: string, key: Uint8Array): void {
  mkdirSync(dirname(path), { recursive: true, mode: 0o700 });
  if (!existsSync(path)) {
    const draft = writeDraft(path, keyText(Buffer.from(key)));
    linkUnlessThere(draft, path);
    rmSync(draft);
  }
  if (readKey(path)?.key.equals(key) === true) return;
  throw new StoreError('master-key', `\`${path}\` is the key of another store: move it away`);
}

/** Returns the digest that a database keeps of its master key; the digest reveals nothing of the key. */
export function masterKeyCheck(key: Uint8Array): string {
  return createHmac('sha256', key).update('writ master key check').digest('hex').slice(0, 32);
}

/** Returns the digest that the database keeps of its master key; null when it keeps none. */
export function knownMasterKey(database: Database.Database): string | null {
  const hasSettings =
    database.prepare("SELECT 1 FROM sqlite_schema WHERE name = 'settings'").get() !== undefined;
  if (!hasSettings) return null;
  const value = database.prepare<[string], string>('SELECT value FROM settings WHERE name = ?').pluck();
  return value.get(masterKeySetting) ?? null;
}

export function masterKeyMismatch(path: string): StoreError {
  return new StoreError(
    'master-key',
    `\`${path}\` is not the master key of this database: restore the right one`,
  );
}

function keyMissing(path: string): StoreError {
  return new StoreError('master-key', `the master key \`${path}\` is missing: restore it from its copy`);
}

function databaseMissing(path: string): StoreError {
  return new StoreError(
    'unsafe-files',
    `\`${path}\` is missing or empty, but its master key \`${path}.key\` is there: restore the database from a backup, or move the key away to begin with a new store`,
  );
}

function isMissing(path: string): boolean {
  return !existsSync(path) || statSync(path).size === 0;
}

/**
 * Opens the database for writing, so that SQLite rolls back the work of a process that was killed while it
 * created the database.
 */
function knowsMasterKey(path: string): boolean {
  const database = new Database(path, { fileMustExist: true });
  try {
    return knownMasterKey(database) !== null;
  } finally {
    database.close();
  }
}

function readKey(path: string): { readonly key: Buffer; readonly isSealed: boolean } | null {
  const text = readText(path);
  if (text === null) return null;
  checkKeyFile(path);
  const match = keyForm.exec(text);
  if (match === null) {
    throw new StoreError(
      'master-key',
      `\`${path}\` does not contain a master key of 64 hexadecimal digits: restore it`,
    );
  }
  return { key: Buffer.from(match[1] ?? '', 'hex'), isSealed: match[2] !== undefined };
}

function readText(path: string): string | null {
  try {
    return readFileSync(path, 'utf8');
  } catch (error) {
    if (error instanceof Error && 'code' in error && error.code === 'ENOENT') return null;
    throw keyFault(path, error);
  }
}

/** Names the file: what the system reports of a read or a write does not. */
function keyFault(path: string, error: unknown): unknown {
  const fault = faultOfFile(error);
  if (fault === null) return error;
  return new StoreError('master-key', `the master key \`${path}\` ${fault}`, { cause: error });
}

function keyText(key: Buffer): string {
  return `${key.toString('hex')}\nsealed\n`;
}

/**
 * A link appears whole or not at all, and never replaces another: when two processes start, one creates the
 * key and both read it.
 */
function createKeyFile(path: string): void {
  const draft = writeDraft(path, keyText(randomBytes(32)));
  linkUnlessThere(draft, path);
  rmSync(draft);
}

function publish(draftPath: string, keyPath: string): void {
  if (existsSync(draftPath)) linkUnlessThere(draftPath, keyPath);
  rmSync(draftPath, { force: true });
}

function noteSealed(path: string, key: Buffer): void {
  renameSync(writeDraft(path, keyText(key)), path);
  syncFolder(dirname(path));
}

function writeDraft(path: string, text: string): string {
  const draft = `${path}.${process.pid}.${randomBytes(4).toString('hex')}`;
  try {
    const file = openSync(draft, 'wx', 0o600);
    try {
      writeSync(file, text);
      fsyncSync(file);
    } finally {
      closeSync(file);
    }
    return draft;
  } catch (error) {
    rmSync(draft, { force: true });
    throw keyFault(path, error);
  }
}

function linkUnlessThere(draft: string, path: string): void {
  try {
    linkSync(draft, path);
    syncFolder(dirname(path));
  } catch (error) {
    if (!(error instanceof Error && 'code' in error && (error.code === 'EEXIST' || error.code === 'ENOENT')))
      throw error;
  }
}

/**
 * Flushes a directory. Secrets depend on the master key, so the name of its file must survive a power loss as
 * surely as the database does.
 */
function syncFolder(path: string): void {
  const folder = openSync(path, 'r');
  fsyncSync(folder);
  closeSync(folder);
}
