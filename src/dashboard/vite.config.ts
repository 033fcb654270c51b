// Builds the dashboard for browsers: hashed file names, nothing inline (the page's policy allows no inline
// script), and separate parts for the editor and the plots, which are loaded on demand.

import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { defineConfig, type Plugin } from 'vite';

const { version } = JSON.parse(readFileSync(join(import.meta.dirname, '../../package.json'), 'utf8')) as {
  readonly version: string;
};

/** Address of the service for the development server of `vite`. */
const service = process.env.WRIT_URL ?? 'http://localhost:8181';

/**
 * Makes uPlot load in every browser. It fails when the browser's language is not a valid language tag, such
 * as `en-US@posix` on a machine without a locale.
 */
const plotsInAnyLanguage: Plugin = {
  name: 'plots-in-any-language',
  transform(code, id) {
    if (!id.includes('/uplot/') || !id.endsWith('.js')) return null;
    const named = "domEnv ? nav.language : 'en-US'";
    if (!code.includes(named)) throw new Error('uPlot formats numbers in a way that the build does not know');
    return code.replace(named, 'undefined');
  },
};

export default defineConfig({
  root: import.meta.dirname,
  base: '/',
  define: { 'import.meta.env.VITE_WRIT_VERSION': JSON.stringify(version) },
  plugins: [plotsInAnyLanguage],
  publicDir: 'public',
  clearScreen: false,
  logLevel: 'warn',
  build: {
    outDir: 'dist',
    emptyOutDir: true,
    assetsInlineLimit: 0,
    target: 'es2023',
    modulePreload: { polyfill: false },
    manifest: 'manifest.json',
    rolldownOptions: {
      output: { entryFileNames: 'assets/main-[hash].js' },
      // It would be printed wherever the machine is busy.
      checks: { bundlerTimings: false },
    },
    reportCompressedSize: false,
  },
  server: { proxy: { '/v1': service, '/readyz': service, '/openapi.json': service, '/docs': service } },
});
