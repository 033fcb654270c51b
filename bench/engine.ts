// What an engine is to the benchmarks: policies in, decisions out, whatever happens between.

import type { BenchRule, Workload } from './workloads.ts';

export interface Engine {
  readonly name: string;
  /** The most policies that it gets through in reasonable time: over many actions, and where all are on one pattern. */
  readonly policiesMax: Readonly<Record<'actions' | 'wild', number>>;
  prepare(workload: Workload): Promise<Prepared> | Prepared;
  /** The whole way from what an operator writes, where `prepare` takes a shorter one. */
  prepareFromText?(workload: Workload): Prepared;
}

/** An engine with its policies and the workload's requests, in the form it takes them. */
export interface Prepared {
  /** Decides the request at this place; some engines answer later. */
  decide(at: number): Decided | Promise<Decided>;
}

/** `by` is the name of the deciding policy, or its rule's id; null for what engines do not tell. */
export interface Decided {
  /** `ALLOW`, `DENY`, ... */
  readonly outcome: string;
  readonly by: string | null;
}

export const nothingGrants: Decided = { outcome: 'DENY', by: null };

/** Of the rules that hold: the first deny by name, else the first allow, else nothing grants. */
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
