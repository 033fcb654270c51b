// A writer of records in the thread that decides, whose promises can be left out one by one. The rows of a
// batch are stored in one transaction and are on disk before any row is answered, with or without the chain
// and the seal.

import Database from 'better-sqlite3';
import { chainStart } from '../../src/service/store/contract/chain.ts';
import type { MeterEntryRow } from '../../src/service/store/contract/metering.ts';
import type { RequestRow } from '../../src/service/store/contract/records.ts';
import { sealKeyOf } from '../../src/service/store/contract/seal.ts';
import type { AppendLimits, AppendResult } from '../../src/service/store/contract/store.ts';
import { createLinkHasher } from '../../src/service/store/shared/link-hasher.ts';
import { prepareChain } from '../../src/service/store/sqlite/chain/chain.ts';
import { migrate } from '../../src/service/store/sqlite/migrate.ts';
import { preparePreconditionCheck } from '../../src/service/store/sqlite/precondition-check.ts';
import { prepareSeal } from '../../src/service/store/sqlite/seal/seal.ts';
import { prepareWrites } from '../../src/service/store/sqlite/writes.ts';

export type KeepRow = (row: RequestRow, limits: AppendLimits) => Promise<AppendResult>;

export interface OwnWriterOptions {
  readonly isChained: boolean;
  readonly isSealed: boolean;
  /** The number of rows at which a batch is written. */
  readonly batchOf: number;
}

interface OwnWrite {
  readonly row: RequestRow;
  readonly openMax: number;
  readonly entries: readonly MeterEntryRow[];
}

interface Waiting extends OwnWrite {
  readonly answer: (result: AppendResult) => void;
}

export function createOwnWriter(path: string, { batchOf, ...promises }: OwnWriterOptions): KeepRow {
  const write = createBatchWriter(path, promises);
  let waiting: Waiting[] = [];
  return (row, { openMax }) =>
    new Promise((answer) => {
      waiting.push({ row, openMax, entries: [], answer });
      if (waiting.length < batchOf) return;
      const batch = waiting;
      waiting = [];
      write(batch);
      for (const { answer } of batch) answer('stored');
    });
}

/** Opens a new file with the settings of `writer.ts`. */
export function openNew(path: string): Database.Database {
  const database = new Database(path);
  database.pragma('page_size = 8192');
  database.pragma('journal_mode = WAL');
  database.pragma('synchronous = FULL');
  database.pragma('cache_size = -65536');
  return database;
}

/** Returns a function that stores rows in one transaction. */
export function createBatchWriter(
  path: string,
  { isChained, isSealed }: Omit<OwnWriterOptions, 'batchOf'>,
): (batch: readonly OwnWrite[]) => void {
  const masterKey = new Uint8Array(32);
  const database = openNew(path);
  migrate(database, { masterKey, isSealed: false, isUpgradeAllowed: false });
  const chain = prepareChain(database, isChained ? createLinkHasher() : () => chainStart.hash);
  const seal = isSealed ? prepareSeal(database, sealKeyOf(masterKey)) : null;
  const apply = prepareWrites(database, {
    chain,
    actor: 'bench',
    precondition: preparePreconditionCheck(database),
    sealKey: sealKeyOf(masterKey),
    seal: seal ?? { noteEntry: () => undefined },
  });
  return database.transaction((batch: readonly OwnWrite[]) => {
    const mayDiffer = chain.refresh();
    seal?.begin(chain.end(), mayDiffer);
    for (const { row, openMax, entries } of batch) {
      const result = apply({ kind: 'append-request', row, openMax, precondition: null, entries });
      if (result !== 'stored') throw new Error(`a row is stored, and not ${String(result)}`);
    }
    seal?.finish(chain.end());
  }).immediate;
}
