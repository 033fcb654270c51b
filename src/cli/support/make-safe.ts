// Turns a store with the records of an earlier moment into one that may be served. What was granted, used,
// stopped and revoked after that moment is forgotten. INVARIANT: nothing from before can be used a second time,
// and nothing is granted before an operator has looked.

import { randomUUID } from 'node:crypto';
import { createDirectory } from '../../service/people/directory.ts';
import type { KillSwitch } from '../../service/people/kill-switches.ts';
import { createCollection } from '../../service/store/contract/collection.ts';
import { switchKind } from '../../service/store/contract/grant-precondition.ts';
import type { RequestStatus } from '../../service/store/contract/records.ts';
import { anyRequest, type Store } from '../../service/store/contract/store.ts';
import { StoreError } from '../../service/store/contract/store-error.ts';
import { noteRestored } from '../../service/store/move/placement.ts';
import { many } from '../output/many.ts';

export interface MakeSafeOptions {
  /** The person who states that the store was restored, by the name that the record gets. */
  readonly who: string;
  readonly nowMs: number;
  /**
   * Whether that person also states that nothing was granted since the backup, so that meters go on from it.
   */
  readonly areMetersKnown: boolean;
}

export interface SafeStore {
  /** When the last record was made; null when there are no records. */
  readonly newestMs: number | null;
  /** Requests that waited or were granted, and that the restore has ended. */
  readonly ended: number;
  readonly sessions: number;
  readonly switchId: string;
}

const atOnce = 500;
const open: readonly RequestStatus[] = ['pending', 'approved', 'auto_approved'];

/** Makes a restored store safe to serve. Rejects with a StoreError when a process serves the store. */
export async function makeSafe(store: Store, options: MakeSafeOptions): Promise<SafeStore> {
  await fence(store);
  const newestMs = await store.chain.latestAtMs();
  const atMs = Math.max(options.nowMs, newestMs ?? 0);
  const switchId = await stopAll(store, { ...options, nowMs: atMs, newestMs });
  const sessions = await endSessions(store, atMs);
  let ended = 0;
  for (const status of open) ended += await endAll(store, status, { atMs, who: options.who });
  const { who, areMetersKnown } = options;
  await noteRestored(store, { atMs, who, areMetersKnown, lastAtMs: newestMs });
  // A process that began to serve meanwhile knows nothing of the restore.
  await fence(store);
  return { newestMs, ended, sessions, switchId };
}

async function fence(store: Store): Promise<void> {
  if (store.replicas === null) return await store.serve();
  const { replicas } = await store.replicas.now();
  if (replicas.length > 0)
    throw new StoreError(
      'already-served',
      `${many(replicas.length, 'replica serves', 'replicas serve')} this database: stop all replicas first`,
    );
  await store.replicas.fenceAll();
}

async function stopAll(
  { documents }: Store,
  { who, nowMs, newestMs }: MakeSafeOptions & { readonly newestMs: number | null },
): Promise<string> {
  const switches = createCollection<KillSwitch>(documents, switchKind, () => ({}));
  const newest = newestMs === null ? 'the beginning' : new Date(newestMs).toISOString();
  const reason = `Restored from a backup of ${newest}. Later revocations, kill switches and grants are lost: check agents, keys, people and kill switches.`;
  const made: KillSwitch = {
    id: randomUUID(),
    scope: { kind: 'all' },
    reason,
    createdAtMs: nowMs,
    createdBy: who,
    createdByName: who,
  };
  await documents.write([switches.put(made, 0)], {
    atMs: nowMs,
    who,
    what: 'kill-switch-created',
    subject: made.id,
    before: null,
    after: { scope: { kind: 'all' }, reason },
  });
  return made.id;
}

/**
 * Ends all sessions. A password that was changed since the backup is the old one again, and sessions that the
 * change had ended are back.
 */
async function endSessions({ documents }: Store, atMs: number): Promise<number> {
  const { sessions } = createDirectory(documents, () => atMs);
  for (let count = 0; ; ) {
    const storedSessions = await sessions.list({ countMax: atOnce });
    if (storedSessions.length === 0) return count;
    await documents.write(
      storedSessions.map(({ value, version }) => sessions.remove(value, version)),
      null,
    );
    count += storedSessions.length;
  }
}

/** Ends all requests of a status, because each may have been approved, taken or used since the backup. */
async function endAll(
  { requests }: Store,
  status: RequestStatus,
  { atMs, who }: { readonly atMs: number; readonly who: string },
): Promise<number> {
  const filter = { ...anyRequest, status, nowMs: atMs };
  let ended = 0;
  for (let after = null; ; ) {
    const { items: found, next } = await requests.list({ ...filter, after, countMax: atOnce });
    for (const { row, events } of found) {
      const decidedAtMs = (events.at(-1)?.state ?? row).decidedAtMs;
      const state = { status: 'expired', decidedAtMs, expiresAtMs: atMs } as const;
      const event = { atMs, who, what: 'expired', state, detail: null } as const;
      await requests.change({ requestId: row.id, events: [event], from: [status], seen: events.length });
      ended += 1;
    }
    if (next === null) return ended;
    after = next;
  }
}
