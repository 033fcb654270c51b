// Checks everything that is stored: the chain of records, the hash tree of the transparency log against them, and
// all other rows against the seal. INVARIANT: the
// seal is compared after the walk over the chain, so it covers every record that was walked.

import type { StateDifference } from '../store/contract/state.ts';
import type { Store } from '../store/contract/store.ts';
import type { Verification } from './verify.ts';
import { type VerifyThreadsOptions, verifyInThreads } from './verify-in-threads.ts';
import { type TreeVerification, type VerifyTreeOptions, verifyTree } from './verify-tree.ts';

export interface StoreVerification {
  readonly chain: Verification;
  readonly tree: TreeVerification;
  /** Other rows that are not as the service left them; empty when all are. */
  readonly differences: readonly StateDifference[];
}

export interface VerifyStoreOptions extends VerifyThreadsOptions, VerifyTreeOptions {
  /** Called with the number of rows beside the records that have been read. */
  readonly onRows?: (rowCount: number) => void;
}

/** Verifies the chain, the tree and then the seal. Rejects with a StoreError. */
export async function verifyStore(
  store: Store,
  options: VerifyStoreOptions = {},
): Promise<StoreVerification> {
  const chain = await verifyInThreads(store, options);
  const tree = await verifyTree(store, options);
  const differences = await store.state.differences({ isQuick: false, onProgress: options.onRows });
  return { chain, tree, differences };
}

export function isWhole({ chain, tree, differences }: StoreVerification): boolean {
  return chain.kind === 'whole' && tree.kind === 'whole' && differences.length === 0;
}
