// Whether the records of a store may be used where they are. Two documents of the store note when its records
// have moved elsewhere, are being copied to it, or were restored from a backup. INVARIANT: a store that has
// moved, or that is not whole yet, is neither opened nor served, and a restored store knows nothing of the
// time before except what it holds.

import type { CanonicalValue } from '../contract/canonical-json.ts';
import type { DocumentPut, ManagementChange } from '../contract/documents.ts';
import type { Store } from '../contract/store.ts';
import { StoreError } from '../contract/store-error.ts';

export const placementKind = 'store';
export const movedId = 'moved';
const restoredId = 'restored';
const backupId = 'backup';

/** `moved`: the records are now at `place`. `arriving`: they are being copied to this store from `place`. */
export interface MoveState {
  readonly state: 'moved' | 'arriving';
  readonly place: string;
}

interface RestorePoint {
  readonly atMs: number;
  /** Whether people have declared that meters lack nothing. */
  readonly areMetersKnown: boolean;
}

/**
 * Returns the store with the limits that a restore sets. Rejects with a StoreError when the store must not be
 * used here, and closes it then.
 */
export async function withPlacementChecked(store: Store): Promise<Store> {
  let restored: RestorePoint | null = null;
  const refresh = async () => {
    refuseMoved(await movedOf(store));
    restored = await read<RestorePoint>(store, restoredId);
  };
  try {
    await refresh();
  } catch (error) {
    await store.close();
    throw error;
  }
  const metersFromMs = () => (restored === null || restored.areMetersKnown ? null : restored.atMs);
  return {
    ...store,
    async serve() {
      await store.serve();
      // The store may have moved since it was opened; once it is served it cannot move any more.
      await refresh();
    },
    nonces: { ...store.nonces, validFromMs: async () => restored?.atMs ?? null },
    meters: {
      ...store.meters,
      note: async (...args) =>
        (await store.meters.note(...args)).map((sinceMs) => later(sinceMs, metersFromMs())),
      completeSinceMs: async () => latest(await store.meters.completeSinceMs(), metersFromMs()),
    },
  };
}

/** Null stays null: then requests may be missing in any case. */
function later(sinceMs: number | null, fromMs: number | null): number | null {
  return sinceMs === null ? null : latest(sinceMs, fromMs);
}

function latest(a: number | null, b: number | null): number | null {
  return a === null ? b : b === null ? a : Math.max(a, b);
}

/** Returns where the records have moved; null when the store still has them. */
export function movedOf(store: Pick<Store, 'documents'>): Promise<MoveState | null> {
  return read<MoveState>(store, movedId);
}

async function read<T>({ documents }: Pick<Store, 'documents'>, id: string): Promise<T | null> {
  const row = await documents.find(placementKind, id);
  // Written only by this file and by the copy.
  return row === null ? null : (JSON.parse(row.json) as T);
}

function refuseMoved(moved: MoveState | null): void {
  if (moved === null) return;
  throw new StoreError(
    'moved',
    moved.state === 'moved'
      ? `the records have moved to ${moved.place}: name that with --store, WRIT_STORE or \`store\` in writ.yaml; to go on here all the same, run \`writ restore --in-place\``
      : `the records of ${moved.place} are being copied here and are incomplete: run \`writ store copy\` until it is done`,
  );
}

interface PlacementNote extends Pick<ManagementChange, 'atMs' | 'who'> {
  readonly from: string;
}

/** Notes that the records are elsewhere from now on; the record of this is the last one in the store. */
export async function noteMoved(
  store: Store,
  place: string,
  { atMs, who, from }: PlacementNote,
): Promise<void> {
  const put = await putOf(store, movedId, { value: { state: 'moved', place }, atMs });
  const change = { atMs, who, what: 'store-moved', subject: '' };
  const result = await store.documents.write([put], {
    ...change,
    before: { place: from },
    after: { place },
  });
  if (result !== 'changed') throw new StoreError('locked', 'another command moves this store');
}

/** Notes that a backup of the store was made, which leaves no record. */
export async function noteBackup(store: Pick<Store, 'documents'>, atMs: number): Promise<void> {
  await store.documents.write([await putOf(store, backupId, { value: { atMs }, atMs })], null);
}

/** When `noteBackup` was last called; null when never. */
export async function backupAtMs(store: Pick<Store, 'documents'>): Promise<number | null> {
  return (await read<{ readonly atMs: number }>(store, backupId))?.atMs ?? null;
}

/** Notes that the store has the records of an earlier moment and is used from now on. */
export async function noteRestored(
  store: Store,
  { atMs, who, areMetersKnown, lastAtMs }: RestorePoint & { who: string; lastAtMs: number | null },
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
  { documents }: Pick<Store, 'documents'>,
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
