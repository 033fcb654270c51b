// When the keys of enforcement points were last used, to the minute. The times are kept beside the keys and
// not in them: decisions rest on a point's version, which a mere use must not change.

import { type Collection, createCollection, type ReadDocument } from '../../store/contract/collection.ts';
import type { DocumentRemoval, DocumentStore } from '../../store/contract/documents.ts';
import { createKeyUses, type KeyUse, type KeyUses } from '../../store/shared/key-uses.ts';
import { pointKeyPrefix } from './point.ts';

interface StoredUse {
  /** The id of the key. */
  readonly id: string;
  readonly createdAtMs: number;
  readonly lastUsedAtMs: number;
}

function usesIn(documents: DocumentStore): Collection<StoredUse> {
  return createCollection<StoredUse>(documents, 'point-key-use', () => ({}));
}

/**
 * Creates the note of uses. A use is written a second later, and lost when another process notes the same use
 * at that moment.
 */
export function createPointUses(documents: DocumentStore): KeyUses {
  const stored = usesIn(documents);
  return createKeyUses((uses) => Promise.all(uses.map(write)));

  async function write({ keyId, atMs }: KeyUse): Promise<void> {
    const id = keyId.slice(pointKeyPrefix.length);
    const before = await stored.find(id);
    if (before !== null && before.value.lastUsedAtMs >= atMs) return;
    const use = { id, createdAtMs: before?.value.createdAtMs ?? atMs, lastUsedAtMs: atMs };
    await documents.write([stored.put(use, before?.version ?? 0)], null);
  }
}

/** Returns when a key was last used; null before its first use. */
export async function lastUseOf(documents: DocumentStore, keyId: string): Promise<number | null> {
  return (await usesIn(documents).find(keyId))?.value.lastUsedAtMs ?? null;
}

/** Returns the removals of the uses that belong to forgotten keys. */
export async function usesForgotten(
  documents: DocumentStore,
  keyIds: readonly string[],
): Promise<readonly DocumentRemoval[]> {
  const stored = usesIn(documents);
  const storedUses = await Promise.all(keyIds.map((id) => stored.find(id)));
  return storedUses
    .filter((use): use is ReadDocument<StoredUse> => use !== null)
    .map(({ value, version }) => stored.remove(value, version));
}
