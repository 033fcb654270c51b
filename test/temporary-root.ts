// One temporary folder for a whole run of the tests, gone at its end. INVARIANT: what a test, a service or a browser of
// the run puts into the temporary directory lies in this folder, however the test ends.

import { accessSync, constants, mkdtempSync, rmSync, statfsSync } from 'node:fs';
import { freemem, tmpdir } from 'node:os';
import { join } from 'node:path';

/** Where files lie in memory. A killed process keeps there what it has written, and no test waits for a disk. */
const memoryFolder = '/dev/shm';
/** More than all that a run puts there at once. */
const roomNeededBytes = 6 * 1024 ** 3;

/** Runs before the workers start, which take over this environment. The function returned runs after the last has ended. */
export default function makeTemporaryRoot(): () => void {
  const root = mkdtempSync(join(hasRoomInMemory() ? memoryFolder : tmpdir(), 'writ-tests-'));
  process.env.TMPDIR = root;
  const remove = (): void => rmSync(root, { recursive: true, force: true, maxRetries: 5, retryDelay: 100 });
  // A run that is interrupted may end without more ado.
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
