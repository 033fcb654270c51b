// The service's master key: 32 random bytes in a file of mode 0600 beside the database, in hexadecimal. It is made
// once, and the database remembers a digest of it, so that a lost or exchanged key is noticed at start and not when
// secrets can no longer be read.

import { createHmac, randomBytes } from 'node:crypto';
import { closeSync, fsyncSync, linkSync, openSync, readFileSync, rmSync, writeSync } from 'node:fs';
import { dirname } from 'node:path';
import { StoreError } from './store-error.ts';

const keyForm = /^[0-9a-f]{64}\s*$/i;

/** The key in the file; a new one where there is no file, and where the database knows of none. */
export function readMasterKey(path: string, isKnownToDatabase: boolean): Buffer {
  const text = readText(path);
  if (text === null && isKnownToDatabase) {
    throw new StoreError(
      'master-key',
      `the master key \`${path}\` is missing: restore it from where it was kept`,
    );
  }
  if (text === null) createKeyFile(path);
  const key = text ?? readText(path) ?? '';
  if (!keyForm.test(key)) {
    throw new StoreError(
      'master-key',
      `\`${path}\` does not hold a master key of 64 hexadecimal digits: restore it`,
    );
  }
  return Buffer.from(key.trim(), 'hex');
}

/** What the database remembers of a key, telling nothing of it. */
export function masterKeyCheck(key: Uint8Array): string {
  return createHmac('sha256', key).update('writ master key check').digest('hex').slice(0, 32);
}

export function masterKeyMismatch(path: string): StoreError {
  return new StoreError(
    'master-key',
    `\`${path}\` is not the master key of this database: restore the right one`,
  );
}

function readText(path: string): string | null {
  try {
    return readFileSync(path, 'utf8');
  } catch (error) {
    if (error instanceof Error && 'code' in error && error.code === 'ENOENT') return null;
    throw error;
  }
}

/** A link appears whole or not at all, and not over another: of two processes, one makes the key and both read it. */
function createKeyFile(path: string): void {
  const draft = `${path}.${process.pid}.${randomBytes(4).toString('hex')}`;
  const file = openSync(draft, 'wx', 0o600);
  try {
    writeSync(file, `${randomBytes(32).toString('hex')}\n`);
    fsyncSync(file);
    linkSync(draft, path);
    syncFolder(dirname(path));
  } catch (error) {
    if (!(error instanceof Error && 'code' in error && error.code === 'EEXIST')) throw error;
  } finally {
    closeSync(file);
    rmSync(draft, { force: true });
  }
}

/** Secrets will rest on this key: its name must outlast a loss of power as surely as the database does. */
function syncFolder(path: string): void {
  const folder = openSync(path, 'r');
  fsyncSync(folder);
  closeSync(folder);
}
