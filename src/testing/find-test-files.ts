// Finds test files by paths: a file is taken as it is, a directory gives every `*.test.yaml` under it.

import { stat } from 'node:fs/promises';
import { join } from 'node:path';
import { listDirectory } from '../service/policies/directory-listing.ts';

export const testEnding = '.test.yaml';

/**
 * Sorted paths, each once. A path that does not exist is returned unchanged, so that reading it reports why.
 */
export async function findTests(paths: readonly string[]): Promise<readonly string[]> {
  const pathLists = await Promise.all(paths.map(findUnder));
  return [...new Set(pathLists.flat())].toSorted();
}

/** The directories among the paths that hold no test file; skipping them silently would look like success. */
export async function findUntested(paths: readonly string[]): Promise<readonly string[]> {
  const pathLists = await Promise.all(paths.map(findUnder));
  return paths.filter((_, index) => pathLists[index]!.length === 0);
}

/** The paths that are policy files; people name one when they mean its folder. */
export function findPolicies(paths: readonly string[]): readonly string[] {
  return paths.filter((path) => path.endsWith('.policy'));
}

async function findUnder(path: string): Promise<readonly string[]> {
  const stats = await stat(path).catch(() => null);
  if (!stats?.isDirectory()) return [path];
  const { files } = await listDirectory(path, testEnding);
  return files.map((file) => join(path, file.path));
}
