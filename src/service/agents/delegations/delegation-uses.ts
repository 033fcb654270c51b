// Counts the uses of delegations. A use is taken by a write of its own before the request is decided, and given
// back when the request is refused. INVARIANT: no more requests are granted, or wait, than the delegation has
// uses; after a crash in between, a use may be lost but none is gained.

import { type Collection, createCollection } from '../../store/contract/collection.ts';
import type { DocumentStore } from '../../store/contract/documents.ts';
import type { ActingLink } from './delegation.ts';

interface DelegationUses {
  /** The id of the delegation. */
  readonly id: string;
  readonly createdAtMs: number;
  readonly used: number;
  readonly endsAtMs: number;
}

const delegationUsesKind = 'delegation-uses';

function usesIn(documents: DocumentStore): Collection<DelegationUses> {
  return createCollection<DelegationUses>(documents, delegationUsesKind, ({ endsAtMs }) => ({ endsAtMs }));
}

/** How many uses were taken. */
export async function usesTaken(documents: DocumentStore, id: string): Promise<number> {
  return (await usesIn(documents).find(id))?.value.used ?? 0;
}

export interface UseAt {
  readonly nowMs: number;
  /** When the count is no longer needed. */
  readonly endsAtMs: number;
}

/** Takes one use of each link; returns the link that has none left, and then takes none of any. */
export async function takeUses(
  documents: DocumentStore,
  links: readonly ActingLink[],
  at: UseAt,
): Promise<ActingLink | null> {
  const taken: ActingLink[] = [];
  for (const link of links) {
    if (link.uses === null) continue;
    if (!(await change(documents, { link, by: 1, usesMax: link.uses }, at))) {
      await giveBackUses(documents, taken, at);
      return link;
    }
    taken.push(link);
  }
  return null;
}

/** Gives back one use of each link, for a request that was refused. */
export async function giveBackUses(
  documents: DocumentStore,
  links: readonly ActingLink[],
  at: UseAt,
): Promise<void> {
  for (const link of links)
    if (link.uses !== null) await change(documents, { link, by: -1, usesMax: link.uses }, at);
}

interface UseChange {
  readonly link: ActingLink;
  readonly by: 1 | -1;
  readonly usesMax: number;
}

/** Counts up or down; false when the link has no use left. Tries again after each change by another. */
async function change(
  documents: DocumentStore,
  { link: { id }, by, usesMax }: UseChange,
  { nowMs, endsAtMs }: UseAt,
): Promise<boolean> {
  const uses = usesIn(documents);
  for (;;) {
    const before = await uses.find(id);
    const used = (before?.value.used ?? 0) + by;
    if (used > usesMax) return false;
    const next = { id, createdAtMs: before?.value.createdAtMs ?? nowMs, used: Math.max(0, used), endsAtMs };
    const result = await documents.write([uses.put(next, before?.version ?? 0)], null);
    if (result === 'changed') return true;
  }
}
