// One temporary folder for a whole run of the tests, gone at its end. INVARIANT: what a test, a service or a browser of
// the run puts into the temporary directory lies in this folder, however the test ends.

import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

/** Runs before the workers start, which take over this environment. The function returned runs after the last has ended. */
export default function makeTemporaryRoot(): () => void {
  const root = mkdtempSync(join(tmpdir(), 'writ-tests-'));
  process.env.TMPDIR = root;
  const remove = (): void => rmSync(root, { recursive: true, force: true, maxRetries: 5, retryDelay: 100 });
  // A run that is interrupted may end without more ado.
  process.once('exit', remove);
  return remove;
}
