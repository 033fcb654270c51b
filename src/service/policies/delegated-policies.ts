// The active policies as they decide what comes by a chain of delegations. INVARIANT: the result is at least as
// strict as the policies alone; a link that no longer fits the active policies grants nothing.

import type { CheckedLink } from '../../language/check/delegation.ts';
import { underGuards } from '../../language/emit/delegated.ts';
import type { LinkedFunctions } from '../../language/emit/link.ts';
import type { ActivePolicies } from '../../language/model/active-policies.ts';
import type { DelegationLink, ResolvedLink } from '../../language/model/delegation.ts';
import type { Facts } from '../../language/model/request.ts';
import type { TracedDecision } from '../../language/model/trace.ts';
import { BoundedMap } from '../../language/value/memo.ts';

/** Returns the policies as they decide what comes by the chain. Call `ready` first. */
export type UnderChain = (active: ActivePolicies, chain: readonly DelegationLink[]) => ActivePolicies;

export interface DelegatedPolicies {
  /** Loads the checker, which most services never need. */
  readonly ready: () => Promise<void>;
  readonly under: UnderChain;
  /** Checks a link against the active policies; resolves its condition. */
  readonly check: (active: ActivePolicies, link: DelegationLink) => CheckedLink;
}

/** The most chains, and the most actions of one chain, that are ready to decide. */
const chainsMax = 1_000;
const actionsMax = 100;

interface Checker {
  readonly checkLink: typeof import('../../language/check/delegation.ts').checkLink;
  readonly linkGuards: typeof import('../../pipeline.ts').linkGuards;
}

export function createDelegatedPolicies(): DelegatedPolicies {
  let checker: Checker | null = null;
  let loading: Promise<void> | null = null;
  /** The chains of the set that was active last. */
  let chains: { readonly of: ActivePolicies; readonly made: BoundedMap<string, ActivePolicies> } | null =
    null;

  async function load(): Promise<void> {
    const [{ checkLink }, { linkGuards }] = await Promise.all([
      import('../../language/check/delegation.ts'),
      import('../../pipeline.ts'),
    ]);
    checker = { checkLink, linkGuards };
  }

  function loaded(): Checker {
    if (checker === null) throw new Error('the checker of delegations is not loaded');
    return checker;
  }

  const check: DelegatedPolicies['check'] = (active, link) =>
    loaded().checkLink(link, { keys: [...active.actions()], shapeOf: active.shapeOf });

  return {
    ready() {
      loading ??= load();
      return loading;
    },
    check,
    under(active, chain) {
      if (chain.length === 0) return active;
      if (chains?.of !== active) chains = { of: active, made: new BoundedMap(chainsMax) };
      const key = JSON.stringify(chain.map(({ name, actions, when }) => [name, actions, when]));
      const before = chains.made.get(key);
      if (before !== undefined) return before;
      const resolved = chain.map((link) => check(active, link).link ?? nothing(link));
      const made = delegated(active, resolved, loaded().linkGuards);
      chains.made.set(key, made);
      return made;
    },
  };
}

/** A link that does not fit the active policies. */
function nothing({ name }: DelegationLink): ResolvedLink {
  return { name, actions: [], when: null };
}

function delegated(
  active: ActivePolicies,
  chain: readonly ResolvedLink[],
  linkGuards: Checker['linkGuards'],
): ActivePolicies {
  const names = chain.map(({ name }) => name);
  const byAction = new BoundedMap<string, LinkedFunctions>(actionsMax);
  const guardsOf = (action: string): LinkedFunctions | null => {
    const before = byAction.get(action);
    const shape = before === undefined ? active.shapeOf(action) : null;
    if (shape === null) return before ?? null;
    const made = linkGuards(chain, action, shape);
    byAction.set(action, made);
    return made;
  };
  const decideBy =
    (decide: 'decideTraced' | 'decideRecorded') =>
    (facts: Facts): TracedDecision => {
      const parent = active[decide](facts);
      const guards = guardsOf(facts.action);
      return guards === null ? parent : underGuards(parent, { names, trace: guards[decide](facts).trace });
    };
  const decideTraced = decideBy('decideTraced');
  return {
    ...active,
    decideTraced,
    decideRecorded: decideBy('decideRecorded'),
    decide: (facts) => decideTraced(facts).decision,
  };
}
