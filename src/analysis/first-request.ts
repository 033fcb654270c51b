// Finds a request that the active policies escalate, as a first example. The request refutes the claim that
// there is none, so the definition itself escalates it.

import type { Claim, PolicySet } from '../language/model/policy.ts';
import { decideClaims } from '../reasoning/prove/prove.ts';
import type { GivenRequest } from './questions.ts';
import { givenRequestOf } from './request-input.ts';

/** Actions with more rules take too long to prove for an example. */
const rulesMax = 500;
const actionsMax = 10;

/** Returns null when no rule asks for approvals, or when none of the actions tried has such a request. */
export function escalatedRequest(set: PolicySet): GivenRequest | null {
  const escalating = set.policies.flatMap(({ actions, rules }) => {
    const rule = rules.find(({ requirement, isShadow }) => requirement?.kind === 'approval' && !isShadow);
    return rule === undefined ? [] : actions.map((action) => ({ action, span: rule.span }));
  });
  for (const { action, span } of escalating.slice(0, actionsMax)) {
    if (rulesOf(set, action) > rulesMax) continue;
    const claim: Claim = { mode: 'never', effect: 'escalate', isUnapproved: true, when: null, span };
    const verdict = decideClaims(set, action, [claim]).get(claim);
    const request = verdict?.kind === 'refuted' ? givenRequestOf(verdict.facts, set) : null;
    if (request !== null) return request;
  }
  return null;
}

function rulesOf({ policies }: PolicySet, action: string): number {
  return policies.reduce((sum, { actions, rules }) => sum + (actions.includes(action) ? rules.length : 0), 0);
}
