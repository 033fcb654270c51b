// Whether a claim of a guarantee covers a request, and whether the decision about the request refutes the
// claim.

import { allApprovers } from '../model/approvers.ts';
import type { ApprovalRequirement, Decision, Outcome, ResolvedApprover } from '../model/decision.ts';
import {
  type AskClause,
  type GuaranteeClause,
  isGuard,
  type PolicySet,
  type Requirement,
} from '../model/policy.ts';
import { type Facts, nothingSatisfied } from '../model/request.ts';
import { authorize, preference } from './authorize.ts';
import { evaluateCondition } from './evaluate.ts';
import { resolveFacts } from './payload.ts';

export const clauseOutcomes = {
  allow: 'ALLOW',
  deny: 'DENY',
  escalate: 'ESCALATE',
  reauth: 'REAUTH_REQUIRED',
} as const satisfies Record<string, Outcome>;

/**
 * Returns the request as the claim considers it: without any approval or step-up, for a claim about
 * unapproved requests.
 */
export function withClauseFacts({ isUnapproved }: GuaranteeClause, facts: Facts): Facts {
  return isUnapproved ? { ...facts, satisfied: nothingSatisfied } : facts;
}

/**
 * Whether the claim covers the request: one of the declared shape for which the claim's condition is not
 * false.
 */
export function isRequestCovered(
  set: PolicySet,
  claim: GuaranteeClause,
  request: Facts,
  { by, risk }: Decision,
): boolean {
  const { when, isDefinite = false } = claim;
  if (by === 'invalid_payload' || by === 'undeclared_action') return false;
  if (when === null) return true;
  const facts = resolveFacts(set, request);
  const truth = evaluateCondition(when, { set, facts, risk, variables: new Map() });
  return isDefinite ? truth === true : truth !== false;
}

/** Whether the claim rules out the decision. */
export function isClauseViolated(set: PolicySet, claim: GuaranteeClause, decision: Decision): boolean {
  const { outcome, requires } = decision;
  if (claim.effect === 'standing') {
    const asking = outcome === 'DENY' ? [] : askingOf(set, decision);
    return asking.some((one) => one.kind === 'approval' && one.standing !== undefined);
  }
  if (claim.effect !== 'ask') return (outcome === clauseOutcomes[claim.effect]) === (claim.mode === 'never');
  const isAsked =
    requires?.approvals.some(
      (requirement) => requirement.needs >= claim.needs && isAbout(claim, requirement),
    ) === true;
  // A refused request asks nobody, so it does not fail to ask anybody either.
  return claim.mode === 'never' ? isAsked : outcome !== 'DENY' && !isAsked;
}

/** What the granting `allow` and the guards of a decision with no requirement met ask, in the definition's order. */
export function askingOf({ policies }: PolicySet, decision: Decision): readonly Requirement[] {
  const rules = policies.flatMap((policy) => policy.rules).filter(({ id }) => decision.rules.includes(id));
  const [granting] = rules.filter(({ effect }) => effect === 'allow').toSorted(preference(nothingSatisfied));
  const asking = granting === undefined ? [] : [granting, ...rules.filter(isGuard)];
  return asking.flatMap(({ requirement }) => requirement ?? []);
}

/**
 * Whether a requirement asks whom the claim is about, at once or as a fallback: for `never` at least one of them,
 * for `always` nobody else.
 */
function isAbout({ mode, group, anyOf = [group] }: AskClause, requirement: ApprovalRequirement): boolean {
  const isClaimed = (one: ResolvedApprover): boolean =>
    [one.from, 'group' in one ? one.group : undefined].some(
      (name) => name !== undefined && anyOf.includes(name),
    );
  const approvers = allApprovers(requirement);
  return mode === 'never' ? approvers.some(isClaimed) : approvers.every(isClaimed);
}

/** Returns the decision about the request if it refutes the claim, else null. */
export function refutation(set: PolicySet, claim: GuaranteeClause, request: Facts): Decision | null {
  const facts = withClauseFacts(claim, request);
  const decision = authorize(set, facts);
  return isRequestCovered(set, claim, facts, decision) && isClauseViolated(set, claim, decision)
    ? decision
    : null;
}
