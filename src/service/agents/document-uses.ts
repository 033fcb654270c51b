// When the keys of enforcement points and the identities of agents were last used, to the minute. The times are kept
// beside them and not in them: decisions rest on the version of a point or an identity, which a mere use must not
// change.

import { type Collection, createCollection, type ReadDocument } from '../store/contract/collection.ts';
import type { DocumentRemoval, DocumentStore } from '../store/contract/documents.ts';
import { createKeyUses, type KeyUse, type KeyUses } from '../store/shared/key-uses.ts';

interface StoredUse {
  /** The id of the key or identity. */
  readonly id: string;
  readonly createdAtMs: number;
  readonly lastUsedAtMs: number;
}

/** What is used: the kind of the documents of its uses, and what precedes an id in the records. */
export interface UsedKind {
  readonly kind: string;
  readonly prefix: string;
}

function usesIn(documents: DocumentStore, { kind }: Pick<UsedKind, 'kind'>): Collection<StoredUse> {
  return createCollection<StoredUse>(documents, kind, () => ({}));
}

/**
 * Creates the note of uses. A use is written a second later, and lost when another process notes the same use
 * at that moment.
 */
export function createDocumentUses(documents: DocumentStore, used: UsedKind): KeyUses {
  const stored = usesIn(documents, used);
  return createKeyUses((uses) => Promise.all(uses.map(write)));

  async function write({ keyId, atMs }: KeyUse): Promise<void> {
    const id = keyId.slice(used.prefix.length);
    const before = await stored.find(id);
    if (before !== null && before.value.lastUsedAtMs >= atMs) return;
    const use = { id, createdAtMs: before?.value.createdAtMs ?? atMs, lastUsedAtMs: atMs };
    await documents.write([stored.put(use, before?.version ?? 0)], null);
  }
}

/** Returns when a key or identity was last used; null before its first use. */
export async function lastUseOf(
  documents: DocumentStore,
  used: UsedKind,
  id: string,
): Promise<number | null> {
  return (await usesIn(documents, used).find(id))?.value.lastUsedAtMs ?? null;
}

/** Returns the removals of the uses that belong to forgotten keys. */
export async function usesForgotten(
  documents: DocumentStore,
  used: UsedKind,
  ids: readonly string[],
): Promise<readonly DocumentRemoval[]> {
  const stored = usesIn(documents, used);
  const storedUses = await Promise.all(ids.map((id) => stored.find(id)));
  return storedUses
    .filter((use): use is ReadDocument<StoredUse> => use !== null)
    .map(({ value, version }) => stored.remove(value, version));
}
