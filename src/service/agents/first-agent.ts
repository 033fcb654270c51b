// The agent that the first start registers, before anybody can answer for it. The first admin then becomes
// its control owner.

import type { Store } from '../store/contract/store.ts';
import { describeAgent } from './registry.ts';

export const firstAgentName = 'first-agent';
/** The control owner until there is a first admin; nobody's address. */
export const nobodysAddress = 'owner@localhost';

interface FirstOwner {
  readonly email: string;
  /** The person's name in the record. */
  readonly who: string;
  readonly nowMs: number;
}

/**
 * Makes the person control owner of the first agent. Does nothing when there is no such agent, or when
 * somebody already answers for it.
 */
export async function takeFirstAgent(store: Store, { email, who, nowMs }: FirstOwner): Promise<void> {
  const agent = await store.agents.find(firstAgentName);
  if (agent?.controlOwner !== nobodysAddress) return;
  await describeAgent(store, { agentId: agent.id, nowMs, who, controlOwner: email });
}
