// Reads the texts of a policy set from a directory and everything under it, from one file, or from a bundle.

import { open, readFile, stat } from 'node:fs/promises';
import type { SourceText } from '../../../language/diagnostic/span.ts';
import { BundleError, bundleMagic, type OpenedBundle, readBundle } from '../compiled/bundle.ts';
import { sourceDiagnostic } from '../directory-listing.ts';
import { contentHashOf, type ReadSources, readPaths, readPolicies } from '../read-policies.ts';

/** Never rejects for a file that cannot be read: that is a diagnostic. */
export async function readSources(path: string): Promise<ReadSources> {
  const isFile = await stat(path).then(
    (stats) => stats.isFile(),
    () => false,
  );
  if (!isFile) return await readPolicies(path);
  return (await isBundle(path)) ? await readBundled(path) : await readPaths([path]);
}

/**
 * Does not check whose signature the bundle has. For a bundle that must not be used, returns no files and a
 * diagnostic that says why.
 */
export async function readBundled(path: string): Promise<ReadSources> {
  try {
    return sourcesOf(await readBundle(await readFile(path)));
  } catch (error) {
    const why = error instanceof BundleError ? error.message : `it cannot be read (${String(error)})`;
    return {
      ...sourcesOf({ texts: [] }),
      diagnostics: [sourceDiagnostic('file-unreadable', path, `\`${path}\`: ${why}`)],
    };
  }
}

async function isBundle(path: string): Promise<boolean> {
  const file = await open(path).catch(() => null);
  try {
    const start = Buffer.alloc(bundleMagic.length);
    await file?.read(start, 0, start.length, 0);
    return start.equals(bundleMagic);
  } finally {
    await file?.close();
  }
}

/** The texts of a bundle, as if they were read from a directory. */
export function sourcesOf({ texts }: Pick<OpenedBundle, 'texts'>): ReadSources {
  const files = texts
    .filter(({ kind }) => kind === 'policy')
    .map(({ path, text }): SourceText => ({ path, text }));
  const lists = new Map(texts.filter(({ kind }) => kind === 'list').map((one) => [one.path, one]));
  const readListFile: ReadSources['sources']['readListFile'] = (path) =>
    lists.get(path) ?? { code: 'list-file-missing', message: `\`${path}\` is not in the bundle` };
  return {
    root: null,
    sources: { files, readListFile },
    diagnostics: [],
    notRead: [],
    sourceOf: (path) => files.find((one) => one.path === path)?.text ?? null,
    files: [],
    contentHash: (paths) =>
      contentHashOf(files, [], new Map(paths.map((path) => [path, readListFile(path)]))),
  };
}
