// The sources into the JavaScript of the package: a file for each module that is started or imported by name, and shared
// parts in `lib`. INVARIANT: each module finds the files beside it as in the checkout, though its code lies elsewhere.

import { dirname, isAbsolute, join, relative } from 'node:path';
import { type Plugin, rolldown } from 'rolldown';
import { doors } from './manifests.ts';

/** What runs in threads of its own. */
const threads = [
  'src/service/policies/compiler-thread',
  'src/service/playground/thread',
  'src/service/replay/replay-thread',
  'src/service/store/postgres/search/database-searcher',
  'src/service/store/sqlite/search/file-searcher',
  'src/service/store/sqlite/writer',
  'src/tools/lsp/thread/thread',
];

/** Writes the JavaScript and its source maps into `folder`. */
export async function bundle(root: string, folder: string): Promise<void> {
  const modules = ['src/tools/cli/main', ...threads, ...Object.values(doors)];
  const bundled = await rolldown({
    input: Object.fromEntries(modules.map((module) => [module, join(root, `${module}.ts`)])),
    platform: 'node',
    external: (id) => !id.startsWith('.') && !isAbsolute(id) && !id.startsWith('\0'),
    plugins: [ownPlaces(root)],
    onLog: (level, log, handle) => {
      // The places are rewritten within a line: maps lead to the right one.
      if (log.code !== 'SOURCEMAP_BROKEN') handle(level, log);
    },
  });
  await bundled.write({
    dir: folder,
    format: 'es',
    entryFileNames: '[name].js',
    chunkFileNames: 'lib/[name]-[hash].js',
    sourcemap: true,
  });
  await bundled.close();
}

/** `import.meta` of a module as if its code were still where its source is. */
function ownPlaces(root: string): Plugin {
  return {
    name: 'own-places',
    transform(code, id) {
      if (!code.includes('import.meta')) return null;
      const own = relative(root, id).replace(/\.ts$/, '.js');
      const from = "import.meta.resolve('writ/package.json')";
      return code
        .replace(/(new URL\('[^']+)\.ts(', import\.meta\.url\))/g, '$1.js$2')
        .replaceAll('import.meta.url', `new URL('./${own}', ${from}).href`)
        .replaceAll(
          'import.meta.dirname',
          `decodeURIComponent(new URL('./${dirname(own)}', ${from}).pathname)`,
        );
    },
  };
}
