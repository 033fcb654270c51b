// What all kinds of write share: the end of the chain, the record of who changed what, the check of what a
// grant rests on, and the entries of meters, which change with their request.

import type { Database } from 'better-sqlite3';
import type { Chain } from './chain/chain.ts';
import { prepareChanges, type StoredChange } from './changes.ts';
import type { BasisCheck } from './grant-basis.ts';
import { type MeterEntries, prepareMeterEntries } from './meters.ts';

export interface WriteOptions {
  readonly chain: Chain;
  /** The author of changes of management that name none. */
  readonly actor: string;
  readonly basis: BasisCheck;
}

export interface WriteContext {
  readonly chain: Chain;
  readonly basis: BasisCheck;
  readonly meterEntries: MeterEntries;
  /** Records a change of management, in the transaction that makes it. */
  readonly recordChange: (change: StoredChange) => void;
}

export function prepareWriteContext(database: Database, { chain, actor, basis }: WriteOptions): WriteContext {
  return {
    chain,
    basis,
    meterEntries: prepareMeterEntries(database),
    recordChange: prepareChanges(database, chain, actor),
  };
}
