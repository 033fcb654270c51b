// Turns list files into entries: the lines of a text file unchanged, or a YAML array (JSON is a subset of
// YAML). The host reads the files; paths are relative to the policy directory, with forward slashes.

import { isScalar, isSeq, LineCounter, parseDocument } from 'yaml';
import { declarationsOfKind } from '../../syntax/tree/by-kind.ts';
import type { Declaration, PolicyFile, TextLiteral } from '../../syntax/tree/tree.ts';

/** The text that the host found under a path, or why there is none. */
export type ListFile = { readonly text: string } | { readonly code: ListFileCode; readonly message: string };

export type ListFileCode =
  | 'list-file-missing'
  | 'list-file-unreadable'
  | 'list-file-outside'
  | 'list-file-too-large';

/**
 * Returns the paths of the list files that the trees name, each once, sorted. Paths that leave the policy
 * directory are left out.
 */
export function listFilesOf(files: readonly PolicyFile[]): readonly string[] {
  const paths = files
    .flatMap((file) => [
      ...declarationsOfKind(file, 'hours'),
      ...declarationsOfKind(file, 'table'),
      ...declarationsOfKind(file, 'list'),
    ])
    .map((declaration) => {
      const named = fileOf(declaration);
      return named === null ? null : resolveListPath(named.span.file, named.value);
    });
  return [...new Set(paths.filter((path) => path !== null))].sort();
}

function fileOf(declaration: Declaration): TextLiteral | null {
  if (declaration.kind === 'hours') return declaration.file;
  if (declaration.kind === 'table')
    return declaration.source.kind === 'table-file' ? declaration.source.path : null;
  const isFile = declaration.kind === 'list' && declaration.source.kind === 'list-file';
  return isFile ? declaration.source.path : null;
}

/**
 * Resolves a path written in a policy file to one relative to the policy directory; null when the path leaves
 * the directory.
 */
export function resolveListPath(policyFile: string, written: string): string | null {
  if (written === '' || written.startsWith('/') || /[\\\0]|^[A-Za-z]:/.test(written)) return null;
  const segments = policyFile.split('/').slice(0, -1);
  for (const segment of written.split('/')) {
    if (segment === '' || segment === '.') continue;
    if (segment !== '..') segments.push(segment);
    else if (segments.pop() === undefined) return null;
  }
  return segments.length === 0 ? null : segments.join('/');
}

/** An entry of a list file: an unchanged line, or a plain value of an array. `line` counts from 1. */
export interface FileEntry {
  readonly value: string | number | boolean;
  /** The entry as written, so that numbers lose no digit. */
  readonly text: string;
  readonly line: number;
}

/** Returns the entries of a list file, read according to its extension, or why it cannot be read. */
export function readEntries(path: string, text: string): readonly FileEntry[] | { readonly error: string } {
  const plain = text.startsWith('\ufeff') ? text.slice(1) : text;
  if (path.endsWith('.txt')) return readLines(plain);
  if (/\.(ya?ml|json)$/.test(path)) return readArray(plain);
  return { error: 'its name ends neither in `.txt` nor in `.json`, `.yaml` or `.yml`' };
}

function readLines(text: string): readonly FileEntry[] {
  return text
    .split('\n')
    .map((line) => (line.endsWith('\r') ? line.slice(0, -1) : line))
    .map((line, index) => ({ value: line, text: line, line: index + 1 }))
    .filter((entry) => entry.text.trim() !== '' && !entry.text.startsWith('# '));
}

function readArray(text: string): readonly FileEntry[] | { readonly error: string } {
  const lineCounter = new LineCounter();
  const document = parseDocument(text, { lineCounter, schema: 'core' });
  const [fault] = document.errors;
  if (fault !== undefined) return { error: `line ${fault.linePos?.[0].line ?? 1} cannot be read` };
  if (!isSeq(document.contents)) return { error: 'it is not an array' };
  const entries: FileEntry[] = [];
  for (const item of document.contents.items) {
    const line = isScalar(item) && item.range ? lineCounter.linePos(item.range[0]).line : 1;
    if (!isScalar(item) || !isPlain(item.value)) return { error: `line ${line} has no plain value` };
    entries.push({ value: item.value, text: item.source ?? String(item.value), line });
  }
  return entries;
}

function isPlain(value: unknown): value is string | number | boolean {
  return typeof value === 'string' || typeof value === 'number' || typeof value === 'boolean';
}
