// How every store walks its requests for a list: how far, which walk, and how a request stands now in its columns.

import type { RequestFilter } from '../contract/store.ts';

/** Requests that are looked through for one page. */
export const lookedThroughMax = 2_000;

/** Requests are numbered as they are stored, and made up to so much earlier or later than their neighbours. */
export const outOfOrderMs = 60_000;

/** What has become of a request stands beside what it began as. */
export const statusNow = 'coalesce(now_status, status)';
export const endNow = 'coalesce(now_expires_ms, expires_ms)';

/** A grant was given, by policy or by people; for requests that have expired. */
export const wasGranted = `(status IN ('auto_approved', 'approved') OR EXISTS
  (SELECT 1 FROM request_events AS earlier WHERE earlier.request_id = requests.id AND earlier.status = 'approved'))`;

export type RequestWalk = 'agent' | 'status' | 'unanswered' | 'all';

/** The walk of a list: of one agent, of one status, of those that may not have been answered, or of all. */
export function walkOf({ agentId, status }: RequestFilter): RequestWalk {
  if (agentId !== null) return 'agent';
  switch (status) {
    case null:
    case 'auto_approved':
    case 'expired':
    case 'grant_over':
      // Nearly all that are granted at once stand so until they are over.
      return 'all';
    case 'unanswered':
      return 'unanswered';
    default:
      return 'status';
  }
}

/** The statuses that are walked together for those without an answer: one that is over may still be on record as waiting. */
export const unansweredWalks = ['expired', 'pending'].map(
  (status) => `${statusNow} = '${status}' AND ${statusNow} <> 'auto_approved'`,
);

/** Requests by their numbers, the latest first, out of all parts of a walk. */
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
