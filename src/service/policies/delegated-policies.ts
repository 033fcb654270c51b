// The guards of delegations for the serving thread, which loads what makes them in parts, with other work in between:
// before the first sub-agent comes if there are delegations, since most services never need it.

import { setImmediate } from 'node:timers/promises';
import type { ActivePolicies } from '../../language/model/active-policies.ts';
import type { DelegationLink } from '../../language/model/delegation.ts';
import { type ChainGuards, createChainGuards } from './chain-guards.ts';

export interface DelegatedPolicies {
  /** Loads what makes guards; to be awaited before anything else. */
  readonly ready: () => Promise<void>;
  readonly under: (active: ActivePolicies, chain: readonly DelegationLink[]) => ActivePolicies;
  readonly check: ChainGuards['check'];
}

export function createDelegatedPolicies(): DelegatedPolicies {
  let guards: ChainGuards | null = null;
  let loading: Promise<void> | null = null;

  async function load(): Promise<void> {
    const { linkGuards } = await import('./link-guards.ts');
    await setImmediate();
    // A part of what follows, which takes as long as the rest.
    await import('../../language/check/expressions/infer.ts');
    await setImmediate();
    const { checkLink } = await import('../../language/check/delegation.ts');
    guards = createChainGuards({ checkLink, linkGuards });
  }

  function loaded(): ChainGuards {
    if (guards === null) throw new Error('the guards of delegations are not loaded');
    return guards;
  }

  return {
    ready() {
      loading ??= load();
      return loading;
    },
    under: (active, chain) => (chain.length === 0 ? active : loaded().under(active, chain)),
    check: (active, link) => loaded().check(active, link),
  };
}
