// Finds the policy sets that a record names: those by which its request was decided, decided again, or taken.

import type { ChainEntry } from '../store/contract/chain.ts';

/** Returns the digests of the sets; none for a record that no policies decided, or that somebody has changed. */
export function decidingSets({
  kind,
  what,
  record_json: record,
  detail_json: detail,
}: ChainEntry): readonly string[] {
  if (kind === 'request') return digestAt(record, 'policySet', 'digest');
  if (kind === 'event' && what === 'decided') return digestAt(detail, 'policySet', 'digest');
  return kind === 'event' && what === 'taken' ? digestAt(detail, 'call', 'policySet') : [];
}

function digestAt(text: unknown, ...steps: readonly string[]): readonly string[] {
  let value = parsed(text);
  for (const step of steps)
    value = typeof value === 'object' && value !== null ? (value as Record<string, unknown>)[step] : null;
  return typeof value === 'string' && /^[0-9a-f]{64}$/.test(value) ? [value] : [];
}

function parsed(text: unknown): unknown {
  try {
    return JSON.parse(String(text)) as unknown;
  } catch {
    return null;
  }
}
