// How the tests run, beside what `npm test` says in its own line.

import { spawnSync } from 'node:child_process';
import { join } from 'node:path';
import { defineConfig } from 'vitest/config';

const [major = 0, minor = 0] = process.versions.node.split('.').map(Number);
if (major < 22 || (major === 22 && minor < 18)) startOnBundledNode();

// A worker runs one file after the other and keeps what it has loaded: modules, threads with policies, a command line. A
// file leaves behind nothing of its own. A service starts two threads, and other work may share the machine.
export default defineConfig({
  test: {
    globalSetup: 'test/support/before-all.ts',
    runner: 'test/support/runner.ts',
    isolate: false,
    // A busy machine disturbs servers and browsers; a real defect fails each time. The runner says in which folders.
    retry: 2,
    testTimeout: 180_000,
    hookTimeout: 180_000,
    expect: { poll: { timeout: 60_000 } },
  },
});

/** Runs the same command line on the Node in node_modules, because an older one cannot load the sources. */
function startOnBundledNode(): never {
  const node = join(import.meta.dirname, 'node_modules/.bin/node');
  const { status, error } = spawnSync(node, process.argv.slice(1), { stdio: 'inherit' });
  if (error !== undefined)
    console.error(`the tests need Node 22.18 or later, this is ${process.versions.node}`);
  process.exit(status ?? 1);
}
