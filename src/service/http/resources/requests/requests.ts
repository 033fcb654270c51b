// /v1/requests: requests as they are now, for the agents that made them and for people by their roles.
// `Prefer: wait=N` holds the answer while a request is pending. INVARIANT: the reply is the same for a
// request that the caller may not see and for a request that does not exist.

import type { FastifyRequest } from 'fastify';
import type { SignInDeps } from '../../../people/sign-in.ts';
import type { VoteEvaluator } from '../../../requests/approvals/effective-votes.ts';
import { requestSummary } from '../../../requests/record/reply.ts';
import { requestStateOf } from '../../../requests/record/request-state.ts';
import type { RequestChanges } from '../../../requests/request-changes.ts';
import type { StandingApprovals } from '../../../requests/standing/standing-approvals.ts';
import type { RequestHistory, Store } from '../../../store/contract/store.ts';
import type { IdentifyAgain } from '../../auth/identify-agent.ts';
import { currentActor } from '../../auth/identify-person.ts';
import { callerText } from '../../auth/sent-token.ts';
import type { OperationReply } from '../../contract/operation.ts';
import { cursorOf, pageParameters, pageReply, readPage } from '../../contract/page.ts';
import { ProblemError } from '../../contract/problem.ts';
import { idParameter } from '../../contract/schemas.ts';
import { actorOf, callerIn, type ManagedCall, type Route, route } from '../../routing/route.ts';
import { detailFor, detailOf, isVisibleTo, type RequestReply, requestNotFound } from './approval-result.ts';
import { readRequestFilter, requestFilters } from './request-filter.ts';
import { detailExample, detailSchema, summaryExample, summarySchema } from './request-view.ts';
import type { Reviews } from './reviews.ts';
import { preferHeader, type Waits } from './wait.ts';

interface RequestDeps {
  readonly signInDeps: SignInDeps;
  readonly store: Store;
  readonly requestChanges: RequestChanges;
  /** Counts the votes of listed requests as of now. */
  readonly evaluateVotes: VoteEvaluator['evaluateVotes'];
  readonly identifyAgain: IdentifyAgain;
  readonly waits: Waits;
  readonly reviews: Reviews;
  readonly standingApprovals: StandingApprovals;
}

export const requestId = idParameter('The `request_id` of the reply.', detailExample.request_id);

const requestPageReply = pageReply('A page of requests', summarySchema, summaryExample);
const searchedPage: OperationReply = {
  ...requestPageReply,
  schema: {
    ...requestPageReply.schema,
    required: ['items', 'next_cursor', 'unsearched'],
    properties: {
      ...(requestPageReply.schema?.properties as object),
      unsearched: {
        type: 'integer',
        minimum: 0,
        description:
          'The maximum number of records that are not searched yet; 0 if all records were searched.',
      },
    },
  },
  example: { items: [summaryExample], next_cursor: null, unsearched: 0 },
};

const listRequests = route<RequestDeps>({
  method: 'GET',
  url: '/v1/requests',
  access: 'requests.view',
  operation: {
    id: 'listRequests',
    summary: 'Requests, newest first',
    description:
      'One page searches a fixed number of requests. With a narrow filter it can have fewer items than `limit`, or none; `next_cursor` continues the search. `text` uses a search index. While the index of older records is being built, `unsearched` is the number of records that are not in it yet.',
    parameters: [...pageParameters, ...requestFilters],
    replies: { 200: searchedPage },
  },
  handle: async (
    {
      store,
      evaluateVotes,
      signInDeps: {
        directory: { clock },
      },
    },
    call,
  ) => {
    const { countMax, after } = readPage(call.query);
    const filter = await readRequestFilter(store, call, clock());
    const position = after === null ? null : { sequence: after.createdAtMs };
    const {
      items: found,
      next,
      unsearched,
    } = await store.requests.list({ ...filter, countMax, after: position });
    return {
      items: (await evaluateVotes(found.map(requestStateOf))).map((state) => requestSummary(state, clock())),
      next_cursor: next === null ? null : cursorOf({ createdAtMs: next.sequence, id: 'record' }),
      unsearched,
    };
  },
});

