// Tries guarantees that no proof decides on many generated requests. A claim that fails has a counterexample, which the definition
// confirms; one that does not is "not refuted", which is no proof.

import type { Decision } from '../../language/model/decision.ts';
import type { Claim, Guarantee, PolicySet } from '../../language/model/policy.ts';
import type { Facts } from '../../language/model/request.ts';
import { asClaimed, isAgainst, isSpokenOf, refutation } from '../../language/spec/claim.ts';
import { checkPayload } from '../../language/spec/payload.ts';
import { type RequestSource, randomRequest, requestSource } from './request.ts';

export interface Trial {
  readonly guarantee: Guarantee;
  readonly claim: Claim;
  /** How many requests of the declared shapes met the claim's condition. */
  readonly tried: number;
  /** On how many of these an `allow` held, so that the guards alone stood in the way. */
  readonly granted: number;
  /** Null: not refuted. */
  readonly counterexample: { readonly facts: Facts; readonly decision: Decision } | null;
}

export interface TrialOptions {
  /** The fast reading; what it finds is replayed on the definition. */
  readonly decide: (facts: Facts) => Decision;
  /** Requests of the declared shape for each claim. */
  readonly requests?: number;
  readonly seed?: number;
  /** All where it is left out. */
  readonly claims?: ReadonlySet<Claim>;
}

export const trialRequestsDefault = 10_000;

/** A claim that fewer requests have met which an `allow` grants has hardly been tried at all. */
const grantedMin = 200;

/** Whether so few requests stand behind "not refuted" that it says next to nothing. */
export function isHardlyTried({ granted, counterexample }: Trial): boolean {
  return counterexample === null && granted < grantedMin;
}

/** A shape that random values seldom meet ends a trial early. */
const attemptsPerRequest = 5;

/** One trial a claim, in the order of the set. */
export function tryGuarantees(set: PolicySet, options: TrialOptions): readonly Trial[] {
  const source = requestSource(set, options.seed ?? 1);
  return set.guarantees.flatMap((guarantee) =>
    guarantee.claims
      .filter((claim) => options.claims?.has(claim) ?? true)
      .map((claim) => tryClaim(guarantee, claim, { ...options, source })),
  );
}

function tryClaim(
  guarantee: Guarantee,
  claim: Claim,
  options: TrialOptions & { readonly source: RequestSource },
): Trial {
  const { source, decide, requests = trialRequestsDefault } = options;
  let generated = 0;
  let tried = 0;
  let granted = 0;
  for (let attempt = 0; generated < requests && attempt < requests * attemptsPerRequest; attempt++) {
    const action = source.set.actions.get(source.random.pick(guarantee.actions));
    if (action === undefined) continue;
    const facts = asClaimed(claim, randomRequest(source, action));
    if (checkPayload(action.shape, facts.payload).length > 0) continue;
    generated++;
    const decision = decide(facts);
    if (!isSpokenOf(source.set, claim, facts, decision)) continue;
    tried++;
    if (isGranted(source, decision)) granted++;
    if (!isAgainst(claim, decision)) continue;
    const confirmed = refutation(source.set, claim, facts);
    if (confirmed !== null)
      return { guarantee, claim, tried, granted, counterexample: { facts, decision: confirmed } };
  }
  return { guarantee, claim, tried, granted, counterexample: null };
}

function isGranted({ allows }: RequestSource, { rules }: Decision): boolean {
  return rules.some((rule) => allows.has(rule));
}
