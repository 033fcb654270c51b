// Claims say who is looking at which request that waits, so that two people do not do the same work. INVARIANT: a claim is for
// people to read: nothing is decided by it, nobody is kept from anything, and no record is made of it.

import { type Collection, createCollection } from '../store/contract/collection.ts';
import type { DocumentResult, DocumentStore } from '../store/contract/documents.ts';

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

const claimKind = 'claim';
/** Somebody who goes on looking takes it again. */
export const claimKeptMs = 10 * 60_000;
/** That many people's claims are shown. */
const claimsMax = 200;
const triesMax = 5;

type Documents = Pick<DocumentStore, 'list'>;

/** Those that count at a moment, the latest first. */
export async function claimsAt(documents: Documents, nowMs: number): Promise<readonly RequestClaim[]> {
  const rows = await documents.list({ kind: claimKind, parent: null, after: null, countMax: claimsMax });
  return rows
    .map(({ json }) => JSON.parse(json) as RequestClaim)
    .filter(({ endsAtMs }) => endsAtMs > nowMs)
    .sort((one, other) => other.createdAtMs - one.createdAtMs);
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
  return untilChanged(documents, async (claims) => {
    const before = await claims.find(id);
    const isSame = before?.value.requestId === requestId && before.value.endsAtMs > nowMs;
    const createdAtMs = isSame ? before.value.createdAtMs : nowMs;
    const claim = { id, requestId, by, name, createdAtMs, endsAtMs: nowMs + claimKeptMs };
    return { write: claims.put(claim, before?.version ?? 0), result: claim };
  });
}

/** Where the person has no claim on the request, nothing changes. */
export function giveClaimBack(documents: DocumentStore, requestId: string, personId: string): Promise<null> {
  return untilChanged(documents, async (claims) => {
    const before = await claims.find(personId);
    if (before?.value.requestId !== requestId) return { write: null, result: null };
    return { write: claims.remove(before.value, before.version), result: null };
  });
}

interface Step<Result> {
  readonly write: Parameters<DocumentStore['write']>[0][number] | null;
  readonly result: Result;
}

/** Again where another window of the person has come between. */
async function untilChanged<Result>(
  documents: DocumentStore,
  next: (claims: Collection<RequestClaim>) => Promise<Step<Result>>,
): Promise<Result> {
  const claims = createCollection<RequestClaim>(documents, claimKind, ({ requestId: parent, endsAtMs }) => ({
    parent,
    endsAtMs,
  }));
  let last: DocumentResult = 'conflict';
  for (let tries = 0; tries < triesMax; tries += 1) {
    const { write, result } = await next(claims);
    last = write === null ? 'changed' : await documents.write([write], null);
    if (last === 'changed') return result;
  }
  throw new Error(`a claim could not be stored: ${last}`);
}
