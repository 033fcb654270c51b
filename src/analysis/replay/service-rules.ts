// The service's own rules that a replay follows, and the form of a policy set that replay tries.

import type { LinkedFunctions } from '../../language/emit/link.ts';
import type { PolicySet } from '../../language/model/policy.ts';
import { isControlOwner } from '../../service/agents/agent-facts.ts';
import { rulesWithRequirement } from '../../service/policies/set-summary.ts';
import { deadlineOf } from '../../service/requests/approvals/decide-again.ts';
import { validSeconds } from '../../service/requests/record/lifecycle.ts';
import type { ReplayCandidate, ServiceRules } from './engine/candidate.ts';

export const serviceRules: ServiceRules = { validSeconds, deadlineAgain: deadlineOf, isControlOwner };

export function candidateOf(set: PolicySet, engine: LinkedFunctions): ReplayCandidate {
  const asks = new Map(
    set.policies.flatMap(rulesWithRequirement).map((requirement) => [requirement.rule, requirement]),
  );
  return { ...engine, asks };
}
