// How the tests run, beside what `npm test` says in its own line.

import { defineConfig } from 'vitest/config';

// A worker runs one file after the other and keeps what it has loaded: modules, threads with policies, a command line. A
// file leaves behind nothing of its own. A service starts two threads, and other work may share the machine.
export default defineConfig({
  test: {
    globalSetup: 'test/before-all.ts',
    isolate: false,
    // Servers, browsers and faults on a machine that stands still for a while: what is wrong fails each time.
    retry: 2,
    testTimeout: 180_000,
    hookTimeout: 180_000,
    expect: { poll: { timeout: 60_000 } },
  },
});
