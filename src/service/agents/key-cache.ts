// A cache of agents by their API key, so that frequent callers are seldom looked up. INVARIANT: an entry is
// younger than `cachedMsMax`, and no change through this store has been requested or made since: a change
// through this store takes effect with the next look-up, and a change by another process within that time.

import { hash, timingSafeEqual } from 'node:crypto';
import { isDeepStrictEqual } from 'node:util';
import type { AgentRow, KeyRow } from '../store/contract/records.ts';

/** How long a change that another process makes to the same store may go unseen, in milliseconds. */
export const cachedMsMax = 100;
/** Beyond this many names, all are forgotten and looked up again. */
const namesMax = 10_000;

export interface Instant {
  /** Milliseconds since 1970-01-01T00:00Z. */
  readonly nowMs: number;
  /** Milliseconds of a clock that never goes back. */
  readonly steadyMs: number;
}

interface KeyLookup {
  readonly agent: AgentRow;
  readonly key: KeyRow;
  readonly point?: object;
  readonly chain?: object;
  readonly workload?: object;
}

/** A look-up under way, with the number of changes that had been made when it began. */
export interface StartedLookup extends Instant {
  readonly changesHere: number;
}

export interface KeyCache<Found extends KeyLookup> {
  /** What was found for the key; null when only the store can tell. */
  cached(name: string, keyText: string, now: Instant): Found | null;
  /** The same without a comparison of the key: the caller compares it itself, in a time that tells nothing of it. */
  uncompared(name: string, now: Instant): Found | null;
  /** Call before a look-up; changes made during the look-up make its result out of date. */
  begin(now: Instant): StartedLookup;
  /** Whether the result of a look-up under way may be relied on now. */
  isFresh(begun: StartedLookup, now: Instant): boolean;
  /**
   * Keeps what was found under all of the names. Parts that have not changed are the same objects as before.
   */
  keep(names: readonly string[], lookup: Found, begun: StartedLookup): Found;
  isCurrent(name: string, lookup: Found, now: Instant): boolean;
}

interface CachedKey<Found> {
  readonly lookup: Found;
  /** The digest of the key, in hexadecimal, as bytes. */
  readonly digest: Buffer;
  readonly changesHere: number;
  readonly foundAtMs: number;
}

export function createKeyCache<Found extends KeyLookup>(changesHere: () => number): KeyCache<Found> {
  const byName = new Map<string, CachedKey<Found>>();
  const sent = Buffer.alloc(sha256HexLength);

  /** The kept entry, if it may still be relied on; null otherwise. */
  function fresh(name: string, { nowMs, steadyMs }: Instant): CachedKey<Found> | null {
    const entry = byName.get(name);
    if (entry === undefined || steadyMs - entry.foundAtMs >= cachedMsMax) return null;
    if (entry.changesHere !== changesHere()) return null;
    const { notAfterMs } = entry.lookup.key;
    return notAfterMs !== null && notAfterMs <= nowMs ? null : entry;
  }

  return {
    cached(name, keyText, now) {
      const entry = fresh(name, now);
      if (entry === null) return null;
      sent.write(hash('sha256', keyText, 'hex'), 'latin1');
      return timingSafeEqual(sent, entry.digest) ? entry.lookup : null;
    },
    uncompared: (name, now) => fresh(name, now)?.lookup ?? null,
    begin: (now) => ({ ...now, changesHere: changesHere() }),
    isFresh: (begun, { steadyMs }) =>
      steadyMs - begun.steadyMs < cachedMsMax && begun.changesHere === changesHere(),
    keep(names, lookup, { changesHere, steadyMs: foundAtMs }) {
      const kept = sameAsBefore(byName.get(names[0] ?? '')?.lookup, lookup);
      const digest = Buffer.from(kept.key.digest, 'latin1');
      if (byName.size >= namesMax) byName.clear();
      for (const name of names) byName.set(name, { lookup: kept, digest, changesHere, foundAtMs });
      return kept;
    },
    isCurrent(name, { agent, key, point, chain, workload }, now) {
      const cached = fresh(name, now)?.lookup;
      return (
        cached?.agent === agent &&
        cached.key === key &&
        cached.point === point &&
        cached.chain === chain &&
        cached.workload === workload
      );
    },
  };
}

/**
 * Keeps the objects of unchanged parts, so that other code derives its data from an agent, a key or a point
 * only once.
 */
function sameAsBefore<Found extends KeyLookup>(before: Found | undefined, lookup: Found): Found {
  if (before === undefined) return lookup;
  const agent = isDeepStrictEqual(before.agent, lookup.agent) ? before.agent : lookup.agent;
  const key = isSameKey(before.key, lookup.key) ? before.key : lookup.key;
  const point = isDeepStrictEqual(before.point, lookup.point) ? before.point : lookup.point;
  const chain = isDeepStrictEqual(before.chain, lookup.chain) ? before.chain : lookup.chain;
  const workload = isDeepStrictEqual(before.workload, lookup.workload) ? before.workload : lookup.workload;
  return {
    ...lookup,
    agent,
    key,
    ...(point === undefined ? {} : { point }),
    ...(chain === undefined ? {} : { chain }),
    ...(workload === undefined ? {} : { workload }),
  };
}

function isSameKey(before: KeyRow, keyRow: KeyRow): boolean {
  return isDeepStrictEqual({ ...before, lastUsedAtMs: null }, { ...keyRow, lastUsedAtMs: null });
}

const sha256HexLength = 64;
