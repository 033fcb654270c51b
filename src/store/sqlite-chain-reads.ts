// Stretches of the chain out of an SQLite database. INVARIANT: a stretch and the place where the chain begins are read
// in one look, and the rows of a stretch are bounded by its numbers, however many records there are.

import type { Database } from 'better-sqlite3';
import { type ChainEntry, type ChainRecord, chainStart, type Link, type RecordKind } from './chain.ts';
import type { ChainStretch, SignedCheckpoint } from './store.ts';

interface StoredRow {
  readonly sequence: number;
  readonly hash: string;
}

interface CheckpointColumns extends Link {
  readonly at_ms: number;
  readonly purpose: 'end' | 'pruned';
  readonly signature: string;
}

export function prepareChainReads(database: Database) {
  const tables = [
    prepareStretch(database, 'request', 'requests'),
    prepareStretch(database, 'refusal', 'refusals'),
    prepareStretch(database, 'change', 'changes'),
  ];
  const lastSequence = database.prepare<[], { sequence: number | null }>(
    `SELECT max(sequence) AS sequence FROM (SELECT max(sequence) AS sequence FROM requests
     UNION ALL SELECT max(sequence) FROM refusals UNION ALL SELECT max(sequence) FROM changes)`,
  );
  const firstSequence = database.prepare<[], { sequence: number | null }>(
    `SELECT min(sequence) AS sequence FROM (SELECT min(sequence) AS sequence FROM requests
     UNION ALL SELECT min(sequence) FROM refusals UNION ALL SELECT min(sequence) FROM changes)`,
  );
  const allCheckpoints = database.prepare<[], CheckpointColumns>(
    'SELECT * FROM checkpoints ORDER BY sequence, at_ms',
  );
  const pruned = database.prepare<[], CheckpointColumns>(
    "SELECT * FROM checkpoints WHERE purpose = 'pruned' ORDER BY sequence DESC LIMIT 1",
  );

  function stretch(afterSequence: number, countMax: number): ChainStretch {
    const pruning = pruned.get();
    const begin: Link = pruning ?? chainStart;
    const after = Math.max(afterSequence, begin.sequence);
    return {
      pruning: pruning === undefined ? null : checkpointOf(pruning),
      records: tables
        .flatMap((read) => read(after, after + countMax))
        .sort((a, b) => a.entry.sequence - b.entry.sequence),
      firstSequence: firstSequence.get()?.sequence ?? null,
      lastSequence: lastSequence.get()?.sequence ?? begin.sequence,
    };
  }

  return {
    stretch: database.transaction(stretch),
    checkpoints: (): readonly SignedCheckpoint[] => allCheckpoints.all().map(checkpointOf),
  };
}

function prepareStretch(database: Database, kind: RecordKind, table: string) {
  const select = database.prepare<[number, number], StoredRow>(
    `SELECT * FROM ${table} WHERE sequence > ? AND sequence <= ?`,
  );
  return (after: number, upTo: number): readonly ChainRecord[] =>
    select.all(after, upTo).map(({ hash, ...columns }) => ({
      // Columns hold texts, numbers and nulls.
      entry: { ...columns, kind } as ChainEntry,
      hash,
    }));
}

function checkpointOf({
  sequence,
  hash,
  at_ms: atMs,
  purpose,
  signature,
}: CheckpointColumns): SignedCheckpoint {
  return { sequence, hash, atMs, purpose, signature };
}
