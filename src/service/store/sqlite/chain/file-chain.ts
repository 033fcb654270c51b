// The chain of a store in a file, for a thread that only reads it.

import Database from 'better-sqlite3';
import { chainStart, type Link } from '../../contract/chain.ts';
import type { ChainSegment } from '../../contract/store.ts';
import { withStoreErrors } from '../file/errors.ts';
import { prepareChainReads } from './chain-reads.ts';

export interface FileChain {
  segment(afterSequence: number, countMax: number): ChainSegment;
  /** The record with this number, or the place where the chain begins; null when there is neither. */
  linkAt(sequence: number): Link | null;
}

const busyTimeoutMs = 5_000;

/** Throws a StoreError. */
export function openFileChain(path: string): FileChain {
  return withStoreErrors(path, () => {
    const database = new Database(path, { readonly: true, fileMustExist: true, timeout: busyTimeoutMs });
    const { segment } = prepareChainReads(database);
    return {
      segment,
      linkAt(sequence) {
        if (sequence === 0) return chainStart;
        const { pruning, records } = segment(sequence - 1, 1);
        if (pruning?.sequence === sequence) return { sequence, hash: pruning.hash };
        const [record] = records;
        return record?.entry.sequence === sequence ? { sequence, hash: record.hash } : null;
      },
    };
  });
}
