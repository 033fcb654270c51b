// Reads the file that a declaration names, as text or as entries in the order and spelling of the file.

import type { TextLiteral } from '../../syntax/tree/tree.ts';
import type { Environment } from '../incremental/environment.ts';
import { listFileOf } from '../incremental/memoized.ts';
import { type FileEntry, readEntries, resolveListPath } from '../messages/list-files.ts';
import { listFileFault, listFileMalformed, listFileOutside } from '../messages/value-errors.ts';

/** Returns the entries of the file; null, with a diagnostic, when the entries cannot be read. */
export function entriesOfFile(named: TextLiteral, env: Environment): readonly FileEntry[] | null {
  const text = textOfNamedFile(named, env);
  if (text === null) return null;
  const entries = readEntries(named.value, text);
  if (!('error' in entries)) return entries;
  env.report(listFileMalformed(named, entries.error));
  return null;
}

/**
 * Returns the text of the file; null, with a diagnostic, when the file lies outside the policy directory or
 * cannot be read.
 */
export function textOfNamedFile(named: TextLiteral, env: Environment): string | null {
  const path = resolveListPath(named.span.file, named.value);
  if (path === null) {
    env.report(listFileOutside(named));
    return null;
  }
  env.query('listFile', path);
  const file = listFileOf(path, env);
  if ('code' in file) {
    env.report(listFileFault(named, file));
    return null;
  }
  return file.text;
}
