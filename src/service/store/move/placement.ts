// Whether the records of a store are to be used where they lie, as two documents of the store itself say: they have moved to
// another place, or are being copied here, or were restored from a backup. INVARIANT: a store that has moved, or that is not
// whole yet, is neither opened nor served, and of one that was restored nothing is known from before but what it holds.

import type { CanonicalValue } from '../contract/canonical-json.ts';
import type { DocumentPut, ManagementChange } from '../contract/documents.ts';
import type { Store } from '../contract/store.ts';
import { StoreError } from '../contract/store-error.ts';

export const placementKind = 'store';
export const movedId = 'moved';
const restoredId = 'restored';

/** `moved`: the records are at `place` now. `arriving`: they are being copied here from `place`. */
export interface Moved {
  readonly state: 'moved' | 'arriving';
  readonly place: string;
}

interface Restored {
  readonly atMs: number;
  /** Whether people say that meters lack nothing. */
  readonly areMetersKnown: boolean;
}

/** The store, where it is to be used here, with what a restore makes unknown. Rejects with a StoreError, and closes it then. */
export async function usedInPlace(store: Store): Promise<Store> {
  let restored: Restored | null = null;
  const look = async () => {
    refuseMoved(await movedOf(store));
    restored = await read<Restored>(store, restoredId);
  };
  try {
    await look();
  } catch (error) {
    await store.close();
    throw error;
  }
  const metersFromMs = () => (restored === null || restored.areMetersKnown ? null : restored.atMs);
  return {
    ...store,
    async serve() {
      await store.serve();
      // It may have moved since it was opened, and no more from now on.
      await look();
    },
    nonces: { ...store.nonces, validFromMs: async () => restored?.atMs ?? null },
    meters: {
      ...store.meters,
      note: async (...args) =>
        (await store.meters.note(...args)).map((sinceMs) => later(sinceMs, metersFromMs())),
      wholeSinceMs: async () => latest(await store.meters.wholeSinceMs(), metersFromMs()),
    },
  };
}

/** Null stays: requests may lack in any case. */
function later(sinceMs: number | null, fromMs: number | null): number | null {
  return sinceMs === null ? null : latest(sinceMs, fromMs);
}

function latest(a: number | null, b: number | null): number | null {
  return a === null ? b : b === null ? a : Math.max(a, b);
}

/** Null where the records are here. */
export function movedOf(store: Pick<Store, 'documents'>): Promise<Moved | null> {
  return read<Moved>(store, movedId);
}

async function read<T>({ documents }: Pick<Store, 'documents'>, id: string): Promise<T | null> {
  const found = await documents.find(placementKind, id);
  // Written by this file and by the copy alone.
  return found === null ? null : (JSON.parse(found.json) as T);
}

function refuseMoved(moved: Moved | null): void {
  if (moved === null) return;
  throw new StoreError(
    'moved',
    moved.state === 'moved'
      ? `the records have moved to ${moved.place}: name that with --store, WRIT_STORE or \`store\` in writ.yaml; to go on here all the same, run \`writ store restored\``
      : `the records of ${moved.place} are being copied here and are not whole yet: run \`writ store copy\` to its end`,
  );
}

interface Noted extends Pick<ManagementChange, 'atMs' | 'who'> {
  readonly from: string;
}

/** Notes that the records are elsewhere from now on; the record of that is the last one here. */
export async function noteMoved(store: Store, place: string, { atMs, who, from }: Noted): Promise<void> {
  const put = await putOf(store, movedId, { value: { state: 'moved', place }, atMs });
  const change = { atMs, who, what: 'store-moved', subject: '' };
  const result = await store.documents.write([put], {
    ...change,
    before: { place: from },
    after: { place },
  });
  if (result !== 'changed') throw new StoreError('locked', 'another command moves this store');
}

/** Notes that the records are those of an earlier moment, and are used here from now on. */
export async function noteRestored(
  store: Store,
  { atMs, who, areMetersKnown, lastAtMs }: Restored & { who: string; lastAtMs: number | null },
): Promise<void> {
  const put = await putOf(store, restoredId, { value: { atMs, areMetersKnown }, atMs });
  const moved = await store.documents.find(placementKind, movedId);
  const removal = { isRemoval: true, kind: placementKind, id: movedId, seen: moved?.version ?? 0 } as const;
  const result = await store.documents.write(moved === null ? [put] : [put, removal], {
    atMs,
    who,
    what: 'store-restored',
    subject: '',
    before: { newest_record_ms: lastAtMs },
    after: { meters_known: areMetersKnown },
  });
  if (result !== 'changed') throw new StoreError('locked', 'another command restores or moves this store');
}

async function putOf(
  { documents }: Store,
  id: string,
  { value, atMs }: { readonly value: CanonicalValue; readonly atMs: number },
): Promise<DocumentPut> {
  const present = await documents.find(placementKind, id);
  return {
    kind: placementKind,
    id,
    seen: present?.version ?? 0,
    name: null,
    parent: null,
    createdAtMs: present?.createdAtMs ?? atMs,
    endsAtMs: null,
    json: JSON.stringify(value),
  };
}
