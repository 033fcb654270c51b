// What a whole run of the tests has in common: a temporary folder, removed at its end, and the options of the
// Nodes that tests start. INVARIANT: everything that a test, a service or a browser of the run puts into the
// temporary directory lies in this folder, however the test ends.

import { accessSync, constants, mkdtempSync, rmSync, statfsSync } from 'node:fs';
import { freemem, tmpdir } from 'node:os';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';

/** A folder in memory. Files outlive a killed process, and no test waits for a disk. */
const memoryFolder = '/dev/shm';
/** More than the files of a run need at any time. */
const roomNeededBytes = 6 * 1024 ** 3;

/**
 * Runs before the workers start, which inherit this environment. The returned function runs after the last
 * worker has ended.
 */
export default function prepareRun(): () => void {
  const imports = pathToFileURL(join(import.meta.dirname, 'quick-imports.ts')).href;
  process.env.NODE_OPTIONS = `${process.env.NODE_OPTIONS ?? ''} --import=${imports}`;
  // With it, every command would print colours.
  delete process.env.FORCE_COLOR;
  const root = mkdtempSync(join(hasRoomInMemory() ? memoryFolder : tmpdir(), 'writ-tests-'));
  process.env.TMPDIR = root;
  const remove = (): void => rmSync(root, { recursive: true, force: true, maxRetries: 5, retryDelay: 100 });
  // An interrupted run may exit without calling the returned function.
  process.once('exit', remove);
  return remove;
}

function hasRoomInMemory(): boolean {
  try {
    accessSync(memoryFolder, constants.W_OK);
    const { bavail, bsize } = statfsSync(memoryFolder);
    return Math.min(bavail * bsize, freemem()) > roomNeededBytes;
  } catch {
    return false;
  }
}
