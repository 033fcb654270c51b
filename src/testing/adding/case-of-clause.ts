// Turns a request that refutes a claim into a case of a test file that expects what the claim demands. The
// case fails until the policies are changed.

import { allApprovers } from '../../language/model/approvers.ts';
import type { Decision } from '../../language/model/decision.ts';
import type { Json, JsonObject } from '../../language/model/json.ts';
import type { GuaranteeClause } from '../../language/model/policy.ts';
import { type Facts, nothingSatisfied } from '../../language/model/request.ts';
import { clauseOutcomes } from '../../language/spec/guarantee-clause.ts';
import { requestJson } from '../../reasoning/prove/report/request-json.ts';

export interface AddedCase {
  readonly name: string;
  /** The facts in the form of a test file; a missing fact is unknown or absent. */
  readonly facts: JsonObject;
  readonly expect: JsonObject;
}

export interface Refutation {
  readonly guarantee: string;
  readonly claim: GuaranteeClause;
  readonly claimText: string;
  readonly facts: Facts;
  readonly decision: Decision;
}

export function caseOfClause({ guarantee, claim, claimText, facts, decision }: Refutation): AddedCase {
  return {
    name: `${guarantee}: ${claimText}`,
    facts: givenFacts(facts),
    expect: expectationOf(claim, decision),
  };
}

/** The facts without empty values, which are what a test starts with. */
function givenFacts({ satisfied, ...facts }: Facts): JsonObject {
  const met = Object.entries(satisfied).filter(([, rules]) => rules.length > 0);
  const all = requestJson({ ...facts, satisfied: nothingSatisfied });
  // Plain data without `undefined`.
  const plain = JSON.parse(JSON.stringify({ ...all, satisfied: Object.fromEntries(met) })) as JsonObject;
  const isGiven = ([key, value]: [string, Json]): boolean =>
    key === 'payload' || typeof value !== 'object' || Object.keys(value ?? {}).length > 0;
  return Object.fromEntries(Object.entries(plain).filter(isGiven));
}

function expectationOf(claim: GuaranteeClause, { requires, outcome }: Decision): JsonObject {
  // What approvals may stand for is no part of a decision, so the case shows the decision that people see.
  if (claim.effect === 'standing') return { decision: outcome };
  if (claim.effect !== 'ask') {
    const claimed = clauseOutcomes[claim.effect];
    return claim.mode === 'never' ? { not: claimed } : { decision: claimed };
  }
  const others = (requires?.approvals ?? [])
    .filter(
      (approval) =>
        approval.group !== claim.group &&
        !allApprovers(approval).some((one) => 'group' in one && one.group === claim.group),
    )
    .map(({ group, needs }) => ({ group, needs }));
  if (claim.mode === 'always')
    return { requires: { escalate: [...others, { group: claim.group, needs: claim.needs }] } };
  return others.length === 0 ? { not: outcome } : { requires: { escalate: others } };
}
