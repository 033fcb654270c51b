// The end of the chain in an SQLite database, to which the writer appends. INVARIANT: used only inside a transaction
// that holds the write lock, after `refresh`, so that two processes never give out the same number.

import type { Database } from 'better-sqlite3';
import { type ChainEntry, chainStart, type Link, linkHash, type RecordKind } from '../../contract/chain.ts';

export interface Chain {
  /**
   * Reads where the chain ends, if another process may have written since the last transaction; the first answer and that
   * after `forget` is true, too.
   */
  refresh(): boolean;
  /** What was appended since `refresh` has been rolled back. */
  forget(): void;
  /** The last record. */
  end(): Link;
  /** Goes back to an earlier end: what was appended since has been rolled back. */
  rewind(end: Link): void;
  /** Hands the columns, and the number and hash of the record, to `insert`; the chain has grown if that stored a row. */
  append<C extends object>(
    kind: RecordKind,
    columns: C,
    insert: (columns: C, link: Link) => { readonly changes: number },
  ): boolean;
}

export function prepareChain(database: Database, hashOf = linkHash): Chain {
  const last = prepareChainEnd(database);
  // Another one whenever another process has committed.
  const version = database.prepare<[], number>('PRAGMA data_version').pluck();
  let end = chainStart;
  let endOf: number | undefined;
  return {
    refresh() {
      const present = version.get();
      const mayDiffer = present !== endOf;
      if (mayDiffer) end = last();
      endOf = present;
      return mayDiffer;
    },
    forget() {
      endOf = undefined;
    },
    end: () => end,
    rewind(earlier) {
      end = earlier;
    },
    append(kind, columns, insert) {
      const sequence = end.sequence + 1;
      // Columns hold texts, numbers and nulls.
      const entry = { ...columns, kind, sequence } as ChainEntry;
      const link = { sequence, hash: hashOf(end.hash, entry) };
      if (insert(columns, link).changes === 0) return false;
      end = link;
      return true;
    },
  };
}

/** The function returned reads the last record. */
export function prepareChainEnd(database: Database): () => Link {
  const last = database.prepare<[], Link>(
    `SELECT * FROM (SELECT sequence, hash FROM requests ORDER BY sequence DESC LIMIT 1)
     UNION ALL SELECT * FROM (SELECT sequence, hash FROM refusals ORDER BY sequence DESC LIMIT 1)
     UNION ALL SELECT * FROM (SELECT sequence, hash FROM changes ORDER BY sequence DESC LIMIT 1)
     UNION ALL SELECT * FROM (SELECT sequence, hash FROM request_events ORDER BY sequence DESC LIMIT 1)
     UNION ALL SELECT * FROM (SELECT sequence, hash FROM checkpoints WHERE purpose = 'pruned'
       ORDER BY sequence DESC LIMIT 1)
     ORDER BY sequence DESC LIMIT 1`,
  );
  return () => last.get() ?? chainStart;
}
