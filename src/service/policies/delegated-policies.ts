// The guards of delegations for the serving thread, which loads what makes them when the first sub-agent comes:
// most services never need it.

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
    const [{ checkLink }, { linkGuards }] = await Promise.all([
      import('../../language/check/delegation.ts'),
      import('../../pipeline.ts'),
    ]);
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
