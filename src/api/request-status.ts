// The words for the statuses of requests, the same in the dashboard and on the command line.

const words: Readonly<Record<string, string>> = {
  auto_approved: 'Approved by policy',
  approved: 'Approved',
  rejected: 'Rejected',
  pending: 'Pending',
  expired: 'Unanswered',
  grant_over: 'Grant over',
  consumed: 'Used',
  withdrawn: 'Withdrawn',
};

/**
 * The word for a status of the API. `decision` tells an expired grant from a request that nobody answered. A status
 * without a word is its own word.
 */
export function requestStatusText(status: string, decision?: string): string {
  const isGrantOver = status === 'expired' && decision === 'ALLOW';
  return words[isGrantOver ? 'grant_over' : status] ?? status;
}
