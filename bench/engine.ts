// The interface through which the benchmarks use every engine: policies in, decisions out.

import type { BenchRule, Workload } from './workloads.ts';

export interface Engine {
  readonly name: string;
  /**
   * The most policies that the engine handles in reasonable time: `actions` over many actions, `wild` when
   * all are on one pattern.
   */
  readonly policiesMax: Readonly<Record<'actions' | 'wild', number>>;
  prepare(workload: Workload): Promise<Prepared> | Prepared;
  /**
   * Prepares the engine from the policy text that an operator writes; present when `prepare` takes a shorter
   * way.
   */
  prepareFromText?(workload: Workload): Prepared;
}

/** An engine with its policies and with the workload's requests, in the form that the engine takes. */
export interface Prepared {
  /** Decides the request at index `at` of the workload; some engines answer with a promise. */
  decide(at: number): Decided | Promise<Decided>;
}

/** `by` is the name of the deciding policy, or the id of its rule; null when the engine does not tell. */
export interface Decided {
  /** `ALLOW`, `DENY` or another decision. */
  readonly outcome: string;
  readonly by: string | null;
}

export const nothingGrants: Decided = { outcome: 'DENY', by: null };

/**
 * Returns the decision of the rules that hold: by the first deny in order of names, else by the first allow,
 * else `nothingGrants`.
 */
export function decideBy(holding: readonly BenchRule[]): Decided {
  let best: BenchRule | null = null;
  for (const rule of holding) {
    if (best !== null && rule.effect === best.effect && rule.name >= best.name) continue;
    if (best !== null && rule.effect === 'allow' && best.effect === 'deny') continue;
    best = rule;
  }
  return best === null
    ? nothingGrants
    : { outcome: best.effect === 'deny' ? 'DENY' : 'ALLOW', by: best.name };
}

export const unlimited: Engine['policiesMax'] = {
  actions: Number.POSITIVE_INFINITY,
  wild: Number.POSITIVE_INFINITY,
};
