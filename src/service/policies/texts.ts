// The texts of a set as they were read, policy files and list files, in one piece of shared memory: every thread looks
// into the same bytes, and none is copied from one to the next. INVARIANT: a path is one relative to the policy
// directory, and nothing is found here but what was read as a part of this set.

import { memo } from '../../language/value/memo.ts';
import type { ReadSources } from './read.ts';

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
  const sizes = files.map(({ source }) => sizeOf(source));
  const bytes = new SharedArrayBuffer(sizes.reduce((sum, size) => sum + size, 0));
  const view = Buffer.from(bytes);
  let start = 0;
  const entries = files.map(({ path, kind, source }, at): TextEntry => {
    const entry = { path, kind, start, end: start + sizes[at]! };
    view.write(source.text, start, 'utf8');
    start = entry.end;
    return entry;
  });
  return { bytes, index: JSON.stringify(entries) };
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

const sizes = new WeakMap<object, number>();

/** What was read is never changed. */
function sizeOf(source: { readonly text: string }): number {
  return memo(sizes, source, () => Buffer.byteLength(source.text));
}
