// Decides which agents a list holds, and which agent an address names. INVARIANT: an owner finds only their
// own agents; for them no others exist.

import { riskTiers } from '../../../../language/model/request.ts';
import { isControlOwner } from '../../../agents/agent-facts.ts';
import { type AgentRow, agentStatuses } from '../../../store/contract/records.ts';
import type { Store } from '../../../store/contract/store.ts';
import { notFound } from '../../auth/auth-refusals.ts';
import { type Parameter, queryParameter } from '../../contract/operation.ts';
import { text } from '../../contract/schemas.ts';
import type { ManagedCall } from '../../routing/route.ts';

export const agentFilters: readonly Parameter[] = [
  queryParameter('status', 'The status of the agent.', { type: 'string', enum: agentStatuses }, 'active'),
  queryParameter('tier', 'The risk tier of the agent.', { type: 'string', enum: riskTiers }, 'high'),
  queryParameter('owner', 'The control owner of the agent.', text(400), 'ann@example.com'),
  queryParameter(
    'text',
    'Words in the name, id, control owner or tags, not case-sensitive.',
    text(200),
    'buyer',
  ),
];

export function matchesAgentFilter(query: ManagedCall<unknown>['query'], agent: AgentRow): boolean {
  const { status = agent.status, tier = agent.riskTier, owner = agent.controlOwner, text = '' } = query;
  const words = [agent.name, agent.id, agent.controlOwner, ...agent.tags];
  return (
    agent.status === status &&
    agent.riskTier === tier &&
    agent.controlOwner.toLowerCase() === owner.toLowerCase() &&
    words.some((word) => word.toLowerCase().includes(text.toLowerCase()))
  );
}

/** Whether the caller may do this with the agent: with any agent, or with one in their charge. */
export function isAgentOf({ scope, actor }: ManagedCall<unknown>, { controlOwner }: AgentRow): boolean {
  return scope.all || (scope.own && actor !== null && isControlOwner(actor.person, controlOwner));
}

/**
 * The agent that the address names; throws a ProblemError (404) when there is none, or when an owner may not
 * see it.
 */
export async function agentOf(store: Store, call: ManagedCall<unknown>): Promise<AgentRow> {
  const { id = '' } = call.params;
  const agent = await store.agents.find(id);
  if (agent === null || agent.id !== id || !isAgentOf(call, agent)) throw notFound('agent');
  return agent;
}
