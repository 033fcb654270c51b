// Claims show who is looking at which waiting request, so that two people do not do the same work. INVARIANT:
// a claim is only for people to read: it decides nothing, keeps nobody from anything, and leaves no record.

import type { DocumentStore } from '../../store/contract/documents.ts';
import { type InboxKind, inboxMarksAt, untilChanged } from './until-changed.ts';

export interface RequestClaim {
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

const kind: InboxKind<RequestClaim> = { kind: 'claim', parentOf: ({ requestId }) => requestId };
/** How long a claim lasts; a person who goes on looking renews it. */
export const claimKeptMs = 10 * 60_000;
/** The most people whose claims are shown. */
const claimsMax = 200;

/** Returns the claims that count at a moment, the latest first. */
export async function claimsAt(
  documents: Pick<DocumentStore, 'list'>,
  nowMs: number,
): Promise<readonly RequestClaim[]> {
  const claims = await inboxMarksAt(documents, kind, { nowMs, countMax: claimsMax });
  return claims.toSorted((one, other) => other.createdAtMs - one.createdAtMs);
}

interface Claimant {
  readonly id: string;
  readonly who: string;
  readonly name: string;
  readonly nowMs: number;
}

/**
 * Claims a request in place of the person's earlier claim. A claim on the same request that still counts is
 * prolonged from now.
 */
export function takeClaim(
  documents: DocumentStore,
  requestId: string,
  person: Claimant,
): Promise<RequestClaim> {
  const { id, who: by, name, nowMs } = person;
  return untilChanged(documents, kind, async (claims) => {
    const before = await claims.find(id);
    const isSame = before?.value.requestId === requestId && before.value.endsAtMs > nowMs;
    const createdAtMs = isSame ? before.value.createdAtMs : nowMs;
    const claim = { id, requestId, by, name, createdAtMs, endsAtMs: nowMs + claimKeptMs };
    return { write: claims.put(claim, before?.version ?? 0), result: claim };
  });
}

/** Gives the person's claim on the request back; changes nothing when there is none. */
export function giveClaimBack(documents: DocumentStore, requestId: string, personId: string): Promise<null> {
  return untilChanged(documents, kind, async (claims) => {
    const before = await claims.find(personId);
    if (before?.value.requestId !== requestId) return { write: null, result: null };
    return { write: claims.remove(before.value, before.version), result: null };
  });
}
