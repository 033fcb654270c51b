// Requests as entries of the inbox, with what the caller may do about each.

import type { SignInDeps } from '../../../people/sign-in.ts';
import type { RequestSnapshot } from '../../../requests/approvals/change-request.ts';
import { groupsOfCaller } from '../../../requests/approvals/rights.ts';
import { requestSummary } from '../../../requests/record/reply.ts';
import { requestDigest } from '../../../requests/record/vote-scope.ts';
import type { ApproverIdentity } from '../../../store/contract/control-owner-group.ts';
import { callerOf } from '../../auth/request-rights.ts';
import { actorOf, type ManagedCall } from '../../routing/route.ts';
import { aboutRequests, mayFor } from './approval-result.ts';
import { type InboxMarks, marksView } from './inbox-marks.ts';
import { unansweredQuestion } from './inbox-queue.ts';
import { withNames } from './name-people.ts';
import type { Reviews } from './reviews.ts';

interface QueuedDeps {
  readonly signInDeps: SignInDeps;
  readonly reviews: Reviews;
}

/** The person as requests ask them: their groups, and themselves as a control owner. */
export function identityOf(call: ManagedCall<unknown>): ApproverIdentity {
  const actor = actorOf(call);
  const caller = callerOf(actor);
  const { asOwner } = caller.approve;
  const { id, email } = actor.person;
  return { groups: groupsOfCaller(caller), owner: asOwner ? { id, email } : null };
}

export async function queuedViews(
  deps: QueuedDeps,
  call: ManagedCall<unknown>,
  { seen, marks }: { readonly seen: readonly RequestSnapshot[]; readonly marks: InboxMarks },
) {
  const { directory } = deps.signInDeps;
  const about = await aboutRequests(
    deps,
    seen.map(({ state }) => state),
  );
  const identity = identityOf(call);
  return await Promise.all(
    seen.map(async (one, index) => ({
      ...(await withNames(directory, requestSummary(one.state, one.nowMs))),
      digest: requestDigest(one.state.record),
      allowed_actions: mayFor(call, one),
      question: unansweredQuestion(one, identity),
      ...marksView(marks, one, actorOf(call).person.id),
      ...about[index]!,
    })),
  );
}
