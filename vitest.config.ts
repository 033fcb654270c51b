// How the tests run, beside what `npm test` says in its own line.

import { defineConfig } from 'vitest/config';

export default defineConfig({ test: { globalSetup: 'test/temporary-root.ts', testTimeout: 30_000 } });
