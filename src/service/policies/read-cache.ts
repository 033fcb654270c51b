// Remembers what was read earlier, so that an unchanged file is not read again and stays the same object, by
// which later stages know it. INVARIANT: a file is read again when its mark could stay the same over a
// change, because the file was touched just before it was read.

import type { ListFile } from '../../language/check/messages/list-files.ts';
import type { Diagnostic } from '../../language/diagnostic/diagnostic.ts';
import type { SourceText } from '../../language/diagnostic/span.ts';
import type { FileStamp, FoundFile } from './directory-listing.ts';
import { bytesOfText } from './text-bytes.ts';

export interface ReadCache {
  /** Returns each file as it was read before, or reads it now. Files that are gone are forgotten. */
  files(listed: readonly FoundFile[], readerOf: ReaderOf): Promise<readonly (SourceText | Diagnostic)[]>;
  /** Reads list files for one snapshot, each at most once. */
  lists(at: (path: string) => ListReader): (path: string) => ListFile;
  /** Makes the next reading read everything again; contents that turn out equal keep their identity. */
  distrust(): void;
}

/** Returns a reader for the given files, which are read together. */
type ReaderOf = (files: readonly FoundFile[]) => (file: FoundFile) => Promise<SourceText | Diagnostic>;

interface ListReader {
  readonly place: { readonly mark: string; readonly stamp: FileStamp | null };
  readonly read: () => ListFile;
}

interface CacheEntry<T> {
  readonly mark: string;
  readonly value: T;
}

/**
 * File systems count time in ticks, the coarsest of 2 s. A second change within a tick may leave no trace.
 */
const tickMs = 2_000;

export function createReadCache(): ReadCache {
  let files = new Map<string, CacheEntry<SourceText | Diagnostic>>();
  let lists = new Map<string, CacheEntry<ListFile>>();

  return {
    async files(listed, readerOf) {
      const next: typeof files = new Map();
      const isKnown = (file: FoundFile): boolean => files.get(file.path)?.mark === fullMark(file);
      const read = readerOf(listed.filter((file) => !isKnown(file)));
      for (const file of listed) {
        const cached = files.get(file.path);
        const readAtMs = Date.now();
        const value = isKnown(file) ? cached!.value : same(cached?.value, await read(file));
        next.set(file.path, remembered(value, { mark: fullMark(file), stamp: file.stamp }, readAtMs));
      }
      files = next;
      return listed.map(({ path }) => next.get(path)!.value);
    },
    lists(at) {
      const before = lists;
      const freshLists: typeof lists = new Map();
      lists = freshLists;
      return (path) => {
        const read = freshLists.get(path);
        if (read !== undefined) return read.value;
        const cached = before.get(path);
        const readAtMs = Date.now();
        const { place, read: readAgain } = at(path);
        const value = cached?.mark === place.mark ? cached.value : same(cached?.value, readAgain());
        freshLists.set(path, remembered(value, place, readAtMs));
        return value;
      };
    },
    distrust() {
      files = new Map([...files].map(([path, { value }]) => [path, { mark: never, value }]));
      lists = new Map([...lists].map(([path, { value }]) => [path, { mark: never, value }]));
    },
  };
}

/** A failure may pass without a trace on the file, so a failed file is read again each time. */
function remembered<T extends object>(
  value: T,
  { mark, stamp }: ListReader['place'],
  readAtMs: number,
): CacheEntry<T> {
  const isSure = 'text' in value && stamp !== null && stamp.changedAtMs < readAtMs - tickMs;
  return { mark: isSure ? mark : never, value };
}

function fullMark({ realPath, mark }: FoundFile): string {
  return `${realPath} ${mark}`;
}

/** A mark that no file has. */
const never = '';

/** Returns the earlier value when the two are equal. */
function same<T extends object>(before: T | undefined, read: T): T {
  const isText = (value: object): value is SourceText => 'text' in value;
  if (before === undefined || !isText(before) || !isText(read)) return read;
  return Buffer.compare(bytesOfText(before), bytesOfText(read)) === 0 ? before : read;
}
