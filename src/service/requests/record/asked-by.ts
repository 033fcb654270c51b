// Who owns a request: the enforcement point that sent it, or the agent if it sent the request itself.

import type { ActingPoint } from '../../agents/points/point.ts';
import type { AgentRow } from '../../store/contract/records.ts';
import type { RequestPoint } from './record.ts';

/** The caller that a key belongs to: an agent, or an enforcement point that acts for it. */
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
