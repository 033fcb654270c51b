// Caches the agent and the chain of a delegated key, by the rules of `key-cache.ts`.

import type { Store } from '../../store/contract/store.ts';
import { identityKind } from '../identities/identity.ts';
import { createKeyCache, type Instant } from '../key-cache.ts';
import {
  type ActingDelegate,
  authenticateDelegate,
  type DelegateAuthentication,
  delegatedKeyPrefix,
  delegationKind,
} from './delegation.ts';

export interface DelegationCache {
  /** The agent and the chain; null when only the store can tell. */
  cached(keyText: string, now: Instant): ActingDelegate | null;
  /** Like `authenticateDelegate`, and keeps a chain that may act. */
  authenticate(keyText: string, now: Instant): Promise<DelegateAuthentication>;
  /** Whether this cache still holds what was found for this key. */
  isCurrent(keyText: string, delegate: ActingDelegate, now: Instant): boolean;
}

export function createDelegationCache({
  agents,
  documents,
}: Pick<Store, 'agents' | 'documents'>): DelegationCache {
  const cache = createKeyCache<ActingDelegate>(
    () => agents.changesHere() + documents.changesHere(delegationKind) + documents.changesHere(identityKind),
  );
  return {
    cached: (keyText, now) => cache.cached(nameOf(keyText), keyText, now),
    async authenticate(keyText, now) {
      const begun = cache.begin(now);
      const authentication = await authenticateDelegate({ agents, documents }, keyText, now.nowMs);
      if (authentication.kind !== 'ok') return authentication;
      const { kind, agent, key, chain } = authentication;
      return { kind, ...cache.keep([nameOf(keyText)], { agent, key, chain }, begun) };
    },
    isCurrent: (keyText, delegate, now) => cache.isCurrent(nameOf(keyText), delegate, now),
  };
}

/** The length of a key's beginning up to the end of its id, which is not secret. */
const nameLength = delegatedKeyPrefix.length + 8;

function nameOf(keyText: string): string {
  return keyText.slice(0, nameLength);
}
