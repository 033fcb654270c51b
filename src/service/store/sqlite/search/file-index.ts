// Fills the index beside a database with its requests, after the writer has stored them. The newest requests
// go first, then those from before the index was made, from newer to older. INVARIANT: an index of other
// records is never searched.

import { setImmediate as nextTurn } from 'node:timers/promises';
import Database from 'better-sqlite3';
import { indexedTerms, type SearchedRequest } from '../../contract/search-text.ts';
import type { SearchIndex } from '../../shared/search/search-index.ts';
import { searchReads } from '../../shared/search/search-reads.ts';
import { toFailure } from '../file/errors.ts';
import { createQueryRunner } from '../query-runner.ts';
import { type IndexFile, type IndexMark, indexPathOf, openIndexFile, removeIndexFile } from './index-file.ts';

interface UnindexedRecord extends SearchedRequest {
  readonly sequence: number;
  readonly hash: string;
}

/** Opens the records at `path` and the index beside them. Throws what SQLite reports. */
export function openFileIndex(path: string, busyTimeoutMs: number): SearchIndex {
  const records = new Database(path, { readonly: true, fileMustExist: true, timeout: busyTimeoutMs });
  const reads = prepareRecordReads(records);
  const queries = createQueryRunner(path, records);
  let file = openWhole(path, busyTimeoutMs, reads.hashAt);
  let forgotten = 0;

  /** The mark of a new index: requests that exist already are older, all that follow are newer. */
  function startMark(): IndexMark {
    const last = reads.last();
    return { low: last, high: last, marked: last, hash: reads.hashAt(last) ?? '' };
  }

  /** Runs `work`; if the index is damaged, makes a new one and runs `work` again, once. */
  function withFile<T>(work: (file: IndexFile) => T): T {
    try {
      return work(file);
    } catch (error) {
      if (toFailure(error, path).code !== 'corrupt') throw error;
      file.close();
      removeIndexFile(indexPathOf(path));
      file = openIndexFile(indexPathOf(path), busyTimeoutMs);
      return work(file);
    }
  }

  function takeIn(which: 'newer' | 'older', countMax: number): boolean {
    return withFile((file) => {
      const first = reads.first();
      if (first > forgotten) file.forgetBefore(first);
      forgotten = Math.max(forgotten, first);
      const seen = file.mark();
      const mark = seen ?? startMark();
      const records = which === 'newer' ? reads.newer(mark.high, countMax) : reads.older(mark.low, countMax);
      const isMore = records.length === countMax;
      const next = markAfter(mark, { which, records, isMore });
      if (records.length === 0 && next.low === seen?.low) return false;
      const requests = records.map((one) => ({ sequence: one.sequence, words: indexedTerms(one) }));
      file.put(seen, requests, next);
      return isMore;
    });
  }

  return {
    takeIn: async (which, countMax) => takeIn(which, countMax),
    async unsearched() {
      const mark = withFile((file) => file.mark());
      const [first, last] = [reads.first(), reads.last()];
      if (first === 0) return 0;
      if (mark === null) return last - first + 1;
      return Math.max(0, mark.low - first + 1) + Math.max(0, last - mark.high);
    },
    holding: async (terms, span) => withFile((file) => file.holding(terms, span)),
    async count(terms, giveUpAt) {
      if (terms.length === 0) return { count: reads.count(), isWhole: true };
      let count = 0;
      for (const more of withFile((file) => file.counts(terms))) {
        count += more;
        if (performance.now() > giveUpAt) return { count, isWhole: false };
        // Between two parts, a search that has come meanwhile is answered.
        await nextTurn();
      }
      return { count, isWhole: true };
    },
    ...searchReads(queries),
    async close() {
      file.close();
      records.close();
    },
  };
}

/**
 * Opens the index. Makes a new one if the present one is damaged, or is of other records: of a store that lay
 * here before, or of a later moment of this store.
 */
function openWhole(
  path: string,
  busyTimeoutMs: number,
  hashAt: (sequence: number) => string | null,
): IndexFile {
  const indexPath = indexPathOf(path);
  const open = () => openIndexFile(indexPath, busyTimeoutMs);
  let file: IndexFile | null = null;
  try {
    file = open();
    const mark = file.mark();
    if (mark === null || mark.hash === '' || hashAt(mark.marked) === mark.hash) return file;
  } catch (error) {
    if (toFailure(error, indexPath).code !== 'corrupt') throw error;
  }
  file?.close();
  removeIndexFile(indexPath);
  return open();
}

interface TakenIn {
  readonly which: 'newer' | 'older';
  readonly records: readonly UnindexedRecord[];
  readonly isMore: boolean;
}

function markAfter(mark: IndexMark, { which, records: found, isMore }: TakenIn): IndexMark {
  const [first, last] = [found[0], found.at(-1)];
  // There is nothing below the oldest stored request.
  if (which === 'older') return { ...mark, low: isMore && first !== undefined ? first.sequence - 1 : 0 };
  if (last === undefined) return mark;
  return { ...mark, high: last.sequence, marked: last.sequence, hash: last.hash };
}

function prepareRecordReads(database: Database.Database) {
  const columns =
    'sequence, id, agent_id AS agentId, action_key AS actionKey, outcome, record_json AS recordJson';
  const newer = database.prepare<[number, number], UnindexedRecord>(
    `SELECT ${columns}, hash FROM requests WHERE sequence > ? ORDER BY sequence LIMIT ?`,
  );
  const older = database.prepare<[number, number], UnindexedRecord>(
    `SELECT ${columns}, hash FROM requests WHERE sequence <= ? ORDER BY sequence DESC LIMIT ?`,
  );
  const ends = database.prepare<[], { first: number | null; last: number | null }>(
    'SELECT (SELECT min(sequence) FROM requests) AS first, (SELECT max(sequence) FROM requests) AS last',
  );
  const counted = database.prepare<[], { count: number }>('SELECT count(*) AS count FROM requests');
  const hash = database.prepare<[number], { hash: string }>('SELECT hash FROM requests WHERE sequence = ?');
  return {
    newer: (high: number, countMax: number) => newer.all(high, countMax),
    older: (low: number, countMax: number) => older.all(low, countMax).toReversed(),
    first: (): number => ends.get()?.first ?? 0,
    last: (): number => ends.get()?.last ?? 0,
    hashAt: (sequence: number): string | null => hash.get(sequence)?.hash ?? null,
    count: (): number => counted.get()?.count ?? 0,
  };
}
