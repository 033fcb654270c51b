// Reads tiles of the hash tree.

import { lastTileOf, type TileRow, type TreeStore, tileOf } from '../contract/tree.ts';
import { type QueryRunner, query } from './dialect.ts';

const columns = 'level, position, hashes, runs_json AS "runsJson", first_sequence AS "firstSequence"';

/** Where the tree ends, for a writer that compares it with what it has seen. */
export const lastTileText = `SELECT ${columns} FROM tree_tiles WHERE level = 0 ORDER BY position DESC LIMIT 1`;

export function treeReads({
  rows,
  snapshot,
}: Pick<QueryRunner, 'rows' | 'snapshot'>): Pick<TreeStore, 'last' | 'near' | 'tiles' | 'tileCount'> {
  const one = async (text: string, parameters = {}) => (await rows(query<TileRow>(text, parameters)))[0];
  return {
    last: async () => lastTileOf(await one(lastTileText)),
    async near(sequence) {
      const row = await one(
        `SELECT ${columns} FROM tree_tiles WHERE level = 0 AND first_sequence <= @sequence
         ORDER BY first_sequence DESC LIMIT 1`,
        { sequence },
      );
      return row === undefined ? null : tileOf(row);
    },
    tileCount: async () =>
      (await rows(query<{ readonly count: number }>('SELECT count(*) AS count FROM tree_tiles')))[0]?.count ??
      0,
    async tiles(places) {
      const found = await snapshot(
        places.map(({ level, position }) =>
          query<TileRow>(`SELECT ${columns} FROM tree_tiles WHERE level = @level AND position = @position`, {
            level,
            position,
          }),
        ),
      );
      return found.flat().flatMap((row) => tileOf(row) ?? []);
    },
  };
}
