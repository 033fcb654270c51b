// Which agent a key belongs to, kept for a moment, so that an agent that asks often is seldom looked up. INVARIANT: what
// is kept was found less than `cachedMsMax` ago, and no change through this store has been asked for or made since: a
// change made here holds from the next look on, one made by another process within that time.

import { hash, timingSafeEqual } from 'node:crypto';
import { isDeepStrictEqual } from 'node:util';
import type { AgentWithKey } from '../store/contract/records.ts';
import type { Store } from '../store/contract/store.ts';
import { type Authentication, authenticate } from './registry.ts';

/** How long a change that another process makes to the same store may go unseen. */
export const cachedMsMax = 100;
/** Beyond this many keys all are forgotten, and looked up again. */
const keysMax = 10_000;

export interface AgentCache {
  /** The active agent whose key this is; null where only the store can tell. Notes the use. */
  cached(headerText: string, now: Moment): AgentWithKey | null;
  /** As `authenticate`, and keeps an active agent. What has not changed is the same object as before. */
  look(headerText: string | undefined, now: Moment): Promise<Authentication>;
  /** Whether what was found for this key is still what this cache holds. */
  isCurrent(headerText: string, found: AgentWithKey, now: Moment): boolean;
}

export interface Moment {
  /** Milliseconds since 1970-01-01T00:00Z. */
  readonly nowMs: number;
  /** Milliseconds of a clock that never goes back. */
  readonly steadyMs: number;
}

interface Entry extends AgentWithKey {
  /** Of the key, in hexadecimal, as bytes. */
  readonly digest: Buffer;
  readonly changesHere: number;
  readonly foundAtMs: number;
}

export function createAgentCache(store: Store): AgentCache {
  const byName = new Map<string, Entry>();
  const sent = Buffer.alloc(sha256HexLength);

  /** What is kept of a key, where that may still be relied on. */
  function fresh(headerText: string, { nowMs, steadyMs }: Moment): Entry | null {
    const entry = byName.get(nameOf(headerText));
    if (entry === undefined || steadyMs - entry.foundAtMs >= cachedMsMax) return null;
    if (entry.changesHere !== store.agents.changesHere()) return null;
    return entry.key.notAfterMs !== null && entry.key.notAfterMs <= nowMs ? null : entry;
  }

  function cached(headerText: string, now: Moment): AgentWithKey | null {
    const entry = fresh(headerText, now);
    if (entry === null) return null;
    sent.write(hash('sha256', headerText, 'hex'), 'latin1');
    if (!timingSafeEqual(sent, entry.digest)) return null;
    store.agents.noteUse(entry.key, now.nowMs);
    return entry;
  }

  async function look(headerText: string | undefined, { nowMs, steadyMs }: Moment): Promise<Authentication> {
    // Before the look: what changes during it makes it out of date.
    const changesHere = store.agents.changesHere();
    const found = await authenticate(store, headerText, nowMs);
    if (found.kind !== 'ok') return found;
    const name = nameOf(headerText ?? '');
    const before = byName.get(name);
    if (byName.size >= keysMax) byName.clear();
    const agent = kept(before?.agent, found.agent);
    const key = isSameKey(before?.key, found.key) ? before.key : found.key;
    const digest = Buffer.from(key.digest, 'latin1');
    byName.set(name, { agent, key, digest, changesHere, foundAtMs: steadyMs });
    return { kind: 'ok', agent, key };
  }

  return {
    cached,
    look,
    isCurrent(headerText, { agent, key }, now) {
      const entry = fresh(headerText, now);
      return entry !== null && entry.agent === agent && entry.key === key;
    },
  };
}

/** The earlier object where both say the same: what others derive from an agent is derived once. */
function kept<T>(before: T | undefined, found: T): T {
  return before !== undefined && isDeepStrictEqual(before, found) ? before : found;
}

function isSameKey(
  before: AgentWithKey['key'] | undefined,
  found: AgentWithKey['key'],
): before is typeof found {
  return (
    before !== undefined &&
    isDeepStrictEqual({ ...before, lastUsedAtMs: null }, { ...found, lastUsedAtMs: null })
  );
}

const sha256HexLength = 64;
/** `writ_` and the id of the key: what a key is looked up by is no secret. */
const nameLength = 13;

function nameOf(headerText: string): string {
  return headerText.slice(0, nameLength);
}
