// What all kinds of records have in common, read from an entry of the chain.

import type { ChainEntry } from '../store/contract/chain.ts';

/** Returns when the recorded thing happened, in milliseconds since 1970-01-01T00:00Z. */
export function timeOf(entry: ChainEntry): number {
  return Number(entry[entry.kind === 'request' ? 'created_ms' : 'at_ms']);
}

/**
 * Returns the name by which people find an entry: its id or, for a change or an event, what was done and the
 * id of the agent or request.
 */
export function nameOf(entry: ChainEntry): string {
  switch (entry.kind) {
    case 'request':
    case 'refusal':
      return String(entry.id);
    case 'change':
      return `${entry.what} ${entry.subject}`.trim();
    case 'event':
      return `${entry.what} ${entry.request_id}`;
    case 'knot':
      return 'knot';
  }
}
