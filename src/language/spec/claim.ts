// What a claim of a guarantee says of one request, by what has been decided of it.

import type { Decision, Outcome } from '../model/decision.ts';
import type { Claim, PolicySet } from '../model/policy.ts';
import { type Facts, nothingSatisfied } from '../model/request.ts';
import { authorize } from './authorize.ts';
import { evaluateCondition } from './evaluate.ts';
import { resolveFacts } from './payload.ts';

export const claimedOutcomes = {
  allow: 'ALLOW',
  deny: 'DENY',
  escalate: 'ESCALATE',
  reauth: 'REAUTH_REQUIRED',
} as const satisfies Record<string, Outcome>;

/** The request as the claim looks at it. */
export function asClaimed({ isUnapproved }: Claim, facts: Facts): Facts {
  return isUnapproved ? { ...facts, satisfied: nothingSatisfied } : facts;
}

/** A claim speaks of every request of the declared shape for which its condition is not false. */
export function isSpokenOf(set: PolicySet, claim: Claim, asked: Facts, { by, risk }: Decision): boolean {
  const { when, isDefinite = false } = claim;
  if (by === 'invalid_payload' || by === 'undeclared_action') return false;
  if (when === null) return true;
  const facts = resolveFacts(set, asked);
  const truth = evaluateCondition(when, { set, facts, risk, variables: new Map() });
  return isDefinite ? truth === true : truth !== false;
}

/** Whether the decision is what the claim rules out. */
export function isAgainst(claim: Claim, { outcome, requires }: Decision): boolean {
  if (claim.effect !== 'ask') return (outcome === claimedOutcomes[claim.effect]) === (claim.mode === 'never');
  const { mode, group, needs } = claim;
  const isAsked = requires?.approvals.some((asked) => asked.group === group && asked.needs >= needs) === true;
  // A request that is refused asks nobody, and passes nobody by.
  return mode === 'never' ? isAsked : outcome !== 'DENY' && !isAsked;
}

/** The decision of the request where it refutes the claim, else null. */
export function refutation(set: PolicySet, claim: Claim, asked: Facts): Decision | null {
  const facts = asClaimed(claim, asked);
  const decision = authorize(set, facts);
  return isSpokenOf(set, claim, facts, decision) && isAgainst(claim, decision) ? decision : null;
}
