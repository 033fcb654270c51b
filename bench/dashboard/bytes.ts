// Tells what the built dashboard weighs: its files from the build's manifest, what each file needs before it
// runs, and what it loads only on demand. Sizes are those sent over the network: gzip, and the brotli files
// that the service sends.

import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { gzipSync } from 'node:zlib';

export const distFolder = join(import.meta.dirname, '../../src/dashboard/dist');

/** The most bytes of JavaScript, compressed with gzip, that a page may need before a person uses it. */
export const firstLoadBytesMax = 150 * 1024;

export interface Chunk {
  /** The path under `dist/`, for instance `assets/main-....js`. */
  readonly file: string;
  /**
   * The module that the chunk holds: its source path or, without one, its name. The start page is
   * `index.html`.
   */
  readonly source: string;
  readonly isLoadedLate: boolean;
}

interface ManifestEntry {
  readonly file: string;
  readonly name?: string;
  readonly src?: string;
  readonly isDynamicEntry?: boolean;
  readonly imports?: readonly string[];
  readonly dynamicImports?: readonly string[];
  readonly css?: readonly string[];
}

export type Manifest = Readonly<Record<string, ManifestEntry>>;

export function readManifest(): Manifest {
  const path = join(distFolder, 'manifest.json');
  if (!existsSync(path))
    throw new Error('the dashboard has not been built: run `node src/dashboard/build.ts`');
  return JSON.parse(readFileSync(path, 'utf8')) as Manifest;
}

export function chunksOf(manifest: Manifest): readonly Chunk[] {
  return Object.entries(manifest)
    .filter(([, { file }]) => file.endsWith('.js'))
    .map(([key, entry]) => ({
      file: entry.file,
      source: entry.src ?? entry.name ?? key,
      isLoadedLate: entry.isDynamicEntry === true,
    }));
}

/** Returns the manifest keys of the modules of single pages. */
export function pageKeys(manifest: Manifest): readonly string[] {
  return Object.keys(manifest).filter(
    (key) => manifest['index.html']?.dynamicImports?.includes(key) && key.startsWith('pages/'),
  );
}

/**
 * Returns all files that must be loaded before the modules `keys` run: the scripts that they import
 * statically, and their styles.
 */
export function neededFiles(manifest: Manifest, keys: readonly string[]): readonly string[] {
  const seen = new Set<string>();
  const files = new Set<string>();
  const visit = (key: string): void => {
    const entry = manifest[key];
    if (seen.has(key) || entry === undefined) return;
    seen.add(key);
    files.add(entry.file);
    for (const file of entry.css ?? []) files.add(file);
    for (const next of entry.imports ?? []) visit(next);
  };
  for (const key of keys) visit(key);
  return [...files];
}

export interface Weight {
  readonly gzip: number;
  readonly brotli: number;
}

export function weightOf(files: readonly string[]): Weight {
  const weights = files.map(weigh);
  return {
    gzip: weights.reduce((sum, { gzip }) => sum + gzip, 0),
    brotli: weights.reduce((sum, { brotli }) => sum + brotli, 0),
  };
}

const weighed = new Map<string, Weight>();

function weigh(file: string): Weight {
  const known = weighed.get(file) ?? {
    gzip: gzipSync(readFileSync(join(distFolder, file)), { level: 9 }).length,
    brotli: readFileSync(join(distFolder, `${file}.br`)).length,
  };
  weighed.set(file, known);
  return known;
}

export function scriptsAmong(files: readonly string[]): readonly string[] {
  return files.filter((file) => file.endsWith('.js'));
}

export function stylesAmong(files: readonly string[]): readonly string[] {
  return files.filter((file) => file.endsWith('.css'));
}
