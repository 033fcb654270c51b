// The facts of an agent that policies read, and the test whether a person is its control owner.

import type { AgentFacts } from '../../language/model/request.ts';
import { isNamedBy, type PersonIdentity } from '../../language/model/rule-requirement.ts';
import type { AgentRow } from '../store/contract/records.ts';

/** The facts about an agent that policies can read. */
export function agentFacts(agent: AgentRow): AgentFacts {
  return {
    id: agent.id,
    name: agent.name,
    risk_tier: agent.riskTier,
    control_owner: agent.controlOwner,
    tags: agent.tags,
  };
}

/** Whether the person is the control owner, whom an agent names by address or id. */
export function isControlOwner(person: PersonIdentity, controlOwner: string): boolean {
  return isNamedBy(person, controlOwner);
}
