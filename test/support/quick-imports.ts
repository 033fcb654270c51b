// Loaded first by every Node process and thread that tests start. Our modules import each other by relative
// paths with their extensions, so such a path is resolved without asking the file system. Hundreds of starts
// load hundreds of modules each: looking for the files took a tenth of the processor time of the HTTP tests.

import { registerHooks } from 'node:module';

const root = new URL('../../', import.meta.url).href;

registerHooks({
  resolve(specifier, context, next) {
    const { parentURL = '' } = context;
    const isOurs = parentURL.startsWith(root) && !parentURL.includes('/node_modules/');
    if (!isOurs || !specifier.startsWith('.') || !specifier.endsWith('.ts')) return next(specifier, context);
    return { url: new URL(specifier, parentURL).href, format: 'module-typescript', shortCircuit: true };
  },
});
