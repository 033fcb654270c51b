// Lays texts that are open and not saved yet over the texts of files.

import { readFile } from 'node:fs/promises';
import type { SourceText } from '../../language/diagnostic/span.ts';

/** The texts in the order of their paths. An open text is included only if `isTaken` returns true for it. */
export function withOpen(
  files: readonly SourceText[],
  open: readonly SourceText[],
  isTaken: (one: SourceText) => boolean,
): readonly SourceText[] {
  const texts = new Map(files.map((file) => [file.path, file]));
  for (const one of open) if (isTaken(one)) texts.set(one.path, one);
  return [...texts.values()].toSorted((a, b) => (a.path < b.path ? -1 : 1));
}

/** The text of a file; null when the file cannot be read. */
export async function readTextFile(path: string): Promise<string | null> {
  return await readFile(path, 'utf8').catch(() => null);
}
