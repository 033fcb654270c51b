// Approvals: the inbox of people who may give them, and their votes and comments on a request. A GET never
// decides.

import type { SignInDeps } from '../../../people/sign-in.ts';
import type { ChangeResult, RequestSnapshot } from '../../../requests/approvals/change-request.ts';
import type { VoteDraft } from '../../../requests/approvals/give-vote.ts';
import type { StandingChoice } from '../../../requests/approvals/standing-vote.ts';
import { type CommentKind, commentKinds } from '../../../requests/record/request-state.ts';
import type { RequestChanges } from '../../../requests/request-changes.ts';
import type { StandingApprovals } from '../../../requests/standing/standing-approvals.ts';
import type { Store } from '../../../store/contract/store.ts';
import { callerOf } from '../../auth/request-rights.ts';
import { cursorOf, pageParameters, readPage } from '../../contract/page.ts';
import { objectSchema, text, time } from '../../contract/schemas.ts';
import { actorOf, type ManagedCall, type Route, route } from '../../routing/route.ts';
import { detailOf, mayFor } from './approval-result.ts';
import { identityOf, queuedViews } from './inbox-entries.ts';
import { queueParameters, readInboxQuery, readQueue } from './inbox-queue.ts';
import { detailExample, detailSchema, queuedExample, queuedSchema } from './request-view.ts';
import { requestId } from './requests.ts';
import type { Reviews } from './reviews.ts';

interface ApprovalDeps {
  readonly signInDeps: SignInDeps;
  readonly store: Store;
  readonly requestChanges: RequestChanges;
  readonly reviews: Reviews;
  readonly standingApprovals: StandingApprovals;
}

interface VoteBody {
  readonly comment: string;
  readonly group?: string;
  readonly standing?: { readonly until?: string; readonly times?: number };
}

const commentLengthMax = 2_000;

const replies = {
  200: { description: 'The current state of the request', schema: detailSchema, example: detailExample },
};

const body = {
  description: "`group` is required if approvals of several of the person's groups are needed.",
  schema: objectSchema({ comment: text(commentLengthMax) }, { group: text(100) }),
  examples: { fine: { comment: 'checked with the vendor', group: 'finance' } },
};

const approvalBody = {
  description: `${body.description} \`standing\` makes the approval serve later requests of the agent with equal keys, as far as a rule has a \`standing\` clause; without it, the approval is for this request only. \`until\` and \`times\` may be less than the clause says, and never more.`,
  schema: objectSchema(
    { comment: text(commentLengthMax) },
    { group: text(100), standing: objectSchema({}, { until: time, times: { type: 'integer', minimum: 1 } }) },
  ),
  examples: {
    ...body.examples,
    standing: { comment: 'known vendor', standing: { until: '2026-03-02T18:00:00Z', times: 10 } },
  },
};

const listApprovals = route<ApprovalDeps>({
  method: 'GET',
  url: '/v1/approvals',
  access: 'requests.approve',
  operation: {
    id: 'listApprovals',
    summary:
      'Pending requests that the caller can approve or step up for; by default, questions first, then by deadline',
    description:
      "Includes requests for the caller's groups, and for the control owner if that is the caller. Requests that the caller has approved are left out unless the approval no longer counts, because the policies or the caller have changed. Requests that ask the caller, but that the caller cannot decide, are left out unless `decidable` is `no`; `allowed_actions.reason` says why. Snoozed requests are left out unless `snoozed` is given. `requires.invalidated` lists approvals that no longer count, `allowed_actions` what the caller can do, and `question` an unanswered question.",
    parameters: [...pageParameters, ...queueParameters],
    replies: {
      200: {
        description: 'A page of requests, and the total count',
        schema: objectSchema({
          items: { type: 'array', items: queuedSchema },
          next_cursor: { type: ['string', 'null'] },
          count: { type: 'integer', minimum: 0 },
        }),
        example: { items: [queuedExample], next_cursor: null, count: 1 },
      },
    },
  },
  handle: async (deps, call) => {
    const { store, requestChanges, signInDeps } = deps;
    const page = readPage(call.query);
    const inboxQuery = readInboxQuery(call.query);
    const { id, email } = actorOf(call).person;
    const person = {
      id,
      email,
      identity: identityOf(call),
      canDecide: (seen: RequestSnapshot) => {
        const { approve, step_up } = mayFor(call, seen);
        return approve.length > 0 || step_up;
      },
      nowMs: Math.trunc(signInDeps.directory.clock()),
    };
    const { shown, next, count, marks } = await readQueue(
      { store, requestChanges },
      inboxQuery,
      person,
      page,
    );
    return {
      items: await queuedViews(deps, call, { seen: shown, marks }),
      next_cursor: next === null ? null : cursorOf(next),
      count,
    };
  },
});

