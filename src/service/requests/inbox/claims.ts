// Claims say who is looking at which request that waits, so that two people do not do the same work. INVARIANT: a claim is for
// people to read: nothing is decided by it, nobody is kept from anything, and no record is made of it.

import type { DocumentStore } from '../../store/contract/documents.ts';
import { type InboxKind, inboxMarksAt, untilChanged } from './until-changed.ts';

export interface RequestClaim {
  /** The id of the person: a person looks at one request at a time. */
  readonly id: string;
  readonly requestId: string;
  /** The person as the record names them. */
  readonly by: string;
  readonly name: string;
  /** Since when the person looks at this request. */
  readonly createdAtMs: number;
  readonly endsAtMs: number;
}

const kind: InboxKind<RequestClaim> = { kind: 'claim', parentOf: ({ requestId }) => requestId };
/** Somebody who goes on looking takes it again. */
export const claimKeptMs = 10 * 60_000;
/** That many people's claims are shown. */
const claimsMax = 200;

/** The claims that count at a moment, the latest first. */
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

/** In place of the claim that the person has; what they have already goes on from now. */
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

/** Where the person has no claim on the request, nothing changes. */
export function giveClaimBack(documents: DocumentStore, requestId: string, personId: string): Promise<null> {
  return untilChanged(documents, kind, async (claims) => {
    const before = await claims.find(personId);
    if (before?.value.requestId !== requestId) return { write: null, result: null };
    return { write: claims.remove(before.value, before.version), result: null };
  });
}
