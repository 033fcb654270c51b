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
  const parts = files.map(({ source }) => bytesOfText(source));
  let start = 0;
  const entries = files.map(({ path, kind }, at): TextEntry => {
    const entry = { path, kind, start, end: start + parts[at]!.length };
    start = entry.end;
    return entry;
  });
  const bytes = readTogether(parts) ?? copied(parts);
  // What was read before may go once each text is here.
  for (const [at, { source }] of files.entries()) {
    const { start, end } = entries[at]!;
    moveText(source, new Uint8Array(bytes, start, end - start));
  }
  return { bytes, index: JSON.stringify(entries) };
}

/** The piece of memory in which they were read, where it holds them one after the other and nothing else. */
function readTogether(parts: readonly Uint8Array[]): SharedArrayBuffer | null {
  const piece = parts[0]?.buffer;
  if (!(piece instanceof SharedArrayBuffer)) return null;
  let end = 0;
  for (const { buffer, byteOffset, length } of parts) {
    if (buffer !== piece || byteOffset !== end) return null;
    end += length;
  }
  return end === piece.byteLength ? piece : null;
}

function copied(parts: readonly Uint8Array[]): SharedArrayBuffer {
  const bytes = new SharedArrayBuffer(parts.reduce((sum, { length }) => sum + length, 0));
  const view = new Uint8Array(bytes);
  let end = 0;
  for (const part of parts) {
    view.set(part, end);
    end += part.length;
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
