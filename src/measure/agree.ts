// Compares the compiled function with the language's definition before anything is timed: a fast but wrong
// function is not worth measuring.

import { isDeepStrictEqual } from 'node:util';
import type { Decision } from '../language/model/decision.ts';
import type { PolicySet } from '../language/model/policy.ts';
import type { Facts } from '../language/model/request.ts';
import { authorize } from '../language/spec/authorize.ts';

export interface AgreeingEngine {
  readonly set: PolicySet;
  readonly decide: (facts: Facts) => Decision;
}

/** The least number of requests that the definition decides, however slow it is. */
const checkedMin = 10;

/**
 * Decides requests by the language's definition, too: spread evenly over all requests, as many as `ms`
 * milliseconds allow. Returns their number. Throws when a decision differs, which is a bug in Writ.
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

/** Yields every index once, in an order in which each beginning is spread evenly over the whole. */
export function* spread(length: number): Generator<number> {
  let step = 1;
  while (step < length) step *= 2;
  // First index 0, then the middle, then the quarters, and so on.
  for (let stride = step; stride >= 1; stride /= 2) {
    for (let at = stride === step ? 0 : stride; at < length; at += stride === step ? step : 2 * stride)
      yield at;
  }
}
