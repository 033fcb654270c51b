// What all kinds of records have in common, read out of an entry of the chain.

import type { ChainEntry } from '../store/chain.ts';

/** When it happened, in milliseconds since 1970-01-01T00:00Z. */
export function timeOf(entry: ChainEntry): number {
  return Number(entry[entry.kind === 'request' ? 'created_ms' : 'at_ms']);
}

/** By what people find it: the id of a request or a refusal; of a change, what was done and the agent's id. */
export function nameOf(entry: ChainEntry): string {
  return entry.kind === 'change' ? `${entry.what} ${entry.subject}`.trim() : String(entry.id);
}
