// Policies as they decide what comes by a chain of delegations. INVARIANT: the result is at least as strict as the
// policies alone; a link that no longer fits them grants nothing.

import type { CheckedLink, checkLink } from '../../language/check/delegation.ts';
import { underGuards } from '../../language/emit/delegated.ts';
import type { PolicyEngine } from '../../language/model/active-policies.ts';
import type { DelegationLink, ResolvedLink } from '../../language/model/delegation.ts';
import type { Facts } from '../../language/model/request.ts';
import type { TracedDecision } from '../../language/model/trace.ts';
import { BoundedMap, memo } from '../../language/value/memo.ts';
import type { linkGuards } from './link-guards.ts';

/** What decides, and what links are checked against. */
export type GuardedPolicies = Pick<PolicyEngine, 'decide' | 'decideTraced' | 'decideRecorded' | 'shapeOf'> &
  Partial<Pick<PolicyEngine, 'actions'>>;

export interface ChainGuards {
  /** Checks a link against policies; resolves its condition. */
  readonly check: (policies: GuardedPolicies, link: DelegationLink) => CheckedLink;
  /** Returns the policies as they decide what comes by the chain. */
  readonly under: <P extends GuardedPolicies>(policies: P, chain: readonly DelegationLink[]) => P;
}

/** The stages of the language that make guards; passed in, so that a service loads them only when needed. */
export interface GuardStages {
  readonly checkLink: typeof checkLink;
  readonly linkGuards: typeof linkGuards;
}

/** The most chains, and the most actions of one chain, that are ready to decide. */
const chainsMax = 1_000;
const actionsMax = 100;

export function createChainGuards({ checkLink: checkBy, linkGuards: linkBy }: GuardStages): ChainGuards {
  /** By policies, what decides by each chain. */
  const made = new WeakMap<object, BoundedMap<string, object>>();

  const check: ChainGuards['check'] = (policies, link) =>
    checkBy(link, { keys: [...(policies.actions?.() ?? [])], shapeOf: policies.shapeOf });

  return {
    check,
    under<P extends GuardedPolicies>(policies: P, chain: readonly DelegationLink[]): P {
      if (chain.length === 0) return policies;
      const chains = memo(made, policies, () => new BoundedMap<string, object>(chainsMax));
      const key = JSON.stringify(chain.map(({ name, actions, when }) => [name, actions, when]));
      const guarded = memo(chains, key, () => {
        const resolved = chain.map((link) => check(policies, link).link ?? nothing(link));
        return guardedBy(policies, resolved, linkBy);
      });
      // It was made from these policies, by the key of this chain.
      return guarded as P;
    },
  };
}

/** A link that does not fit the policies. */
function nothing({ name }: DelegationLink): ResolvedLink {
  return { name, actions: [], when: null };
}

function guardedBy<P extends GuardedPolicies>(
  policies: P,
  chain: readonly ResolvedLink[],
  linkBy: GuardStages['linkGuards'],
): P {
  const names = chain.map(({ name }) => name);
  const byAction = new BoundedMap<string, ReturnType<typeof linkGuards> | null>(actionsMax);
  const link = (action: string) => {
    const shape = policies.shapeOf(action);
    return shape === null ? null : linkBy(chain, action, shape);
  };
  const decideBy =
    (decide: 'decideTraced' | 'decideRecorded') =>
    (facts: Facts): TracedDecision => {
      const parent = policies[decide](facts);
      const guards = memo(byAction, facts.action, link);
      return guards === null ? parent : underGuards(parent, { names, trace: guards[decide](facts).trace });
    };
  const decideTraced = decideBy('decideTraced');
  return {
    ...policies,
    decideTraced,
    decideRecorded: decideBy('decideRecorded'),
    decide: (facts: Facts) => decideTraced(facts).decision,
  };
}
