// How every store walks its requests for a list: how far, which walk, and how a request stands now in its columns.

import type { RequestFilter } from '../contract/store.ts';

/** Requests that are looked through for one page. */
export const lookedThroughMax = 2_000;

/** Requests are numbered as they are stored, and made up to so much earlier or later than their neighbours. */
export const outOfOrderMs = 60_000;

/** What has become of a request stands beside what it began as. */
export const statusNow = 'coalesce(now_status, status)';
export const endNow = 'coalesce(now_expires_ms, expires_ms)';

/** The walk of a list: of one agent, of one status, or of all. */
export function walkOf({ agentId, status }: RequestFilter): 'agent' | 'status' | 'all' {
  if (agentId !== null) return 'agent';
  // Nearly all that are granted at once stand so until they are over.
  return status === null || status === 'auto_approved' || status === 'expired' ? 'all' : 'status';
}
