// Finds what keeps a request from being allowed: a missing grant, and each guard that stops it. Also finds which
// guarantees forbid that such a request is allowed at all.

import type { SourceOf } from '../../language/diagnostic/render.ts';
import type { Decision, Outcome } from '../../language/model/decision.ts';
import { type GuaranteeClause, isGuard, type PolicySet, type Rule } from '../../language/model/policy.ts';
import type { Facts } from '../../language/model/request.ts';
import { judge } from '../../language/spec/authorize.ts';
import type { EvaluationScope } from '../../language/spec/evaluate.ts';
import { clauseOutcomes, isRequestCovered, withClauseFacts } from '../../language/spec/guarantee-clause.ts';
import { clauseText } from '../../reasoning/prove/report/wording.ts';

/** What a suggestion makes of the request: allowed at once, or allowed after people approve it. */
export type SuggestGoal = Extract<Outcome, 'ALLOW' | 'ESCALATE'>;

export interface Obstacles {
  /** The grants that would do if their condition were true; null when one already grants. */
  readonly grants: readonly Rule[] | null;
  /** The guards that stop the request. */
  readonly guards: readonly Rule[];
  readonly scope: EvaluationScope;
}

export function obstaclesTo(goal: SuggestGoal, set: PolicySet, facts: Facts): Obstacles {
  const { judged, scope } = judge(set, facts, ({ isShadow }) => !isShadow);
  const isEnough = (rule: Rule): boolean => goal === 'ESCALATE' || !isAsking(rule, facts);
  const allows = judged.filter(({ rule }) => rule.effect === 'allow' && isEnough(rule));
  const guards = judged.filter(
    ({ rule, truth }) =>
      isGuard(rule) &&
      truth !== false &&
      (rule.effect === 'deny' || (goal === 'ALLOW' && isAsking(rule, facts))),
  );
  return {
    grants: allows.some(({ truth }) => truth === true) ? null : allows.map(({ rule }) => rule),
    guards: guards.map(({ rule }) => rule),
    scope,
  };
}

/** Whether the rule asks for people or a step-up that the request does not have. */
function isAsking({ id, requirement }: Rule, { satisfied }: Facts): boolean {
  if (requirement === null) return false;
  const met = requirement.kind === 'approval' ? satisfied.escalate : satisfied.reauth;
  return !met.includes(id);
}

/** A claim of a guarantee that a decision about the request would break. */
export interface ForbiddingClaim {
  readonly guarantee: string;
  readonly text: string;
}

/** The claims that rule out the goal for the request. */
export function claimsAgainst(
  goal: SuggestGoal,
  { set, facts, decision, sourceOf }: ForbiddenRequest,
): readonly ForbiddingClaim[] {
  const isAgainst = (claim: GuaranteeClause): boolean =>
    isBrokenBy(claim, goal) && isRequestCovered(set, claim, withClauseFacts(claim, facts), decision);
  return set.guarantees
    .filter(({ actions }) => actions.includes(facts.action))
    .flatMap(({ name, claims }) =>
      claims.filter(isAgainst).map((claim) => ({ guarantee: name, text: clauseText(claim, sourceOf) })),
    );
}

export interface ForbiddenRequest {
  readonly set: PolicySet;
  readonly facts: Facts;
  readonly decision: Decision;
  readonly sourceOf: SourceOf;
}

function isBrokenBy({ mode, effect, isUnapproved }: GuaranteeClause, goal: SuggestGoal): boolean {
  // What people approve is allowed in the end.
  if (mode === 'never' && effect === 'allow' && !isUnapproved) return true;
  if (effect === 'standing') return false;
  if (effect === 'ask') return mode === 'always' && goal === 'ALLOW';
  return (goal === clauseOutcomes[effect]) === (mode === 'never');
}
