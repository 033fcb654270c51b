// Gives the records of a database from before the chain their hashes, in the order of their numbers: a step of the
// migration, inside its transaction.

import type { Database } from 'better-sqlite3';
import { chainStart, linkHash, type RecordKind } from './chain.ts';
import { prepareChainReads } from './sqlite-chain-reads.ts';

const recordsAtOnce = 100;

export function chainEarlierRecords(database: Database): void {
  const { stretch } = prepareChainReads(database);
  const update = {
    request: database.prepare<[string, number]>('UPDATE requests SET hash = ? WHERE sequence = ?'),
    refusal: database.prepare<[string, number]>('UPDATE refusals SET hash = ? WHERE sequence = ?'),
    change: database.prepare<[string, number]>('UPDATE changes SET hash = ? WHERE sequence = ?'),
  } as const satisfies Record<RecordKind, unknown>;
  let end = chainStart;
  for (;;) {
    const { records } = stretch(end.sequence, recordsAtOnce);
    if (records.length === 0) return;
    for (const { entry } of records) {
      end = { sequence: entry.sequence, hash: linkHash(end.hash, entry) };
      update[entry.kind].run(end.hash, end.sequence);
    }
  }
}
