// The entries of a file that a declaration names, as they stand there.

import type { TextLiteral } from '../../syntax/tree/tree.ts';
import type { Environment } from '../incremental/environment.ts';
import { listFileOf } from '../incremental/kept.ts';
import { type FileEntry, readEntries, resolveListPath } from '../messages/list-files.ts';
import { listFileFault, listFileMalformed, listFileOutside } from '../messages/value-errors.ts';

/** Null once it has been reported why the file has none. */
export function entriesOfFile(named: TextLiteral, env: Environment): readonly FileEntry[] | null {
  const text = textOfNamedFile(named, env);
  if (text === null) return null;
  const found = readEntries(named.value, text);
  if (!('error' in found)) return found;
  env.report(listFileMalformed(named, found.error));
  return null;
}

/** Null once it has been reported why there is none. */
export function textOfNamedFile(named: TextLiteral, env: Environment): string | null {
  const path = resolveListPath(named.span.file, named.value);
  if (path === null) {
    env.report(listFileOutside(named));
    return null;
  }
  env.ask('listFile', path);
  const file = listFileOf(path, env);
  if ('code' in file) {
    env.report(listFileFault(named, file));
    return null;
  }
  return file.text;
}
