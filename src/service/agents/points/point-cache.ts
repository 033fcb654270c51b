// Caches which agent an enforcement point asks for, by the rules of `key-cache.ts`.

import type { Store } from '../../store/contract/store.ts';
import { createDocumentUses } from '../document-uses.ts';
import { createKeyCache, type Instant } from '../key-cache.ts';
import {
  type ActingAs,
  authenticatePoint,
  findPoint,
  type PointAuthentication,
  type PointLookup,
  pointKeyPrefix,
  pointKeyUses,
  type SentByPoint,
} from './point.ts';

export interface PointCache {
  /** The point with its agent; null when only the store can tell. */
  cached(sent: SentByPoint, now: Instant): ActingAs | null;
  /**
   * Like `authenticatePoint`; keeps a point that may act, and notes the use of its key. Parts that have not
   * changed are the same objects as before.
   */
  authenticate(sent: SentByPoint, now: Instant): Promise<PointAuthentication>;
  /** Finds the point by its key, whichever agent it asks for, and notes the use of the key. */
  find(keyText: string, nowMs: number): Promise<PointLookup>;
  /** Whether this cache still holds what was found for this key. */
  isCurrent(keyText: string, actingAs: ActingAs, now: Instant): boolean;
}

export function createPointCache({ agents, documents }: Pick<Store, 'agents' | 'documents'>): PointCache {
  // Changes of keys are counted, too, since a point is written together with its keys.
  const uses = createDocumentUses(documents, pointKeyUses);
  const cache = createKeyCache<ActingAs>(() => agents.changesHere() + documents.changesHere('point'));
  return {
    cached: ({ keyText, agentName }, now) =>
      agentName === null ? null : cache.cached(nameOf(keyText, agentName), keyText, now),
    async authenticate(sent, now) {
      const begun = cache.begin(now);
      const authentication = await authenticatePoint({ agents, documents }, sent, now.nowMs);
      if (authentication.kind !== 'ok') return authentication;
      const { kind, agent, key, point } = authentication;
      uses.note(key, now.nowMs);
      const names = [agent.id, sent.agentName ?? agent.id].map((name) => nameOf(sent.keyText, name));
      return { kind, ...cache.keep(names, { agent, key, point }, begun) };
    },
    async find(keyText, nowMs) {
      const lookup = await findPoint(documents, keyText, nowMs);
      if (lookup.kind === 'ok')
        uses.note({ id: `${pointKeyPrefix}${lookup.key.id}`, lastUsedAtMs: null }, nowMs);
      return lookup;
    },
    isCurrent: (keyText, actingAs, now) => cache.isCurrent(nameOf(keyText, actingAs.agent.id), actingAs, now),
  };
}

/** The length of a key's beginning up to the end of its id, which is not secret. */
const nameLength = pointKeyPrefix.length + 8;

function nameOf(keyText: string, agentName: string): string {
  return `${keyText.slice(0, nameLength)} ${agentName}`;
}
