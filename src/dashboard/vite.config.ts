// How the dashboard becomes files for a browser: hashed names, nothing inline (the page's policy allows no inline script),
// and the editor and the plots in parts of their own that load when they are asked for.

import { defineConfig } from 'vite';

/** Where `vite` finds the service while somebody works on the dashboard. */
const service = process.env.WRIT_URL ?? 'http://localhost:8181';

export default defineConfig({
  root: import.meta.dirname,
  base: '/',
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
    rolldownOptions: { output: { entryFileNames: 'assets/main-[hash].js' } },
    reportCompressedSize: false,
  },
  server: { proxy: { '/v1': service, '/readyz': service, '/openapi.json': service } },
});
