// The compiled function against the definition, before anything is timed: what is fast and wrong is not worth measuring.

import { isDeepStrictEqual } from 'node:util';
import type { Decision } from '../../language/model/decision.ts';
import type { PolicySet } from '../../language/model/policy.ts';
import type { Facts } from '../../language/model/request.ts';
import { authorize } from '../../language/spec/authorize.ts';

export interface AgreeingEngine {
  readonly set: PolicySet;
  readonly decide: (facts: Facts) => Decision;
}

/** However slow the definition is, it decides so many. */
const checkedMin = 10;

/**
 * Decides requests spread evenly over all, as many as `ms` leave time for, by the definition too; returns how many.
 * Throws where a decision differs, which is a fault of ours.
 */
export function checkAgreement(
  { set, decide }: AgreeingEngine,
  requests: readonly Facts[],
  ms: number,
): number {
  const until = performance.now() + ms;
  let checked = 0;
  for (const at of spread(requests.length)) {
    if (checked >= checkedMin && performance.now() > until) break;
    const facts = requests[at]!;
    if (!isDeepStrictEqual(decide(facts), authorize(set, facts))) {
      throw new Error(
        `the compiled policies and the definition disagree on request ${at + 1}, for ${facts.action}`,
      );
    }
    checked += 1;
  }
  return checked;
}

/** Every place once, in an order of which each beginning is spread over the whole. */
export function* spread(length: number): Generator<number> {
  let step = 1;
  while (step < length) step *= 2;
  // The largest step first: 0; then the middle; then the quarters between, and so on.
  for (let stride = step; stride >= 1; stride /= 2) {
    for (let at = stride === step ? 0 : stride; at < length; at += stride === step ? step : 2 * stride)
      yield at;
  }
}
