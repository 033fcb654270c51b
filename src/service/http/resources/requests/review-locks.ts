// Claims: who is looking at a request that waits. Those whom the request asks take claims and give them back;
// everybody who may see the request sees its claims. INVARIANT: a person who has approved holds no claim, and
// a request that no longer waits has none.

import { isoTime } from '../../../../language/value/iso-time.ts';
import type { SignInDeps } from '../../../people/sign-in.ts';
import { hasApproved } from '../../../requests/approvals/effective-votes.ts';
import {
  acquireReviewLock,
  type ReviewLock,
  releaseReviewLock,
  reviewLockMs,
  reviewLocksAt,
} from '../../../requests/inbox/review-locks.ts';
import { requestStateOf } from '../../../requests/record/request-state.ts';
import type { RequestChanges } from '../../../requests/request-changes.ts';
import type { Store } from '../../../store/contract/store.ts';
import { callerOf } from '../../auth/request-rights.ts';
import { listReply, noContent, objectSchema, text, time } from '../../contract/schemas.ts';
import { actorOf, type ManagedCall, type Route, route } from '../../routing/route.ts';
import { findAnswerable, findPending, isVisibleTo, overOf } from './approval-result.ts';
import { requestId } from './requests.ts';

interface ReviewLockDeps {
  readonly signInDeps: Pick<SignInDeps, 'directory'>;
  readonly store: Store;
  readonly requestChanges: Pick<RequestChanges, 'snapshot' | 'snapshots'>;
}

const reviewLockSchema = objectSchema({
  request_id: text(100),
  by: { ...text(400), description: "The person's name, as in the record." },
  name: text(200),
  is_own: { type: 'boolean', description: 'Whether the caller holds the lock.' },
  since: time,
  until: { ...time, description: 'When the lock ends, unless it is renewed.' },
});

const reviewLockExample = {
  request_id: requestId.example,
  by: 'ana@example.com (6e2f3c0a-9d6e-4b8e-8a0f-1f3f6f0c9a11)',
  name: 'Ana',
  is_own: false,
  since: '2026-03-02T10:00:00.000Z',
  until: '2026-03-02T10:10:00.000Z',
};

const listReviewLocks = route<ReviewLockDeps>({
  method: 'GET',
  url: '/v1/review-locks',
  access: 'requests.view',
  operation: {
    id: 'listReviewLocks',
    summary: 'Review locks: who is viewing which pending request, newest first',
    description: 'Only for requests that the caller may see.',
    replies: { 200: listReply('The active review locks', reviewLockSchema, reviewLockExample) },
  },
  handle: async ({ store, requestChanges, signInDeps: { directory } }, call) => {
    const claims = await reviewLocksAt(store.documents, directory.clock());
    const ids = [...new Set(claims.map((claim) => claim.requestId))];
    const histories = await Promise.all(ids.map((id) => store.requests.history(id)));
    const states = histories.flatMap((history) => (history === null ? [] : [requestStateOf(history)]));
    const seen = (await requestChanges.snapshots(states)).filter(
      (one) => isVisibleTo(call, one) && overOf(one) === null,
    );
    const stateOf = new Map(seen.map(({ state }) => [state.record.id, state]));
    const isShown = ({ requestId: id, id: personId }: ReviewLock): boolean => {
      const state = stateOf.get(id);
      return state !== undefined && !hasApproved(state, personId);
    };
    return { items: claims.filter(isShown).map((claim) => reviewLockView(claim, call)) };
  },
});

const lockRequest = route<ReviewLockDeps>({
  method: 'POST',
  url: '/v1/requests/:id/review-lock',
  access: 'requests.reject',
  operation: {
    id: 'lockRequest',
    summary: "Sets or renews the caller's review lock on a pending request",
    description: `For approvers of the request and the agent's control owner. Others see the lock and can still decide. Each person has at most one lock, which ends after ${reviewLockMs / 60_000} minutes unless it is renewed. A lock is not part of the record.`,
    parameters: [requestId],
    replies: {
      200: { description: 'The review lock', schema: reviewLockSchema, example: reviewLockExample },
    },
    problems: ['request_not_found', 'conflict'],
  },
  handle: async ({ store, requestChanges }, call) => {
    const id = call.params.id ?? '';
    const seen = await findPending(requestChanges, call, id);
    const { name } = actorOf(call).person;
    const { id: personId, who } = callerOf(actorOf(call));
    const claimant = { id: personId, who, name, nowMs: Math.trunc(seen.nowMs) };
    return reviewLockView(await acquireReviewLock(store.documents, id, claimant), call);
  },
});

const releaseRequest = route<ReviewLockDeps>({
  method: 'DELETE',
  url: '/v1/requests/:id/review-lock',
  access: 'requests.reject',
  operation: {
    id: 'releaseRequest',
    summary: "Releases the caller's review lock on a request",
    description: 'Without a lock, nothing changes.',
    parameters: [requestId],
    replies: { 204: noContent('Released') },
    problems: ['request_not_found'],
  },
  handle: async ({ store, requestChanges }, call) => {
    const id = call.params.id ?? '';
    await findAnswerable(requestChanges, call, id);
    await releaseReviewLock(store.documents, id, actorOf(call).person.id);
  },
});

export const reviewLockRoutes: readonly Route<ReviewLockDeps>[] = [
  listReviewLocks,
  lockRequest,
  releaseRequest,
];

function reviewLockView(
  { id, requestId, by, name, createdAtMs, endsAtMs }: ReviewLock,
  call: ManagedCall<unknown>,
) {
  return {
    request_id: requestId,
    by,
    name,
    is_own: id === actorOf(call).person.id,
    since: isoTime(createdAtMs),
    until: isoTime(endsAtMs),
  };
}
