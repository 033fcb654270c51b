// What all kinds of write share: the end of the chain, the record of who changed what, the check of what a
// grant rests on, and the entries of meters, which change with their request.

import type { Database } from 'better-sqlite3';
import { recordSeal, type SealKey } from '../contract/seal.ts';
import { prepareChanges, type StoredChange } from './audit-log.ts';
import type { Chain } from './chain/chain.ts';
import { type MeterEntries, prepareMeterEntries } from './meters.ts';
import type { PreconditionCheck } from './precondition-check.ts';
import type { Seal } from './seal/seal.ts';

export interface WriteOptions {
  readonly chain: Chain;
  /** The author of changes of management that name none. */
  readonly actor: string;
  readonly precondition: PreconditionCheck;
  readonly sealKey: SealKey;
  readonly seal: Pick<Seal, 'noteEntry'>;
}

export interface WriteContext {
  readonly chain: Chain;
  readonly precondition: PreconditionCheck;
  readonly meterEntries: MeterEntries;
  readonly sealKey: SealKey;
  /** Returns the seal of a record of a request, from the record's hash. */
  readonly sealOf: (hash: string) => string;
  /** Records a change of management, in the transaction that makes it. */
  readonly recordChange: (change: StoredChange) => void;
}

export function prepareWriteContext(
  database: Database,
  { chain, actor, precondition, sealKey, seal }: WriteOptions,
): WriteContext {
  return {
    chain,
    precondition,
    sealKey,
    sealOf: (hash) => recordSeal(sealKey, hash),
    meterEntries: prepareMeterEntries(database, seal.noteEntry),
    recordChange: prepareChanges(database, chain, actor),
  };
}
