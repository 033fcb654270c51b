// An authenticated request that is refused before any policy sees it, into its record. The record holds the
// body only as a keyed digest, never its text.

import type { RefusalRecord } from '../store/contract/records.ts';
import type { Store } from '../store/contract/store.ts';
import { createBodyDigest } from './record/vote-scope.ts';

type Refusal = Omit<RefusalRecord, 'bodyDigest'> & {
  /** SHA-256 of the raw body, in hexadecimal; null when the body was not read. */
  readonly bodyDigest: string | null;
};

export type RecordRefusal = (refusal: Refusal) => Promise<void>;

/**
 * Returns a function that records a refusal (400, 401 for a signature, 403) before its reply leaves; it
 * rejects with a StoreError.
 */
export function createRefusalRecorder(store: Store): RecordRefusal {
  const keyedDigest = createBodyDigest(store.masterKey);
  return function recordRefusal(refusal) {
    const bodyDigest = refusal.bodyDigest === null ? null : keyedDigest(refusal.bodyDigest);
    return store.requests.appendRefusal({ ...refusal, bodyDigest });
  };
}
