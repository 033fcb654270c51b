// The agent that the first start registers, before there is anybody who could answer for it; the first admin then does.

import type { Store } from '../store/contract/store.ts';
import { describeAgent } from './registry.ts';

export const firstAgentName = 'first-agent';
/** The address of nobody, who is the control owner until there is a first admin. */
export const nobodysAddress = 'owner@localhost';

interface FirstOwner {
  readonly email: string;
  /** As the record names the person. */
  readonly who: string;
  readonly nowMs: number;
}

/** Makes the person its control owner; nothing where there is no such agent, or somebody answers for it. */
export async function takeFirstAgent(store: Store, { email, who, nowMs }: FirstOwner): Promise<void> {
  const agent = await store.agents.find(firstAgentName);
  if (agent?.controlOwner !== nobodysAddress) return;
  await describeAgent(store, { agentId: agent.id, nowMs, who, controlOwner: email });
}
