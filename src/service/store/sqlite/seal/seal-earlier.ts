// Seals the records of a database from before records had seals. A step of the migration, which runs inside
// its transaction. INVARIANT: only a chain that is whole up to the end that the service wrote is sealed, so
// nothing that was changed before becomes genuine.

import type { Database } from 'better-sqlite3';
import { chainStart, type Link, linkHash } from '../../contract/chain.ts';
import { recordSeal, type SealKey } from '../../contract/seal.ts';
import { tampered } from '../../contract/store-error.ts';
import { prepareChainReads } from '../chain/chain-reads.ts';

/** The first version of the schema whose records have seals. */
export const firstSealed = 140;

const recordsAtOnce = 500;

/** Throws StoreError when a record is not as it was written; the caller has compared the end with the seal. */
export function sealEarlierRecords(database: Database, key: SealKey): void {
  const { segment } = prepareChainReads(database);
  const tables = { request: 'requests', event: 'request_events' } as const;
  const updates = Object.fromEntries(
    Object.entries(tables).map(([kind, table]) => [
      kind,
      database.prepare<[string, number]>(`UPDATE ${table} SET seal = ? WHERE sequence = ?`),
    ]),
  );
  const { pruning } = segment(0, 0);
  let end: Link = pruning ?? chainStart;
  for (;;) {
    const { records, lastSequence } = segment(end.sequence, recordsAtOnce);
    for (const { entry, hash } of records) {
      if (entry.sequence !== end.sequence + 1 || linkHash(end.hash, entry) !== hash)
        throw tampered(`record ${end.sequence + 1} in \`${database.name}\` is not as it was written`);
      updates[entry.kind]?.run(recordSeal(key, hash), entry.sequence);
      end = { sequence: entry.sequence, hash };
    }
    if (records.length === 0 && end.sequence < lastSequence)
      throw tampered(`record ${end.sequence + 1} in \`${database.name}\` is missing`);
    if (end.sequence >= lastSequence) break;
  }
  recountEvents(database);
}

/** Counts the events of all requests anew: what is over is swept like any other. */
export function recountEvents(database: Database): void {
  database.exec(
    `DELETE FROM request_heads;
     INSERT OR IGNORE INTO heads_mark VALUES (1, 0);
     INSERT INTO request_heads SELECT request_id, count(*), max(requests.expires_ms, max(request_events.expires_ms))
     FROM request_events JOIN requests ON requests.id = request_id GROUP BY request_id`,
  );
}
