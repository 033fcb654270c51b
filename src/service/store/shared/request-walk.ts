// How every store looks through its requests for a list: how many, in which order, and by which columns it
// knows their present state.

import type { RequestFilter } from '../contract/store.ts';

/** How many requests are looked through for one page. */
export const lookedThroughMax = 2_000;

/**
 * Requests are numbered when they are stored; the time of a request may differ by this much from those of its
 * neighbours.
 */
export const outOfOrderMs = 60_000;

/**
 * The columns of the present state; they stand beside the state with which the request began, and are null
 * until an event.
 */
export const statusNow = 'coalesce(now_status, status)';
export const endNow = 'coalesce(now_expires_ms, expires_ms)';

/** Whether a grant was given, by policy or by people; for requests that have expired. */
export const wasGranted = `(status IN ('auto_approved', 'approved') OR EXISTS
  (SELECT 1 FROM request_events AS earlier WHERE earlier.request_id = requests.id AND earlier.status = 'approved'))`;

export type RequestWalk = 'agent' | 'status' | 'unanswered' | 'all';

/**
 * Returns the walk of a list: over one agent's requests, over those of one status, over those that may not
 * have been answered, or over all.
 */
export function walkOf({ agentId, status }: RequestFilter): RequestWalk {
  if (agentId !== null) return 'agent';
  switch (status) {
    case null:
    case 'auto_approved':
    case 'expired':
    case 'grant_over':
      // Nearly all requests that are granted at once keep this status until they are over.
      return 'all';
    case 'unanswered':
      return 'unanswered';
    default:
      return 'status';
  }
}

/**
 * The statuses that are walked together for requests without an answer: a wait that is over may still be
 * recorded as pending.
 */
export const unansweredWalks = ['expired', 'pending'].map(
  (status) => `${statusNow} = '${status}' AND ${statusNow} <> 'auto_approved'`,
);

/** Returns SQL that lists requests by number, the latest first, from all parts of a walk together. */
export function walkText(
  parts: readonly string[],
  textOf: (condition: string) => string,
  limit: string,
): string {
  const each = parts.map((part) => `${textOf(part)} ORDER BY sequence DESC LIMIT ${limit}`);
  if (each.length === 1) return each[0] ?? '';
  const all = each.map((text) => `SELECT * FROM (${text}) AS part`).join(' UNION ALL ');
  return `SELECT * FROM (${all}) AS parts ORDER BY sequence DESC LIMIT ${limit}`;
}
