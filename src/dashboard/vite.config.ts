// How the dashboard becomes files for a browser: hashed names, nothing inline (the page's policy allows no inline script),
// and the editor and the plots in parts of their own that load when they are asked for.

import { defineConfig, type Plugin } from 'vite';

/** Where `vite` finds the service while somebody works on the dashboard. */
const service = process.env.WRIT_URL ?? 'http://localhost:8181';

/** uPlot fails to load where the browser's language is no language tag, as `en-US@posix` of a machine without a locale is. */
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
    rolldownOptions: { output: { entryFileNames: 'assets/main-[hash].js' } },
    reportCompressedSize: false,
  },
  server: { proxy: { '/v1': service, '/readyz': service, '/openapi.json': service } },
});
