// Whether an agent is behind a kill switch.

import type { Reply } from './operations.ts';

export type KillSwitch = Reply<'listKillSwitches'>['items'][number];

/**
 * The kill switch that stops every request of the agent, the narrowest first; null for none. A kill switch for an area
 * of actions stops no agent as a whole.
 */
export function killSwitchFor(
  agent: { readonly id: string; readonly risk_tier: unknown },
  killSwitches: readonly KillSwitch[],
): KillSwitch | null {
  const scopes = [`agent:${agent.id}`, `tier:${agent.risk_tier}`, 'all'];
  const stops = scopes.map((scope) => killSwitches.find((one) => one.scope === scope));
  return stops.find((stop) => stop !== undefined) ?? null;
}
