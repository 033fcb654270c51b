// The agent that the first start registers, before anybody can answer for it. The first admin then becomes
// its control owner.

import type { Store } from '../store/contract/store.ts';
import { describeAgent, newAgent } from './registry.ts';

export const firstAgentName = 'first-agent';
/** The control owner until there is a first admin; nobody's address. */
const nobodysAddress = 'owner@localhost';

/**
 * Returns a function that registers the first agent where there is no agent yet, and returns its key; null when
 * there were agents before. It may run again after it has rejected: however the write before has ended, there
 * is one agent, and its key is returned.
 */
export function createFirstAgent(store: Store, nowMs: number = Date.now()): () => Promise<string | null> {
  const draft = { name: firstAgentName, riskTier: 'low', controlOwner: nobodysAddress, tags: [] };
  const created = newAgent(draft, nowMs);
  if (created.kind === 'invalid') throw new Error('the draft of the first agent is invalid');
  const { agent, key, apiKey } = created;
  return async () => {
    const isEmpty = (await store.agents.list()).length === 0;
    if (isEmpty && (await store.agents.add(agent, key)) === 'added') return apiKey;
    return (await store.agents.find(agent.id)) === null ? null : apiKey;
  };
}

/** Whether there is a first agent whose key nobody has used yet: it may have been lost before it was read. */
export async function isFirstKeyUnused({ agents }: Store): Promise<boolean> {
  const agent = await agents.find(firstAgentName);
  if (agent?.status !== 'active') return false;
  return (await agents.keys(agent.id)).every(({ lastUsedAtMs }) => lastUsedAtMs === null);
}

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
