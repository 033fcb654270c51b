// Runs first in every process and thread that tests start: our own modules import each other by relative paths
// with their extensions, so a path is resolved without asking the file system. The hundreds of starts in a run
// load hundreds of modules each, and resolving them would be a sixth of what the run costs.

import { registerHooks } from 'node:module';

const root = new URL('../', import.meta.url).href;

registerHooks({
  resolve(specifier, context, next) {
    const { parentURL = '' } = context;
    const isOurs = parentURL.startsWith(root) && !parentURL.includes('/node_modules/');
    if (!isOurs || !specifier.startsWith('.') || !specifier.endsWith('.ts')) return next(specifier, context);
    return { url: new URL(specifier, parentURL).href, format: 'module-typescript', shortCircuit: true };
  },
});
