// Approvals: the queue of those who may give them, and their votes on a request. A GET never decides.

import type { SignInDeps } from '../../../people/sign-in.ts';
import type { Changed, Seen } from '../../../requests/approvals/change-request.ts';
import type { VoteDraft } from '../../../requests/approvals/give-vote.ts';
import { hasApproved } from '../../../requests/approvals/votes-now.ts';
import type { Decisions } from '../../../requests/decisions.ts';
import { requestSummary } from '../../../requests/record/reply.ts';
import { requestStateOf } from '../../../requests/record/request-state.ts';
import type { Store } from '../../../store/contract/store.ts';
import { callerOf } from '../../calls/people-now.ts';
import { actorOf, type ManagedCall, type Route, route } from '../../calls/route.ts';
import {
  collect,
  cursorOf,
  type PagePlace,
  pageParameters,
  pageReply,
  readPage,
} from '../../contract/page.ts';
import { objectSchema, text } from '../../contract/schemas.ts';
import { detailOf, mayFor } from '../../views/decided.ts';
import { detailExample, detailSchema, queuedExample, queuedSchema } from '../../views/request.ts';
import { requestId } from './requests.ts';

interface ApprovalDeps {
  readonly signInDeps: SignInDeps;
  readonly store: Store;
  readonly decisions: Decisions;
}

interface VoteBody {
  readonly comment: string;
  readonly group?: string;
}

const commentLengthMax = 2_000;

const replies = {
  200: { description: 'The request as it is now', schema: detailSchema, example: detailExample },
};

const body = {
  description: '`group` is needed where several that the person belongs to are asked.',
  schema: objectSchema({ comment: text(commentLengthMax) }, { group: text(100) }),
  examples: { fine: { comment: 'checked with the vendor', group: 'finance' } },
};

const listApprovals = route<ApprovalDeps>({
  method: 'GET',
  url: '/v1/approvals',
  access: 'requests.approve',
  operation: {
    id: 'listApprovals',
    summary:
      'Requests that wait for the caller, the nearest deadline first: for an approval, or for a step-up',
    description:
      "Those that ask one of the caller's groups, or the control owner where that is the caller. Those that the caller has approved are left out, unless the approval counts no more, since the policies or the caller have changed. `requires.fell_away` names approvals that count no more, and `may` says what the caller can do.",
    parameters: pageParameters,
    replies: { 200: pageReply('A page of requests', queuedSchema, queuedExample) },
  },
  handle: async (
    {
      store,
      decisions,
      signInDeps: {
        directory: { clock },
      },
    },
    call,
  ) => {
    const { countMax, after } = readPage(call.query);
    const actor = actorOf(call);
    const { groups, asOwner } = callerOf(actor).approve;
    const asked = { groups, owner: asOwner ? { id: actor.person.id, email: actor.person.email } : null };
    const nowMs = Math.trunc(clock());
    const found = await collect(
      { countMax: countMax + 1, after },
      {
        next: async (place, count) => {
          const from = place === null ? null : { expiresAtMs: place.createdAtMs, id: place.id };
          const waiting = await store.requests.waiting({ asked, nowMs, after: from, countMax: count });
          return await decisions.lookAll(waiting.map(requestStateOf));
        },
        placeOf,
        matches: ({ state }) => !hasApproved(state, actor.person.id),
      },
    );
    const shown = found.slice(0, countMax);
    const last = found.length > countMax ? shown.at(-1) : undefined;
    return {
      items: shown.map((seen) => ({
        ...requestSummary(seen.state, seen.nowMs),
        may: mayFor(call, seen),
      })),
      next_cursor: last === undefined ? null : cursorOf(placeOf(last)),
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
      'A person counts once. Once the group has given what is asked of it the request is decided again, by the policies and facts of now.',
    parameters: [requestId],
    body,
    replies,
    problems: ['request_not_found', 'conflict', 'stopped'],
  },
  handle: (deps, call) => give(deps, call, deps.decisions.approve),
});

const rejectRequest = route<ApprovalDeps, VoteBody>({
  method: 'POST',
  url: '/v1/requests/:id/reject',
  access: 'requests.reject',
  operation: {
    id: 'rejectRequest',
    summary: 'Rejects a request, for good',
    description:
      "One rejection is enough: by one of a group that is asked, by the agent's control owner, or an admin.",
    parameters: [requestId],
    replies,
    body: { ...body, examples: { no: { comment: 'we do not know this vendor' } } },
    problems: ['request_not_found', 'conflict'],
  },
  handle: (deps, call) => give(deps, call, deps.decisions.reject),
});

export const approvalRoutes: readonly Route<ApprovalDeps>[] = [listApprovals, approveRequest, rejectRequest];

/** The queue goes by deadlines. */
function placeOf({ state: { expiresAtMs, record } }: Pick<Seen, 'state'>): PagePlace {
  return { createdAtMs: expiresAtMs, id: record.id };
}

async function give(
  { signInDeps }: ApprovalDeps,
  call: ManagedCall<VoteBody>,
  decide: (id: string, draft: VoteDraft) => Promise<Changed>,
): Promise<unknown> {
  const id = call.params.id ?? '';
  const { comment, group = null } = call.body;
  const draft = { caller: callerOf(actorOf(call)), group, comment };
  return detailOf(await decide(id, draft), call, signInDeps.directory.clock());
}
