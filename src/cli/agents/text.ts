// Turns agents and their keys into tables and JSON. INVARIANT: the output contains no secret, not even a
// sealed one.

import { type KillSwitch, killSwitchFor } from '../../api/applicable-kill-switch.ts';
import { isoTime } from '../../language/value/iso-time.ts';
import type { AgentRow, KeyRow } from '../../service/store/contract/records.ts';
import { localTime } from '../output/local-time.ts';
import { table } from '../output/table.ts';

export interface AgentView {
  readonly id: string;
  readonly name: string;
  readonly risk_tier: string;
  readonly control_owner: string;
  readonly tags: readonly string[];
  readonly status: string;
  readonly signing: string;
  /** Requests per minute; null when the service's default for all agents applies. */
  readonly rate_per_minute: number | null;
  readonly burst: number | null;
  /** Whether refusals tell the agent what change would pass. */
  readonly refusal_hints: boolean;
  readonly created_at: string;
}

export interface KeyView {
  readonly id: string;
  readonly created_at: string;
  readonly not_after: string | null;
  readonly last_used: string | null;
}

export function agentJson(agent: AgentRow): AgentView {
  const { id, name, riskTier, controlOwner, tags, status, signing, createdAtMs } = agent;
  const { ratePerMinute, burst, tellsChange } = agent;
  return {
    id,
    name,
    risk_tier: riskTier,
    control_owner: controlOwner,
    tags,
    status,
    signing,
    rate_per_minute: ratePerMinute,
    burst,
    refusal_hints: tellsChange,
    created_at: isoTime(createdAtMs),
  };
}

export function keyJson({ id, createdAtMs, notAfterMs, lastUsedAtMs }: KeyRow): KeyView {
  return {
    id,
    created_at: isoTime(createdAtMs),
    not_after: notAfterMs === null ? null : isoTime(notAfterMs),
    last_used: lastUsedAtMs === null ? null : isoTime(lastUsedAtMs),
  };
}

/** An active agent behind a kill switch has the status `stopped`. */
export function agentTable(agents: readonly AgentView[], killSwitches: readonly KillSwitch[]): string {
  return table(
    ['name', 'tier', 'control owner', 'status', 'signing', 'rate', 'tags', 'id'],
    agents.map((agent) => [
      ...[agent.name, agent.risk_tier, agent.control_owner, statusOf(agent, killSwitches)],
      ...[agent.signing, rateText(agent)],
      ...[agent.tags.join(' ') || '-', agent.id],
    ]),
  );
}

function statusOf(agent: AgentView, killSwitches: readonly KillSwitch[]): string {
  const isStopped = agent.status === 'active' && killSwitchFor(agent, killSwitches) !== null;
  return isStopped ? 'stopped' : agent.status;
}

/** Requests per minute, then requests at once: `600/min,100`. A dash is the service's default. */
export function rateText({ rate_per_minute: rate, burst }: AgentView): string {
  return rate === null && burst === null ? '-' : `${rate ?? '-'}/min,${burst ?? '-'}`;
}

export function keyTable(keys: readonly KeyView[], nowMs: number): string {
  return table(
    ['key', 'made', 'last used', 'valid until'],
    keys.map(({ id, created_at, last_used, not_after: ends }) => [
      ...[`writ_${id}...`, localTime(created_at), last_used === null ? 'never' : localTime(last_used)],
      ends === null ? '-' : Date.parse(ends) <= nowMs ? 'ended' : localTime(ends),
    ]),
  );
}
