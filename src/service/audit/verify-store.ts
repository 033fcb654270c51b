// All that is stored into whether it is as the service left it: the chain of records, and what stands beside it against
// the seal. INVARIANT: the seal is held against what is stored after the walk, so it knows every record that was walked.

import type { StateDifference } from '../store/contract/state.ts';
import type { Store } from '../store/contract/store.ts';
import { type Verification, type VerifyOptions, verifyChain } from './verify.ts';

export interface StoreVerification {
  readonly chain: Verification;
  /** What else is not as the service left it; empty where all is. */
  readonly differences: readonly StateDifference[];
}

export interface VerifyStoreOptions extends VerifyOptions {
  /** Hears how many rows beside the records have been read. */
  readonly onRows?: (rowCount: number) => void;
}

/** Rejects with a StoreError. */
export async function verifyStore(
  store: Store,
  options: VerifyStoreOptions = {},
): Promise<StoreVerification> {
  const chain = await verifyChain(store, options);
  const differences = await store.state.differences({ isQuick: false, onProgress: options.onRows });
  return { chain, differences };
}

export function isWhole({ chain, differences }: StoreVerification): boolean {
  return chain.kind === 'whole' && differences.length === 0;
}
