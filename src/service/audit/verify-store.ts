// Checks everything that is stored: the chain of records, and all other rows against the seal. INVARIANT: the
// seal is compared after the walk over the chain, so it covers every record that was walked.

import type { StateDifference } from '../store/contract/state.ts';
import type { Store } from '../store/contract/store.ts';
import type { Verification } from './verify.ts';
import { type VerifyThreadsOptions, verifyInThreads } from './verify-in-threads.ts';

export interface StoreVerification {
  readonly chain: Verification;
  /** Other rows that are not as the service left them; empty when all are. */
  readonly differences: readonly StateDifference[];
}

export interface VerifyStoreOptions extends VerifyThreadsOptions {
  /** Called with the number of rows beside the records that have been read. */
  readonly onRows?: (rowCount: number) => void;
}

/** Verifies the chain and then the seal. Rejects with a StoreError. */
export async function verifyStore(
  store: Store,
  options: VerifyStoreOptions = {},
): Promise<StoreVerification> {
  const chain = await verifyInThreads(store, options);
  const differences = await store.state.differences({ isQuick: false, onProgress: options.onRows });
  return { chain, differences };
}

export function isWhole({ chain, differences }: StoreVerification): boolean {
  return chain.kind === 'whole' && differences.length === 0;
}
