// What the built dashboard weighs: its files from the build's manifest, what each needs before it runs, and what it loads only
// when it is asked for. Sizes are those that travel: gzip, and the brotli files that the service sends.

import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { gzipSync } from 'node:zlib';

export const distFolder = join(import.meta.dirname, '../../src/dashboard/dist');

/** Of JavaScript that a page needs, before anything is asked of it; compressed with gzip. */
export const firstLoadBytesMax = 150 * 1024;

export interface Chunk {
  /** Under dist/, `assets/main-....js` for instance. */
  readonly file: string;
  /** The module that the chunk is of, as its source or its name says; the start is `index.html`. */
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

/** Keys of the pages' own modules. */
export function pageKeys(manifest: Manifest): readonly string[] {
  return Object.keys(manifest).filter(
    (key) => manifest['index.html']?.dynamicImports?.includes(key) && key.startsWith('pages/'),
  );
}

/** All files that must be there before the modules run: the scripts and styles that they import without asking. */
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
