// Changes of a list: without one of its entries, or without one of the lists that it joins. For a long list,
// a few evenly spread entries are enough.

import { posix } from 'node:path';
import type { Span } from '../../language/diagnostic/span.ts';
import type { ListDeclaration, TableDeclaration, TextLiteral } from '../../language/syntax/tree/tree.ts';
import type { PolicySources } from '../../pipeline.ts';
import { neighbours } from './constant.ts';
import { entryRemoval, excerpt, type PolicyEdit, replacement } from './edit.ts';

/** The most entries of one list that are left out, each in a mutant of its own. */
const sampledEntriesMax = 5;

/**
 * `text` is the file that contains the declaration; a change may also be in the list file that the
 * declaration names.
 */
export function listChanges(
  { source }: ListDeclaration,
  text: string,
  readListFile: PolicySources['readListFile'],
): readonly PolicyEdit[] {
  switch (source.kind) {
    case 'entries':
      return sample(source.entries).map((index) => ({
        edits: [entryRemoval(text, source.entries, index)],
        change: `dropped \`${excerpt(text, source.entries[index]!.span)}\``,
      }));
    case 'join':
      return sample(source.lists).map((index) => {
        const taken = source.lists[index]!.span;
        const next = source.lists[index + 1];
        const before = source.lists[index - 1];
        const span =
          next === undefined
            ? { ...taken, start: before?.span.end ?? taken.start }
            : { ...taken, end: next.span.start };
        return { edits: [{ span, text: '' }], change: `dropped \`${excerpt(text, taken)}\`` };
      });
    case 'list-file':
      return fileChanges(source.path, readListFile);
  }
}

/** Changes of a table: a value one step away, or, for a table file, a removed line. */
export function tableChanges(
  { source }: TableDeclaration,
  text: string,
  readListFile: PolicySources['readListFile'],
): readonly PolicyEdit[] {
  if (source.kind === 'table-file') return fileChanges(source.path, readListFile);
  if (source.kind === 'pushed') return [];
  return sample(source.rows).flatMap((index) => {
    const { value } = source.rows[index]!;
    return neighbours(value).map((put) => replacement(text, value.span, put));
  });
}

/**
 * Indices of sampled entries; none for a list of one entry, which would become empty, another kind of
 * mistake.
 */
function sample(entries: readonly unknown[]): readonly number[] {
  const { length } = entries;
  if (length < 2) return [];
  const count = Math.min(length, sampledEntriesMax);
  return Array.from({ length: count }, (_, at) => Math.round((at * (length - 1)) / Math.max(1, count - 1)));
}

/** Relative to the policy directory, like the path of the file that names the list. */
function listPath({ span, value }: TextLiteral): string {
  return posix.join(posix.dirname(span.file), value);
}

export function fileChanges(
  named: TextLiteral,
  readListFile: PolicySources['readListFile'],
): readonly PolicyEdit[] {
  const path = listPath(named);
  // An entry of YAML or JSON can be more than one line.
  if (/\.(?:ya?ml|json)$/.test(path)) return [];
  const file = readListFile(path);
  if (!('text' in file)) return [];
  const entries = entryLines(path, file.text);
  return sample(entries).map((index) => {
    const span = entries[index]!;
    return { edits: [{ span, text: '' }], change: `dropped \`${excerpt(file.text, span).trim()}\`` };
  });
}

/** The lines that are entries, with their line breaks. */
function entryLines(file: string, text: string): readonly Span[] {
  const spans: Span[] = [];
  for (const { index, 0: line } of text.matchAll(/[^\n]*\n|[^\n]+$/g)) {
    if (line.trim() !== '' && !line.startsWith('# '))
      spans.push({ file, start: index, end: index + line.length });
  }
  return spans;
}
