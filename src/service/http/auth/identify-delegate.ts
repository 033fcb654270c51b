// Authenticates a sub-agent by its delegated key. INVARIANT: a key passes only while every delegation of its
// chain lasts, and only once what decides by a chain is loaded.

import type { ActingDelegate, DelegateAuthentication } from '../../agents/delegations/delegation.ts';
import { createDelegationCache } from '../../agents/delegations/delegation-cache.ts';
import type { Instant } from '../../agents/key-cache.ts';
import type { AgentRow } from '../../store/contract/records.ts';
import type { Store } from '../../store/contract/store.ts';
import { ProblemError } from '../contract/problem.ts';

type FoundDelegate = Extract<DelegateAuthentication, { readonly agent: AgentRow }>;
type UnknownCaller = Extract<DelegateAuthentication, { readonly kind: 'malformed' | 'unknown' }>;

interface DelegateIdentifierOptions {
  readonly store: Store;
  /** Loads what deciding delegated requests needs. */
  readonly ready: () => Promise<void>;
  readonly refuseUnknownCaller: (kind: UnknownCaller['kind'], address: string) => never;
}

interface DelegateIdentifier {
  /** The sub-agent, if it was looked up a moment ago; else null. */
  cached(keyText: string, now: Instant): ActingDelegate | null;
  /** The sub-agent; its agent may be disabled or revoked. Rejects with a ProblemError: 401, 403 or 429. */
  identify(keyText: string, address: string, now: Instant): Promise<FoundDelegate>;
  /** Identifies the same sub-agent once more; returns `before` at once when nothing has changed. */
  identifyAgain(
    keyText: string,
    before: ActingDelegate,
    now: Instant,
  ): ActingDelegate | Promise<FoundDelegate>;
}

export function createDelegateIdentifier({
  store,
  ready,
  refuseUnknownCaller,
}: DelegateIdentifierOptions): DelegateIdentifier {
  const cache = createDelegationCache(store);
  /** Until then nothing is taken from the cache, which may hold what another request still waits for. */
  let isReady = false;

  async function identify(keyText: string, address: string | null, now: Instant): Promise<FoundDelegate> {
    const result = await cache.authenticate(keyText, now);
    if (result.kind === 'ended') throw delegationEnded(result.detail);
    if (!('agent' in result)) {
      if (address !== null) return refuseUnknownCaller(result.kind, address);
      throw new ProblemError('invalid_api_key', 'no agent has this key');
    }
    await ready();
    isReady = true;
    return result;
  }

  return {
    cached: (keyText, now) => (isReady ? cache.cached(keyText, now) : null),
    identify,
    identifyAgain: (keyText, before, now) =>
      cache.isCurrent(keyText, before, now) ? before : identify(keyText, null, now),
  };
}

/** The refusal of a delegated key whose chain has ended. */
export function delegationEnded(detail: string): ProblemError {
  return new ProblemError('delegation_ended', detail);
}
