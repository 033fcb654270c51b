// The texts of a set as they were read, policy files and list files, in one piece of shared memory: every thread looks
// into the same bytes, and none is copied from one to the next. INVARIANT: a path is one relative to the policy
// directory, and nothing is found here but what was read as a part of this set.

import type { ReadSources } from './read.ts';
import { bytesOfText, moveText } from './text-bytes.ts';

export interface SetTexts {
  /** UTF-8, one text after the other. */
  readonly bytes: SharedArrayBuffer;
  /** JSON of `TextEntry[]`, sorted by path: read only when somebody asks. */
  readonly index: string;
}

export interface TextEntry {
  /** Relative to the policy directory, with forward slashes. */
  readonly path: string;
  readonly kind: 'policy' | 'list';
  /** Where it is in the bytes. */
  readonly start: number;
  readonly end: number;
}

/** What could not be read is left out. */
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

/** The piece of memory into which they were read, where each is at its entry and nothing else is. */
function readTogether(texts: readonly Text[], entries: readonly TextEntry[]): SharedArrayBuffer | null {
  const parts = texts.map(bytesOfText);
  const piece = parts[0]?.buffer;
  if (!(piece instanceof SharedArrayBuffer) || piece.byteLength !== entries.at(-1)?.end) return null;
  const isThere = parts.every(
    ({ buffer, byteOffset }, at) => buffer === piece && byteOffset === entries[at]!.start,
  );
  return isThere ? piece : null;
}

/** A new piece, in which the texts have their bytes from now on: what was read before may go. */
function putTogether(texts: readonly Text[], entries: readonly TextEntry[]): SharedArrayBuffer {
  const bytes = new SharedArrayBuffer(entries.at(-1)?.end ?? 0);
  for (const [at, text] of texts.entries()) {
    const { start, end } = entries[at]!;
    const own = new Uint8Array(bytes, start, end - start);
    own.set(bytesOfText(text));
    moveText(text, own);
  }
  return bytes;
}

export function entriesOf({ index }: SetTexts): readonly TextEntry[] {
  // Written by `packTexts`.
  return JSON.parse(index) as TextEntry[];
}

/** The text of an entry of the same set, whole or its first bytes. */
export function textOfFile({ bytes }: SetTexts, { start, end }: TextEntry, bytesMax = end - start): string {
  const last = Math.min(end, start + bytesMax);
  // A character that is cut in two is left out.
  return new TextDecoder('utf-8', { ignoreBOM: true }).decode(
    Uint8Array.prototype.slice.call(new Uint8Array(bytes), start, last),
    { stream: last < end },
  );
}
