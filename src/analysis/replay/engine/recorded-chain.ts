// Decides a recorded request again as it came: by the chain of delegations in its record.

import { checkLink } from '../../../language/check/delegation.ts';
import type { DelegationLink } from '../../../language/model/delegation.ts';
import { createChainGuards, type GuardedPolicies } from '../../../service/policies/chain-guards.ts';
import { linkGuards } from '../../../service/policies/link-guards.ts';

const guards = createChainGuards({ checkLink, linkGuards });

/** The policies as they decide what comes by the chain; the policies themselves without one. */
export function underRecordedChain<P extends GuardedPolicies>(
  policies: P,
  chain: readonly DelegationLink[] | undefined,
): P {
  return guards.under(policies, chain ?? []);
}