const approveRequest = route<ApprovalDeps, VoteBody>({
  method: 'POST',
  url: '/v1/requests/:id/approve',
  access: 'requests.approve',
  operation: {
    id: 'approveRequest',
    summary: "Approves a request for one of the person's groups, or as the control owner of its agent",
    description:
      'Each person counts once. When the required approvals of the group are given, the request is decided again with the active policies and facts.',
    parameters: [requestId],
    body: approvalBody,
    replies,
    problems: ['request_not_found', 'conflict', 'stopped'],
  },
  handle: (deps, call) => give(deps, call, deps.requestChanges.approve),
});

const rejectRequest = route<ApprovalDeps, VoteBody>({
  method: 'POST',
  url: '/v1/requests/:id/reject',
  access: 'requests.reject',
  operation: {
    id: 'rejectRequest',
    summary: 'Rejects a request permanently',
    description:
      "One rejection is enough: by a member of a required group, by the agent's control owner, or by an admin.",
    parameters: [requestId],
    replies,
    body: { ...body, examples: { no: { comment: 'we do not know this vendor' } } },
    problems: ['request_not_found', 'conflict'],
  },
  handle: (deps, call) => give(deps, call, deps.requestChanges.reject),
});

const revokeApproval = route<ApprovalDeps>({
  method: 'POST',
  url: '/v1/requests/:id/revoke-approval',
  access: 'requests.approve',
  operation: {
    id: 'revokeApproval',
    summary: "Revokes the caller's approval while the request is pending",
    description: 'A granted or rejected request does not change. The caller can approve again.',
    parameters: [requestId],
    replies,
    problems: ['request_not_found', 'conflict'],
  },
  handle: async (deps, call) =>
    await detailOf(
      deps,
      call,
      await deps.requestChanges.revokeVote(call.params.id ?? '', callerOf(actorOf(call))),
    ),
});

const addComment = route<ApprovalDeps, { readonly kind: CommentKind; readonly text: string }>({
  method: 'POST',
  url: '/v1/requests/:id/comments',
  access: 'requests.reject',
  operation: {
    id: 'addComment',
    summary: 'Adds a comment to a pending request',
    description:
      "For approvers of the request and the agent's control owner. A `question` is for the control owner, an `answer` for the people with questions. Agents do not see comments.",
    parameters: [requestId],
    body: {
      description: 'The text must have at least one character.',
      schema: objectSchema({
        kind: { type: 'string', enum: commentKinds },
        text: { ...text(commentLengthMax), minLength: 1 },
      }),
      examples: { asks: { kind: 'question', text: 'which project is this for?' } },
    },
    replies,
    problems: ['request_not_found', 'conflict'],
  },
  handle: async (deps, call) => {
    const draft = { caller: callerOf(actorOf(call)), ...call.body };
    return await detailOf(deps, call, await deps.requestChanges.comment(call.params.id ?? '', draft));
  },
});

export const approvalRoutes: readonly Route<ApprovalDeps>[] = [
  listApprovals,
  approveRequest,
  rejectRequest,
  revokeApproval,
  addComment,
];

/** The choice of a vote; null when the approval is for its request only. */
function choiceOf(standing: VoteBody['standing']): StandingChoice | null {
  if (standing === undefined) return null;
  const { until, times = null } = standing;
  return { untilMs: until === undefined ? null : Date.parse(until), times };
}

async function give(
  deps: ApprovalDeps,
  call: ManagedCall<VoteBody>,
  decide: (id: string, draft: VoteDraft) => Promise<ChangeResult>,
): Promise<unknown> {
  const id = call.params.id ?? '';
  const { comment, group = null, standing } = call.body;
  const draft = { caller: callerOf(actorOf(call)), group, comment, standing: choiceOf(standing) };
  return await detailOf(deps, call, await decide(id, draft));
}
