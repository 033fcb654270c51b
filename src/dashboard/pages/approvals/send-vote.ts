// Sends one person's vote on one of several requests and returns the result. INVARIANT: each vote is a call
// of its own, judged by itself.

import { call } from '../../api/client.ts';
import { ApiProblem, isCutOff } from '../../api/problem.ts';
import type { VoteKind } from './draft.ts';

export interface VoteResult {
  /** `lost`: the request can no longer be decided in this way; `open`: the vote can be sent again. */
  readonly kind: 'done' | 'lost' | 'not allowed' | 'open';
  readonly words: string;
  /** Whether the service cannot be reached, so that further votes would fail too. */
  readonly isCutOff: boolean;
}

interface SentVote {
  readonly id: string;
  readonly vote: VoteKind;
  readonly comment: string;
  /** The group that the person votes for; null leaves the choice to the service. */
  readonly group: string | null;
}

/** Never rejects. */
export async function sendVote({ id, vote, comment, group }: SentVote): Promise<VoteResult> {
  const options = { params: { id }, body: { comment, ...(group === null ? {} : { group }) } };
  try {
    const { status } = await (vote === 'approve'
      ? call('approveRequest', options)
      : call('rejectRequest', options));
    return { kind: 'done', words: doneWords(vote, status), isCutOff: false };
  } catch (error) {
    if (error instanceof ApiProblem) return resultOf(error);
    return { kind: 'open', words: `Not sent: ${String(error)}`, isCutOff: false };
  }
}

function doneWords(vote: VoteKind, status: string): string {
  if (vote === 'reject') return 'Rejected';
  if (status === 'pending') return 'Your approval is recorded; waiting for others';
  return status === 'rejected' ? 'The active policies refuse it' : 'Approved';
}

function resultOf(problem: ApiProblem): VoteResult {
  const { message, status, title } = problem;
  if (isCutOff(problem)) return { kind: 'open', words: `${title}: ${message}`, isCutOff: true };
  if (status === 409) return { kind: 'lost', words: `Not recorded: ${message}`, isCutOff: false };
  if (status === 403 || status === 404)
    return { kind: 'not allowed', words: `No longer allowed: ${message}`, isCutOff: false };
  return { kind: 'open', words: `${title}: ${message}`, isCutOff: false };
}
