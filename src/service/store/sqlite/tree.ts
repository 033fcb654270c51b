// Lets the hash tree grow in an SQLite database, in the writer's transaction.

import type { Database } from 'better-sqlite3';
import { lastTileOf, sizeWith, type TileRow, type TreeGrowth, tileRow } from '../contract/tree.ts';
import { lastTileText } from '../queries/tree.ts';

export function prepareTreeWrites(database: Database) {
  const last = database.prepare<[], TileRow>(lastTileText);
  const put = database.prepare<[TileRow]>(
    `INSERT INTO tree_tiles (level, position, hashes, runs_json, first_sequence)
     VALUES (@level, @position, @hashes, @runsJson, @firstSequence)
     ON CONFLICT (level, position) DO UPDATE SET hashes = excluded.hashes, runs_json = excluded.runs_json`,
  );
  return {
    'grow-tree'({ growth: { from, tiles } }: { readonly growth: TreeGrowth }): 'grown' | 'conflict' {
      const row = last.get();
      const size = sizeWith(lastTileOf(row));
      if (size !== from) return 'conflict';
      for (const tile of tiles) put.run(tileRow(tile));
      return 'grown';
    },
  };
}
