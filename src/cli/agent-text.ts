// Agents and their keys into what a person or a program reads of them. INVARIANT: nothing secret is in it, sealed or not.

import type { AgentRow, KeyRow } from '../store/records.ts';

export function agentJson(agent: AgentRow): object {
  const { id, name, riskTier, controlOwner, tags, status, signing, createdAtMs } = agent;
  return {
    ...{ id, name, risk_tier: riskTier, control_owner: controlOwner, tags, status, signing },
    created_at: timeText(createdAtMs),
  };
}

export function keyJson({ id, createdAtMs, notAfterMs, lastUsedAtMs }: KeyRow): object {
  return {
    id,
    created_at: timeText(createdAtMs),
    not_after: notAfterMs === null ? null : timeText(notAfterMs),
    last_used: lastUsedAtMs === null ? null : timeText(lastUsedAtMs),
  };
}

export function agentTable(agents: readonly AgentRow[]): string {
  return table([
    ['NAME', 'TIER', 'OWNER', 'STATUS', 'SIGNING', 'TAGS', 'ID'],
    ...agents.map(({ name, riskTier, controlOwner, status, signing, tags, id }) => [
      ...[name, riskTier, controlOwner, status, signing, tags.join(' ') || '-', id],
    ]),
  ]);
}

export function keyTable(keys: readonly KeyRow[], nowMs: number): string {
  return table([
    ['KEY', 'MADE', 'LAST USED', 'ENDS'],
    ...keys.map(({ id, createdAtMs, lastUsedAtMs, notAfterMs }) => [
      `writ_${id}...`,
      timeText(createdAtMs),
      lastUsedAtMs === null ? 'never' : timeText(lastUsedAtMs),
      notAfterMs === null ? '-' : notAfterMs <= nowMs ? 'ended' : timeText(notAfterMs),
    ]),
  ]);
}

function table(rows: readonly (readonly string[])[]): string {
  const widths = rows[0]?.map((_, column) => Math.max(...rows.map((row) => row[column]?.length ?? 0))) ?? [];
  const line = (row: readonly string[]) =>
    row
      .map((cell, column) => cell.padEnd(widths[column] ?? 0))
      .join('  ')
      .trimEnd();
  return rows.map((row) => `${line(row)}\n`).join('');
}

export function timeText(ms: number): string {
  return new Date(ms).toISOString();
}
