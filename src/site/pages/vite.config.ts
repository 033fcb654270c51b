// Builds the scripts and styles of the documentation for browsers, with hashed names and nothing inline, as the
// dashboard's.

import { join } from 'node:path';
import { defineConfig } from 'vite';
import { documentationPath } from '../address.ts';

const site = join(import.meta.dirname, '..');

export default defineConfig({
  root: site,
  base: `${documentationPath}/`,
  publicDir: false,
  clearScreen: false,
  logLevel: 'warn',
  // The pipeline imports SHA-256 for the service; the playground makes no digests.
  resolve: { alias: { 'node:crypto': join(site, 'browser/crypto-shim.ts') } },
  oxc: { jsx: { runtime: 'automatic', importSource: 'preact' } },
  build: {
    emptyOutDir: true,
    assetsInlineLimit: 0,
    target: 'es2023',
    modulePreload: { polyfill: false },
    manifest: 'manifest.json',
    reportCompressedSize: false,
    rolldownOptions: {
      input: ['main.ts', 'playground.tsx'].map((name) => join(site, 'browser', name)),
    },
  },
});
