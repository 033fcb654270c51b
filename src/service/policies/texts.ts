// Holds the texts of a set as they were read, policy files and list files, in one piece of shared memory:
// every thread reads the same bytes, and none are copied. INVARIANT: every path is relative to the policy
// directory, and only texts that were read as a part of this set are found.

import type { ReadSources } from './read-policies.ts';
import { bytesOfText, moveText } from './text-bytes.ts';

export interface SetTexts {
  /** UTF-8, one text after the other. */
  readonly bytes: SharedArrayBuffer;
  /** JSON of `TextEntry[]`, sorted by path; parsed only on demand. */
  readonly index: string;
}

export interface TextEntry {
  /** Relative to the policy directory, with forward slashes. */
  readonly path: string;
  readonly kind: 'policy' | 'list';
  /** Where the text begins in the bytes. */
  readonly start: number;
  readonly end: number;
}

/** Leaves out list files that could not be read. */
export function packTexts({ sources }: Pick<ReadSources, 'sources'>, listFiles: readonly string[]): SetTexts {
  const lists = listFiles.flatMap((path) => {
    const list = sources.readListFile(path);
    return 'text' in list ? [{ path, kind: 'list', source: list } as const] : [];
  });
  const policies = sources.files.map((source) => ({ path: source.path, kind: 'policy', source }) as const);
  const files = [...policies, ...lists].toSorted((a, b) => (a.path < b.path ? -1 : 1));
  const texts = files.map(({ source }) => source);
  let start = 0;
  const entries = files.map(({ path, kind, source }): TextEntry => {
    const entry = { path, kind, start, end: start + bytesOfText(source).length };
    start = entry.end;
    return entry;
  });
  return {
    bytes: readTogether(texts, entries) ?? putTogether(texts, entries),
    index: JSON.stringify(entries),
  };
}

type Text = Parameters<typeof bytesOfText>[0];

/**
 * The memory into which the texts were read, if each is at its entry's place and nothing else is there; else
 * null.
 */
function readTogether(texts: readonly Text[], entries: readonly TextEntry[]): SharedArrayBuffer | null {
  const parts = texts.map(bytesOfText);
  const piece = parts[0]?.buffer;
  if (!(piece instanceof SharedArrayBuffer) || piece.byteLength !== entries.at(-1)?.end) return null;
  const isThere = parts.every(
    ({ buffer, byteOffset }, at) => buffer === piece && byteOffset === entries[at]!.start,
  );
  return isThere ? piece : null;
}

/**
 * Copies the texts into a new piece, from which they take their bytes from now on: the memory of before can
 * be freed.
 */
function putTogether(texts: readonly Text[], entries: readonly TextEntry[]): SharedArrayBuffer {
  const bytes = new SharedArrayBuffer(entries.at(-1)?.end ?? 0);
  for (const [at, text] of texts.entries()) {
    const { start, end } = entries[at]!;
    const copy = new Uint8Array(bytes, start, end - start);
    copy.set(bytesOfText(text));
    moveText(text, copy);
  }
  return bytes;
}

export function entriesOf({ index }: SetTexts): readonly TextEntry[] {
  // `packTexts` wrote the index, so its form is known.
  return JSON.parse(index) as TextEntry[];
}

/** The text of an entry of the same set, whole or its first `bytesMax` bytes. */
export function textOfFile({ bytes }: SetTexts, { start, end }: TextEntry, bytesMax = end - start): string {
  const last = Math.min(end, start + bytesMax);
  // A character that is cut in two is left out.
  return new TextDecoder('utf-8', { ignoreBOM: true }).decode(
    Uint8Array.prototype.slice.call(new Uint8Array(bytes), start, last),
    { stream: last < end },
  );
}

/** Whether a path may name a file of a policy directory: relative, without hidden names or odd characters. */
export function isFilePath(path: string): boolean {
  return (
    !/[\\\p{Cc}\p{Cf}\p{Cs}]/u.test(path) &&
    path.split('/').every((name) => name !== '' && !name.startsWith('.'))
  );
}
