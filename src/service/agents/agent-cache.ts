// Caches which agent a key belongs to, by the rules of `key-cache.ts`.

import type { AgentWithKey } from '../store/contract/records.ts';
import type { Store } from '../store/contract/store.ts';
import { createKeyCache, type Instant, type StartedLookup } from './key-cache.ts';
import { type Authentication, authenticate } from './registry.ts';

export interface AgentCache {
  /** The active agent of this key; null when only the store can tell. Notes the use of the key. */
  cached(headerText: string, now: Instant): AgentWithKey | null;
  /**
   * Like `authenticate`, and keeps an active agent. Parts that have not changed are the same objects as
   * before.
   */
  authenticate(headerText: string | undefined, now: Instant): Promise<Authentication>;
  /** Whether this cache still holds what was found for this key. */
  isCurrent(headerText: string, agent: AgentWithKey, now: Instant): boolean;
}

interface PendingLookup {
  readonly begun: StartedLookup;
  readonly lookup: Promise<Authentication>;
}

export function createAgentCache(store: Store): AgentCache {
  const cache = createKeyCache<AgentWithKey>(store.agents.changesHere);
  /**
   * Look-ups under way, by key: when many callers of one agent come at once, one look-up answers all of them.
   */
  const underWay = new Map<string, PendingLookup>();

  async function find(headerText: string | undefined, begun: StartedLookup): Promise<Authentication> {
    const authentication = await authenticate(store, headerText, begun.nowMs);
    if (authentication.kind !== 'ok') return authentication;
    const { kind, agent, key } = authentication;
    return { kind, ...cache.keep([nameOf(headerText ?? '')], { agent, key }, begun) };
  }

  return {
    cached(headerText, now) {
      const cached = cache.cached(nameOf(headerText), headerText, now);
      if (cached !== null) store.agents.noteUse(cached.key, now.nowMs);
      return cached;
    },
    async authenticate(headerText, now) {
      const name = headerText ?? '';
      const other = underWay.get(name);
      if (other !== undefined && cache.isFresh(other.begun, now)) {
        const authentication = await other.lookup;
        if (
          authentication.kind !== 'ok' ||
          authentication.key.notAfterMs === null ||
          authentication.key.notAfterMs > now.nowMs
        )
          return authentication;
      }
      const begun = cache.begin(now);
      const lookup = find(headerText, begun);
      underWay.set(name, { begun, lookup });
      try {
        return await lookup;
      } finally {
        if (underWay.get(name)?.lookup === lookup) underWay.delete(name);
      }
    },
    isCurrent: (headerText, agent, now) => cache.isCurrent(nameOf(headerText), agent, now),
  };
}

/** The length of `writ_` and the key's id, by which the key is looked up; neither part is secret. */
const nameLength = 13;

function nameOf(headerText: string): string {
  return headerText.slice(0, nameLength);
}
