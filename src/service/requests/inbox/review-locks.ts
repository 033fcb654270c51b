// Review locks show who is viewing which pending request, so that two people do not do the same work.
// INVARIANT: a lock only informs: it decides nothing, blocks nobody, and leaves no record.

import type { DocumentStore } from '../../store/contract/documents.ts';
import { type InboxKind, inboxMarksAt, untilChanged } from './change-marks.ts';

export interface ReviewLock {
  /** The person's id, since a person looks at one request at a time. */
  readonly id: string;
  readonly requestId: string;
  /** The person's name in the record. */
  readonly by: string;
  readonly name: string;
  /** Since when the person looks at this request. */
  readonly createdAtMs: number;
  readonly endsAtMs: number;
}

const kind: InboxKind<ReviewLock> = { kind: 'claim', parentOf: ({ requestId }) => requestId };
/** How long a lock lasts; a person who goes on viewing renews it. */
export const reviewLockMs = 10 * 60_000;
/** The most people whose locks are shown. */
const locksMax = 200;

/** Returns the locks in effect at a moment, newest first. */
export async function reviewLocksAt(
  documents: Pick<DocumentStore, 'list'>,
  nowMs: number,
): Promise<readonly ReviewLock[]> {
  const claims = await inboxMarksAt(documents, kind, { nowMs, countMax: locksMax });
  return claims.toSorted((one, other) => other.createdAtMs - one.createdAtMs);
}

interface LockHolder {
  readonly id: string;
  readonly who: string;
  readonly name: string;
  readonly nowMs: number;
}

/**
 * Locks a request in place of the person's earlier lock. A lock on the same request that is still in effect is
 * extended from now.
 */
export function acquireReviewLock(
  documents: DocumentStore,
  requestId: string,
  person: LockHolder,
): Promise<ReviewLock> {
  const { id, who: by, name, nowMs } = person;
  return untilChanged(documents, kind, async (claims) => {
    const before = await claims.find(id);
    const isSame = before?.value.requestId === requestId && before.value.endsAtMs > nowMs;
    const createdAtMs = isSame ? before.value.createdAtMs : nowMs;
    const claim = { id, requestId, by, name, createdAtMs, endsAtMs: nowMs + reviewLockMs };
    return { write: claims.put(claim, before?.version ?? 0), result: claim };
  });
}

/** Releases the person's lock on the request; changes nothing when there is none. */
export function releaseReviewLock(
  documents: DocumentStore,
  requestId: string,
  personId: string,
): Promise<null> {
  return untilChanged(documents, kind, async (claims) => {
    const before = await claims.find(personId);
    if (before?.value.requestId !== requestId) return { write: null, result: null };
    return { write: claims.remove(before.value, before.version), result: null };
  });
}
