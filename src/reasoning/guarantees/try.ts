// Tries guarantees that no proof decides on many generated requests. A claim that fails has a counterexample,
// which the definition confirms. A claim that does not fail is "not refuted", which is no proof.

import type { Decision } from '../../language/model/decision.ts';
import type { Guarantee, GuaranteeClause, PolicySet } from '../../language/model/policy.ts';
import type { Facts } from '../../language/model/request.ts';
import {
  isClauseViolated,
  isRequestCovered,
  refutation,
  withClauseFacts,
} from '../../language/spec/guarantee-clause.ts';
import { checkPayload } from '../../language/spec/payload.ts';
import { type RequestSource, randomRequest, requestSource } from './request.ts';

export interface Trial {
  readonly guarantee: Guarantee;
  readonly claim: GuaranteeClause;
  /** How many requests of the declared shapes met the claim's condition. */
  readonly tried: number;
  /** How many of the tried requests an `allow` granted, so that only guards could stop them. */
  readonly granted: number;
  /** A request that refutes the claim, and its decision; null if the claim is not refuted. */
  readonly counterexample: { readonly facts: Facts; readonly decision: Decision } | null;
}

export interface TrialOptions {
  /** The compiled function; the definition confirms each counterexample that it finds. */
  readonly decide: (facts: Facts) => Decision;
  /** How many requests of the declared shape are generated for each claim. */
  readonly requests?: number;
  readonly seed?: number;
  /** The claims to try; all claims if left out. */
  readonly claims?: ReadonlySet<GuaranteeClause>;
}

export const trialRequestsDefault = 10_000;

/**
 * How many requests that an `allow` grants must have met a claim's condition; with fewer, the claim counts as
 * barely tried.
 */
const grantedMin = 200;

/** Whether so few requests were granted that "not refuted" means next to nothing. */
export function isBarelyTried({ granted, counterexample }: Trial): boolean {
  return counterexample === null && granted < grantedMin;
}

/**
 * How many attempts are made for each request, so that a trial ends early if random values seldom meet the
 * shape.
 */
const attemptsPerRequest = 5;

/** One trial for each claim, in the order of the set. */
export function tryGuarantees(set: PolicySet, options: TrialOptions): readonly Trial[] {
  const source = requestSource(set, options.seed ?? 1);
  return set.guarantees.flatMap((guarantee) =>
    guarantee.claims
      .filter((claim) => options.claims?.has(claim) ?? true)
      .map((claim) => tryClause(guarantee, claim, { ...options, source })),
  );
}

function tryClause(
  guarantee: Guarantee,
  claim: GuaranteeClause,
  options: TrialOptions & { readonly source: RequestSource },
): Trial {
  const { source, decide, requests = trialRequestsDefault } = options;
  let generated = 0;
  let tried = 0;
  let granted = 0;
  for (let attempt = 0; generated < requests && attempt < requests * attemptsPerRequest; attempt++) {
    const action = source.set.actions.get(source.random.pick(guarantee.actions));
    if (action === undefined) continue;
    const facts = withClauseFacts(claim, randomRequest(source, action));
    if (checkPayload(action.shape, facts.payload).length > 0) continue;
    generated++;
    const decision = decide(facts);
    if (!isRequestCovered(source.set, claim, facts, decision)) continue;
    tried++;
    if (isGranted(source, decision)) granted++;
    if (!isClauseViolated(source.set, claim, decision)) continue;
    const confirmed = refutation(source.set, claim, facts);
    if (confirmed !== null)
      return { guarantee, claim, tried, granted, counterexample: { facts, decision: confirmed } };
  }
  return { guarantee, claim, tried, granted, counterexample: null };
}

function isGranted({ allows }: RequestSource, { rules }: Decision): boolean {
  return rules.some((rule) => allows.has(rule));
}
