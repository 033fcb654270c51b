// The end of the chain in an SQLite database, to which the writer appends. INVARIANT: it is used only inside
// a transaction that holds the write lock, and after `refresh`, so two processes never give out the same
// number.

import type { Database } from 'better-sqlite3';
import { type ChainEntry, chainStart, type Link, linkHash, type RecordKind } from '../../contract/chain.ts';

export interface Chain {
  /**
   * Reads where the chain ends, if another process may have written since the last transaction. Returns
   * whether that may be so; the first call, and the first after `forget`, return true.
   */
  refresh(): boolean;
  /** To be called when everything appended since `refresh` has been rolled back. */
  forget(): void;
  /** The last record of the chain. */
  end(): Link;
  /** Goes back to an earlier end, when everything appended since has been rolled back. */
  rewind(end: Link): void;
  /**
   * Gives the columns, and the number and hash of the record, to `insert`. Returns whether the chain has
   * grown, which it does when `insert` stored a row.
   */
  append<C extends object>(
    kind: RecordKind,
    columns: C,
    insert: (columns: C, link: Link) => { readonly changes: number },
  ): boolean;
}

export function prepareChain(database: Database, hashOf = linkHash): Chain {
  const last = prepareChainEnd(database);
  // The value changes whenever another process has committed.
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

/** Returns a function that reads the last record. */
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
