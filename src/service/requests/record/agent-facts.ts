// An agent of the registry into the facts that policies may use.

import type { AgentFacts } from '../../../language/model/request.ts';
import type { AgentRow } from '../../store/contract/records.ts';

export function agentFacts(agent: AgentRow): AgentFacts {
  return {
    id: agent.id,
    name: agent.name,
    risk_tier: agent.riskTier,
    control_owner: agent.controlOwner,
    tags: agent.tags,
  };
}
