// Which agent a key belongs to, kept for a moment as `found-keys.ts` has it.

import type { AgentWithKey } from '../store/contract/records.ts';
import type { Store } from '../store/contract/store.ts';
import { createFoundKeys, type LookBegun, type Moment } from './found-keys.ts';
import { type Authentication, authenticate } from './registry.ts';

export interface AgentCache {
  /** The active agent whose key this is; null where only the store can tell. Notes the use. */
  cached(headerText: string, now: Moment): AgentWithKey | null;
  /** As `authenticate`, and keeps an active agent. What has not changed is the same object as before. */
  look(headerText: string | undefined, now: Moment): Promise<Authentication>;
  /** Whether what was found for this key is still what this cache holds. */
  isCurrent(headerText: string, found: AgentWithKey, now: Moment): boolean;
}

interface Looking {
  readonly begun: LookBegun;
  readonly found: Promise<Authentication>;
}

export function createAgentCache(store: Store): AgentCache {
  const known = createFoundKeys<AgentWithKey>(store.agents.changesHere);
  /** By key: many callers of one agent come at once, and one look answers all of them. */
  const underWay = new Map<string, Looking>();

  async function find(headerText: string | undefined, begun: LookBegun): Promise<Authentication> {
    const found = await authenticate(store, headerText, begun.nowMs);
    if (found.kind !== 'ok') return found;
    const { kind, agent, key } = found;
    return { kind, ...known.keep([nameOf(headerText ?? '')], { agent, key }, begun) };
  }

  return {
    cached(headerText, now) {
      const found = known.cached(nameOf(headerText), headerText, now);
      if (found !== null) store.agents.noteUse(found.key, now.nowMs);
      return found;
    },
    async look(headerText, now) {
      const name = headerText ?? '';
      const other = underWay.get(name);
      if (other !== undefined && known.isFresh(other.begun, now)) {
        const found = await other.found;
        if (found.kind !== 'ok' || found.key.notAfterMs === null || found.key.notAfterMs > now.nowMs)
          return found;
      }
      const begun = known.begin(now);
      const found = find(headerText, begun);
      underWay.set(name, { begun, found });
      try {
        return await found;
      } finally {
        if (underWay.get(name)?.found === found) underWay.delete(name);
      }
    },
    isCurrent: (headerText, found, now) => known.isCurrent(nameOf(headerText), found, now),
  };
}

/** The length of `writ_` and the id of the key, by which a key is looked up: neither is secret. */
const nameLength = 13;

function nameOf(headerText: string): string {
  return headerText.slice(0, nameLength);
}
