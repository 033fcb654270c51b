// Defines what a delegated request is decided by: the policy set and one more guard for each link of the
// chain, `deny outside_delegation unless action in actions and (when)`. What is unknown is denied, as for
// every guard.

import type { Decision } from '../model/decision.ts';
import type { ResolvedLink } from '../model/delegation.ts';
import { guardPolicy } from '../model/link-guards.ts';
import type { PolicySet } from '../model/policy.ts';
import type { Facts } from '../model/request.ts';
import { authorize } from './authorize.ts';

/** Decides a request that comes by a chain of delegations; the first link is the agent's own. */
export function authorizeDelegated(set: PolicySet, chain: readonly ResolvedLink[], facts: Facts): Decision {
  return authorize(withGuards(set, chain), facts);
}

/** The set with the guards of a chain. */
export function withGuards(set: PolicySet, chain: readonly ResolvedLink[]): PolicySet {
  return { ...set, policies: [...set.policies, guardPolicy(chain, [...set.actions.keys()])] };
}
