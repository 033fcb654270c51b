// Gives hashes to the records of a database from before the chain, in the order of their numbers. A step of
// the migration, which runs inside its transaction and on the tables of that schema.

import type { Database } from 'better-sqlite3';
import { type ChainEntry, chainStart, linkHash } from '../contract/chain.ts';

const recordsAtOnce = 100;

/** The kinds of record in that schema: changes of management and request events did not exist yet. */
const kinds = [
  ['request', 'requests'],
  ['refusal', 'refusals'],
] as const;

interface EarlierRow {
  readonly sequence: number;
  readonly hash: string;
}

export function chainEarlierRecords(database: Database): void {
  const tables = kinds.map(([kind, table]) => {
    const select = database.prepare<[number, number], EarlierRow>(
      `SELECT * FROM ${table} WHERE sequence > ? AND sequence <= ?`,
    );
    const update = database.prepare<[string, number]>(`UPDATE ${table} SET hash = ? WHERE sequence = ?`);
    return { kind, select, update };
  });
  let end = chainStart;
  for (;;) {
    const rows = tables
      .flatMap(({ kind, select, update }) =>
        select.all(end.sequence, end.sequence + recordsAtOnce).map(({ hash: _, ...columns }) => ({
          // Columns hold texts, numbers and nulls.
          entry: { ...columns, kind } as ChainEntry,
          update,
        })),
      )
      .sort((a, b) => a.entry.sequence - b.entry.sequence);
    if (rows.length === 0) return;
    for (const { entry, update } of rows) {
      end = { sequence: entry.sequence, hash: linkHash(end.hash, entry) };
      update.run(end.hash, end.sequence);
    }
  }
}
