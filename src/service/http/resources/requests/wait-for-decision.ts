// Delays the reply to a pending request until people have decided it or the wait is over. INVARIANT: one
// caller takes an approval, and a caller that has lost its access gets no answer.

import type { VoteEvaluator } from '../../../requests/approvals/effective-votes.ts';
import { type RequestView, replyView } from '../../../requests/record/reply.ts';
import { requestStateOf } from '../../../requests/record/request-state.ts';
import type { IdentifyAgain } from '../../auth/identify-agent.ts';
import { callerText } from '../../auth/sent-token.ts';
import type { Answer, AuthorizeCall, AuthorizeHandler } from './authorize-handler.ts';
import type { Wait } from './wait.ts';

export interface PendingDeps {
  readonly authorizeHandler: Pick<AuthorizeHandler, 'take'>;
  readonly identifyAgain: IdentifyAgain;
  /** Counts the votes of requests as of now. */
  readonly evaluateVotes: VoteEvaluator['evaluateVotes'];
  readonly clock: () => number;
}

/** The request as it stands after the wait; `wait` is null when no wait is asked for. */
export async function whilePending(
  deps: PendingDeps,
  { view, input }: Answer,
  { call, wait }: { readonly call: AuthorizeCall; readonly wait: Wait | null },
): Promise<RequestView> {
  if (wait === null || view.status !== 'pending') return view;
  const keyText = callerText(call.headers);
  let { identity } = call;
  const latest = await wait.until(view, {
    requestId: view.request_id,
    view: async (history) => {
      const [state] = await deps.evaluateVotes([requestStateOf(history)]);
      return state === undefined ? null : replyView(state, deps.clock());
    },
    recheck: async () => {
      identity = await deps.identifyAgain(keyText, identity);
    },
  });
  if (latest.status !== 'auto_approved' || !takes(view, input)) return latest;
  return await deps.authorizeHandler.take({ view: latest, input });
}

/**
 * Whether the call takes what people have approved. The call that made the request may leave it to be looked
 * up later, unless it wants a receipt: a grant has one, from when it was taken.
 */
function takes(
  { request_id }: RequestView,
  { isAttaching, receiptFor, requestId }: Answer['input'],
): boolean {
  return isAttaching === true || typeof receiptFor === 'string' || request_id !== requestId;
}
