// How the request path decides what comes by a chain of delegations, independent of how guards are compiled.

import type { ActivePolicies } from '../../../language/model/active-policies.ts';
import type { DelegationLink } from '../../../language/model/delegation.ts';

export interface ChainDecider {
  /** To be awaited before `under`. */
  readonly ready: () => Promise<void>;
  /** Returns the policies as they decide what comes by the chain; never milder than they are. */
  readonly under: (active: ActivePolicies, chain: readonly DelegationLink[]) => ActivePolicies;
}

/** Decides nothing that comes by a chain. */
export const noChains: ChainDecider = {
  ready: async () => undefined,
  under(active, chain) {
    if (chain.length === 0) return active;
    throw new Error('delegated requests cannot be decided here');
  },
};