const countRequests = route<RequestDeps>({
  method: 'GET',
  url: '/v1/requests/count',
  access: 'requests.view',
  operation: {
    id: 'countRequests',
    summary: 'Counts requests',
    description:
      'Takes the filters of the list. Counting stops after a short time and returns the number so far.',
    parameters: requestFilters,
    replies: {
      200: {
        description: 'The count',
        schema: {
          type: 'object',
          required: ['count', 'is_complete'],
          additionalProperties: false,
          properties: {
            count: { type: 'integer', minimum: 0 },
            is_complete: { type: 'boolean', description: 'False if there may be more.' },
          },
        },
        example: { count: 412, is_complete: true },
      },
    },
  },
  handle: async ({ store, signInDeps }, call) => {
    const asked = await readRequestFilter(store, call, signInDeps.directory.clock());
    const { count, isWhole } = await store.requests.count(asked);
    return { count, is_complete: isWhole };
  },
});

const getRequest = route<RequestDeps>({
  method: 'GET',
  url: '/v1/requests/:id',
  access: 'requests.view',
  isForAgents: true,
  operation: {
    id: 'getRequest',
    summary: 'The current state of a request, with its reasons',
    description:
      'For the agent that sent the request, with its key, and for people. The reply for a request of another agent is the same as for a missing request.',
    parameters: [requestId, preferHeader],
    replies: {
      200: {
        description: 'The request',
        schema: detailSchema,
        example: detailExample,
        headers: ['RateLimit-Policy', 'RateLimit', 'X-Agent-API-Key-Expires', 'Preference-Applied'],
      },
    },
    problems: ['request_not_found', 'too_many_waits'],
  },
  handle: async (deps, call) => {
    const requestId = call.params.id ?? '';
    const view = (history: RequestHistory) => viewFor(deps, call, history);
    const requestView = await viewFor(deps, call, await deps.store.requests.history(requestId));
    if (requestView === null) throw requestNotFound();
    const wait = deps.waits.begin(call, call.agent?.id ?? actorOf(call).person.id);
    if (wait === null) return requestView;
    return await wait.until(requestView, { requestId, view, recheck: recheckOf(deps, call) });
  },
});

const withdrawRequest = route<RequestDeps>({
  method: 'POST',
  url: '/v1/requests/:id/withdraw',
  access: 'agent',
  operation: {
    id: 'withdrawRequest',
    summary: 'Withdraws a pending request of the agent',
    description:
      'Nobody can approve a withdrawn request. Withdrawing it again changes nothing. People reject requests instead.',
    parameters: [requestId],
    replies: {
      200: {
        description: 'The request',
        schema: detailSchema,
        example: detailExample,
        headers: ['RateLimit-Policy', 'RateLimit', 'X-Agent-API-Key-Expires'],
      },
    },
    problems: ['request_not_found', 'conflict'],
  },
  handle: async (deps, call) =>
    await detailOf(deps, call, await deps.requestChanges.withdraw(call.params.id ?? '', callerIn(call))),
});

export const requestRoutes: readonly Route<RequestDeps>[] = [
  listRequests,
  countRequests,
  getRequest,
  withdrawRequest,
];

/** The request as the caller may see it; null when it does not exist, or the caller may not see it. */
async function viewFor(
  deps: RequestDeps,
  call: ManagedCall<unknown>,
  history: RequestHistory | null,
): Promise<RequestReply | null> {
  const [seen] = history === null ? [] : await deps.requestChanges.snapshots([requestStateOf(history)]);
  return seen !== undefined && isVisibleTo(call, seen) ? await detailFor(deps, call, seen) : null;
}

/** The returned function throws or rejects when the caller may no longer ask. */
function recheckOf(deps: RequestDeps, { request, agent }: ManagedCall<unknown>): () => unknown {
  let { identity } = request;
  return async () => {
    if (agent === null || identity === null) return await checkStillIn(deps, request);
    identity = await deps.identifyAgain(callerText(request.headers), identity);
  };
}

async function checkStillIn({ signInDeps }: RequestDeps, request: FastifyRequest): Promise<void> {
  if ((await currentActor(signInDeps, request)) === null)
    throw new ProblemError('not_signed_in', 'the session or token has ended during the wait');
}
