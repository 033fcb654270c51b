// Whose a request is: what came by an enforcement point is that point's, and what an agent asked by itself is the agent's.

import type { ActingPoint } from '../../agents/points/point.ts';
import type { AgentRow } from '../../store/contract/records.ts';
import type { RequestPoint } from './record.ts';

/** Who calls with a key: an agent, or an enforcement point for it. */
export interface AgentCaller {
  readonly agent: AgentRow;
  readonly point?: ActingPoint;
}

/** Whether the request is this caller's own. */
export function hasAsked(
  { agent, point }: AgentCaller,
  { agentId, point: by }: { readonly agentId: string; readonly point?: RequestPoint },
): boolean {
  return agent.id === agentId && point?.id === by?.id;
}
