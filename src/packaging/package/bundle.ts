// Turns the sources into the JavaScript of the package: a file for each module that is started or imported by
// name, and shared parts in `lib`. INVARIANT: each module finds the files beside it as in the checkout,
// though its code lies elsewhere.

import { dirname, isAbsolute, join, relative } from 'node:path';
import { type InputOptions, type ModuleInfo, type OutputOptions, type Plugin, rolldown } from 'rolldown';
import { moduleEntryPoints } from './manifests.ts';

/** Modules that run in threads of their own. */
const threads = [
  'src/service/policies/compiler-thread',
  'src/analysis/playground-thread',
  'src/service/audit/verify-thread',
  'src/analysis/replay/reading-thread',
  'src/analysis/replay/replay-thread',
  'src/service/store/postgres/search/database-searcher',
  'src/service/store/sqlite/file/log-folder',
  'src/service/store/sqlite/search/file-searcher',
  'src/service/store/sqlite/writer',
  'src/lsp/thread/thread',
  'src/cli/author/thread',
];

/** Writes the JavaScript and its source maps into `folder`. */
export async function bundle(root: string, folder: string): Promise<void> {
  const started = ['src/cli/main', ...threads];
  await bundleModules({ root, modules: started, inPlace: quickImports }, folder, {
    // A module in the same file as an entry is exported by that entry.
    preserveEntrySignatures: 'allow-extension',
    codeSplitting: {
      includeDependenciesRecursively: false,
      groups: [{ name: partOfCheck(root, started), debugName: 'policies' }],
    },
  });
  // Programs may bundle the modules that they import, so these import other packages in the usual way.
  await bundleModules({ root, modules: Object.values(moduleEntryPoints), inPlace: {} }, folder, {});
}

interface ModuleBundle {
  readonly root: string;
  readonly modules: readonly string[];
  /** Code that is loaded in place of a package, by the package's name. */
  readonly inPlace: Readonly<Record<string, string>>;
}

async function bundleModules(
  { root, modules, inPlace }: ModuleBundle,
  folder: string,
  how: BundleOptions,
): Promise<void> {
  const { preserveEntrySignatures, ...output } = how;
  const bundled = await rolldown({
    input: Object.fromEntries(modules.map((module) => [module, join(root, `${module}.ts`)])),
    platform: 'node',
    external: (id) => !/^[.\0]/.test(id) && !isAbsolute(id) && !Object.hasOwn(inPlace, id),
    plugins: [inPlaceOf(inPlace), ownPlaces(root), oneByteCharacters],
    onLog: (level, log, handle) => {
      // Places are rewritten within a line, so source maps still lead to the right line.
      if (log.code !== 'SOURCEMAP_BROKEN') handle(level, log);
    },
    ...(preserveEntrySignatures === undefined ? {} : { preserveEntrySignatures }),
  });
  await bundled.write({
    dir: folder,
    format: 'es',
    entryFileNames: '[name].js',
    chunkFileNames: 'lib/[name]-[hash].js',
    sourcemap: true,
    ...output,
  });
  await bundled.close();
}

type BundleOptions = Pick<InputOptions, 'preserveEntrySignatures'> & Pick<OutputOptions, 'codeSplitting'>;

interface Graph {
  getModuleInfo(id: string): ModuleInfo | null;
}

/**
 * Chooses the modules for one common file, because few files load faster than many: the modules of `writ
 * check` that no start without compiling needs. Starts that compile no policies do not read that file.
 */
function partOfCheck(root: string, modules: readonly string[]) {
  let together: ReadonlySet<string> | undefined;
  return (id: string, graph: Graph): string | null => {
    together ??= readTogether(root, modules, graph);
    return together.has(id) ? 'policies' : null;
  };
}

function readTogether(root: string, modules: readonly string[], graph: Graph): ReadonlySet<string> {
  const idOf = (module: string) => join(root, `${module}.ts`);
  const [compiles, check] = [idOf('src/pipeline'), idOf('src/cli/commands/check')];
  const starts = new Set(modules.map(idOf));
  const alone = new Set<string>();
  for (const start of starts) {
    const needed = neededBy(start, graph);
    for (const id of needed)
      for (const later of graph.getModuleInfo(id)?.dynamicallyImportedIds ?? []) starts.add(later);
    if (!needed.has(compiles)) for (const id of needed) alone.add(id);
  }
  return new Set([...neededBy(check, graph)].filter((id) => !alone.has(id)));
}

/** A module and everything that it imports at its start. */
function neededBy(module: string, graph: Graph): ReadonlySet<string> {
  const modules = new Set([module]);
  for (const id of modules)
    for (const imported of graph.getModuleInfo(id)?.importedIds ?? []) modules.add(imported);
  return modules;
}

/** Rewrites `import.meta` of a module as if its code were still at the place of its source. */
function ownPlaces(root: string): Plugin {
  return {
    name: 'own-places',
    transform(code, id) {
      if (!code.includes('import.meta')) return null;
      const modulePath = relative(root, id).replace(/\.ts$/, '.js');
      const from = "import.meta.resolve('writ/package.json')";
      return code
        .replace(/(new URL\('[^']+)\.ts(', import\.meta\.url\))/g, '$1.js$2')
        .replaceAll('import.meta.url', `new URL('./${modulePath}', ${from}).href`)
        .replaceAll(
          'import.meta.dirname',
          `decodeURIComponent(new URL('./${dirname(modulePath)}', ${from}).pathname)`,
        );
    },
  };
}

/**
 * Escapes characters beyond ASCII. Node reads a file of ASCII faster, and keeps it in half the memory: `writ
 * diff` takes 4 % less time.
 */
const oneByteCharacters: Plugin = {
  name: 'one-byte-characters',
  generateBundle(_options, files) {
    for (const file of Object.values(files))
      if (file.type === 'chunk') file.code = file.code.replace(/[^\0-\x7f]/g, escapedUnit);
  },
};

function escapedUnit(unit: string): string {
  return `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`;
}

/**
 * Replacements for packages of many small files, whose loading costs a command more than its work. Of the
 * parser library, the single file is loaded that it brings as well. The YAML reader is loaded when a text is
 * to be read.
 */
const quickImports: Readonly<Record<string, string>> = {
  chevrotain: `
    import { createRequire } from 'node:module';
    import { dirname, join } from 'node:path';
    const load = createRequire(import.meta.filename);
    export const { createToken, EmbeddedActionsParser, EOF, Lexer } = load(join(dirname(load.resolve('chevrotain')), '../chevrotain.mjs'));`,
  yaml: `
    import { createRequire } from 'node:module';
    let loaded;
    const yaml = () => (loaded ??= createRequire(import.meta.filename)('yaml'));
    ${['isAlias', 'isMap', 'isScalar', 'isSeq', 'parseDocument']
      .map((name) => `export const ${name} = (...args) => yaml().${name}(...args);`)
      .join('\n')}
    export function LineCounter() { return new (yaml().LineCounter)(); }`,
};

function inPlaceOf(packages: Readonly<Record<string, string>>): Plugin {
  const mark = '\0in-place-of:';
  return {
    name: 'in-place-of',
    resolveId: (id) => (Object.hasOwn(packages, id) ? mark + id : null),
    load: (id) => (id.startsWith(mark) ? packages[id.slice(mark.length)]! : null),
  };
}
