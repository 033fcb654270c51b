// Texts of files, with what is open and not saved yet laid over them.

import { readFile } from 'node:fs/promises';
import type { SourceText } from '../../../language/diagnostic/span.ts';

/** In the order of their paths. What is open and stands in no file is there where `isTaken` says so. */
export function withOpen(
  files: readonly SourceText[],
  open: readonly SourceText[],
  isTaken: (one: SourceText) => boolean,
): readonly SourceText[] {
  const texts = new Map(files.map((file) => [file.path, file]));
  for (const one of open) if (isTaken(one)) texts.set(one.path, one);
  return [...texts.values()].toSorted((a, b) => (a.path < b.path ? -1 : 1));
}

/** Null where it cannot be read. */
export async function readTextFile(path: string): Promise<string | null> {
  return await readFile(path, 'utf8').catch(() => null);
}
