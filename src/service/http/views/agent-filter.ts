// Which agents a list holds, and which one an address means. INVARIANT: an owner meets their own agents alone, others are
// not there for them.

import { riskTiers } from '../../../language/model/request.ts';
import { isControlOwner } from '../../agents/control-owner.ts';
import { type AgentRow, agentStatuses } from '../../store/contract/records.ts';
import type { Store } from '../../store/contract/store.ts';
import { notFound } from '../calls/refusals.ts';
import type { ManagedCall } from '../calls/route.ts';
import { type Parameter, queryParameter } from '../contract/operation.ts';
import { text } from '../contract/schemas.ts';

export const agentFilters: readonly Parameter[] = [
  queryParameter('status', 'How it stands.', { type: 'string', enum: agentStatuses }, 'active'),
  queryParameter('tier', 'Its risk tier.', { type: 'string', enum: riskTiers }, 'high'),
  queryParameter('owner', 'Its control owner.', text(400), 'ann@example.com'),
  queryParameter(
    'text',
    'Words in its name, id, control owner or tags, in whatever case.',
    text(200),
    'buyer',
  ),
];

export function isAskedFor(query: ManagedCall<unknown>['query'], agent: AgentRow): boolean {
  const { status = agent.status, tier = agent.riskTier, owner = agent.controlOwner, text = '' } = query;
  const words = [agent.name, agent.id, agent.controlOwner, ...agent.tags];
  return (
    agent.status === status &&
    agent.riskTier === tier &&
    agent.controlOwner.toLowerCase() === owner.toLowerCase() &&
    words.some((word) => word.toLowerCase().includes(text.toLowerCase()))
  );
}

/** Whether the caller may do this with the agent: with any, or with those in their charge. */
export function isAgentOf({ reach, actor }: ManagedCall<unknown>, { controlOwner }: AgentRow): boolean {
  return reach.all || (reach.own && actor !== null && isControlOwner(actor.person, controlOwner));
}

/** The agent that the address names; an owner meets their own alone. */
export async function agentOf(store: Store, call: ManagedCall<unknown>): Promise<AgentRow> {
  const { id = '' } = call.params;
  const found = await store.agents.find(id);
  if (found === null || found.id !== id || !isAgentOf(call, found)) throw notFound('agent');
  return found;
}
