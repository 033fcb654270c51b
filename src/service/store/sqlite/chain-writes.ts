// Stores checkpoints in rows, and deletes the records before a checkpoint. INVARIANT: records are deleted
// only together with the storing of the checkpoint that stands for them, and only if the chain still has the
// record that the checkpoint names.

import type { Database } from 'better-sqlite3';
import type { Link } from '../contract/chain.ts';
import type { StateAcceptance } from '../contract/state.ts';
import type { SignedCheckpoint } from '../contract/store.ts';
import { recountEvents } from './seal/seal-earlier.ts';
import type { WriteContext } from './write-context.ts';

const tables = ['requests', 'refusals', 'changes', 'request_events'] as const;

interface NewCheckpoint {
  readonly checkpoint: SignedCheckpoint;
}

export function prepareChainWrites(database: Database, { recordChange: record }: WriteContext) {
  const insert = database.prepare<[SignedCheckpoint]>(
    `INSERT INTO checkpoints (sequence, hash, at_ms, purpose, signature)
     VALUES (@sequence, @hash, @atMs, @purpose, @signature) ON CONFLICT DO NOTHING`,
  );
  const lastPruned = database.prepare<[], { sequence: number }>(
    "SELECT sequence FROM checkpoints WHERE purpose = 'pruned' ORDER BY sequence DESC LIMIT 1",
  );
  const forgetEarlier = database.prepare<[number]>('DELETE FROM checkpoints WHERE sequence < ?');
  const find = database.prepare<[Link], unknown>(
    tables
      .map((table) => `SELECT 1 FROM ${table} WHERE sequence = @sequence AND hash = @hash`)
      .join(' UNION ALL '),
  );
  const deletions = tables.map((table) =>
    database.prepare<[number]>(`DELETE FROM ${table} WHERE sequence <= ?`),
  );
  const forgetHeads = database.prepare<[]>(
    'DELETE FROM request_heads WHERE request_id NOT IN (SELECT id FROM requests)',
  );
  const forgetSnapshots = database.prepare('DELETE FROM meter_snapshots');
  return {
    'add-checkpoint'({ checkpoint }: NewCheckpoint): 'added' {
      insert.run(checkpoint);
      return 'added';
    },
    /** The writer makes a new seal after all writes of the batch. What counts events follows from the events. */
    'accept-state'({ acceptance }: { readonly acceptance: StateAcceptance }): 'accepted' {
      const { atMs, differences } = acceptance;
      const before = { differences: differences.map(({ table, row, message }) => ({ table, row, message })) };
      recountEvents(database);
      record({ atMs, what: 'state-accepted', subject: '', before, after: null });
      // They were made of entries that may not be those that are accepted.
      forgetSnapshots.run();
      return 'accepted';
    },
    prune({ checkpoint }: NewCheckpoint): 'pruned' | 'not-there' {
      const { sequence, hash, atMs } = checkpoint;
      if (find.get({ sequence, hash }) === undefined) return 'not-there';
      const before = { firstSequence: (lastPruned.get()?.sequence ?? 0) + 1 };
      const after = { firstSequence: sequence + 1 };
      // The record comes first, so that its number is higher than those of the deleted records.
      record({ atMs, what: 'records-pruned', subject: '', before, after });
      for (const deletion of deletions) deletion.run(sequence);
      forgetHeads.run();
      forgetEarlier.run(sequence);
      insert.run(checkpoint);
      return 'pruned';
    },
  };
}
