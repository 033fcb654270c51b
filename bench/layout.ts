// Lets the benchmarks of this tree run on another revision, in which files may have other places. Only imports
// change, and only in the copy of the benchmarks inside the other revision's checkout.

import { globSync, readFileSync, writeFileSync } from 'node:fs';
import { basename, dirname, join, relative } from 'node:path';

const importStatement = /^import (?<type>type )?\{(?<names>[^}]*)\} from '(?<target>\.[^']+)';$/gm;
const exportedValue = /^export (?:async )?(?:function\*?|const|let|class) (?<name>\w+)/gm;

/**
 * Rewrites the imports of the copied files in `folders` of the checkout at `root`: a value that the file at the
 * given path does not export is imported from the file that exports it. What no file exports is left alone, so
 * loading the benchmark that needs it fails with its name.
 */
export function fitImports(root: string, folders: readonly string[]): void {
  const exporters = exportersIn(root);
  for (const file of globSync(
    folders.map((folder) => `${folder}/**/*.ts`),
    { cwd: root },
  )) {
    const path = join(root, file);
    const fit = (statement: string, _type: string, names: string, target: string): string => {
      if (statement.startsWith('import type')) return statement;
      const wanted = join(dirname(file), target);
      return valuesOf(names)
        .map((value) => {
          const from = exporterOf(value, wanted, exporters);
          return `import { ${value} } from '${specifier(dirname(file), from)}';`;
        })
        .join('\n');
    };
    writeFileSync(path, readFileSync(path, 'utf8').replace(importStatement, fit));
  }
}

/** Returns the files under `src` and `bench` that export each value, by its name. */
function exportersIn(root: string): ReadonlyMap<string, readonly string[]> {
  const exporters = new Map<string, string[]>();
  for (const file of globSync('{src,bench}/**/*.ts', { cwd: root, exclude: ['**/node_modules'] })) {
    for (const { groups } of readFileSync(join(root, file), 'utf8').matchAll(exportedValue)) {
      const files = exporters.get(groups!.name!);
      if (files === undefined) exporters.set(groups!.name!, [file]);
      else files.push(file);
    }
  }
  return exporters;
}

/** Returns the file to import a value from: the wanted one, one of the same name, or the only one. */
function exporterOf(
  value: string,
  wanted: string,
  exporters: ReadonlyMap<string, readonly string[]>,
): string {
  const name = value.split(' as ')[0]!;
  const files = exporters.get(name) ?? [];
  if (files.includes(wanted)) return wanted;
  const sameName = files.filter((file) => basename(file) === basename(wanted));
  const candidates = sameName.length > 0 ? sameName : files;
  return candidates.length === 1 ? candidates[0]! : wanted;
}

function valuesOf(names: string): readonly string[] {
  return names
    .split(',')
    .map((name) => name.trim())
    .filter((name) => name !== '' && !name.startsWith('type '));
}

function specifier(from: string, file: string): string {
  const path = relative(from, file);
  return path.startsWith('.') ? path : `./${path}`;
}
