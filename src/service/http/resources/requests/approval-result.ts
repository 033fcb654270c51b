// Turns requests into replies to the caller: a request as it is now with what the caller may do about it, and
// why something could not be done.

import type { Directory } from '../../../people/directory.ts';
import { createNames, type PersonView } from '../../../people/person-names.ts';
import type {
  ChangeResult,
  RefusedChange,
  RequestSnapshot,
} from '../../../requests/approvals/change-request.ts';
import { closedReason } from '../../../requests/approvals/grant-context.ts';
import { permissionsOf } from '../../../requests/approvals/permissions.ts';
import { isWithin } from '../../../requests/approvals/rights.ts';
import { type AllowedActions, type RequestDetail, requestDetail } from '../../../requests/record/reply.ts';
import type { RequestState } from '../../../requests/record/request-state.ts';
import type { RequestChanges } from '../../../requests/request-changes.ts';
import type { StandingApprovals } from '../../../requests/standing/standing-approvals.ts';
import { notAllowed } from '../../auth/auth-refusals.ts';
import { callerOf } from '../../auth/request-rights.ts';
import { ProblemError } from '../../contract/problem.ts';
import { actorOf, type ManagedCall } from '../../routing/route.ts';
import { withNames } from './name-people.ts';
import { type Reviews, type ReviewView, reviewView } from './reviews.ts';
import { type OfferView, offerView } from './standing-approvals.ts';

/** What a reply about one request is made with. */
export interface DetailDeps {
  readonly signInDeps: { readonly directory: Pick<Directory, 'people' | 'clock'> };
  readonly reviews: Reviews;
  readonly standingApprovals: Pick<StandingApprovals, 'offers'>;
}

/** A request as its readers see it: people also see its review, and who the people in it are. */
export type RequestReply = RequestDetail & {
  readonly people: readonly PersonView[];
  readonly review: ReviewView | null;
  readonly standing_offers: readonly OfferView[] | null;
};

export async function detailOf(
  deps: DetailDeps,
  call: ManagedCall<unknown>,
  changed: ChangeResult,
): Promise<RequestReply> {
  if (changed.kind !== 'changed') throw refused(changed);
  return await detailFor(deps, call, { ...changed, nowMs: deps.signInDeps.directory.clock() });
}

type RequestSource = Pick<RequestSnapshot, 'state' | 'agent' | 'stopped' | 'nowMs'>;

/**
 * A request as a reply, with what the caller may do about it. For an agent, `allowed_actions` is null and no comments are
 * shown.
 */
export async function detailFor(
  deps: DetailDeps,
  call: ManagedCall<unknown>,
  seen: RequestSource,
): Promise<RequestReply> {
  const { state, nowMs } = seen;
  if (call.agent !== null) {
    const noPeople = { comments: [], reminders: [], people: [], review: null, standing_offers: null };
    return { ...requestDetail(state, nowMs), ...noPeople };
  }
  const [about] = await aboutRequests(deps, [state]);
  const detail = requestDetail(state, nowMs, mayFor(call, seen));
  const named = await withNames(deps.signInDeps.directory, detail);
  return { ...named, ...about!, standing_offers: deps.standingApprovals.offers(state).map(offerView) };
}

interface AboutRequest {
  readonly people: readonly PersonView[];
  readonly review: ReviewView;
}

/** The people and the review of each request, in the order of the requests. */
export async function aboutRequests(
  { signInDeps, reviews }: Pick<DetailDeps, 'signInDeps' | 'reviews'>,
  states: readonly RequestState[],
): Promise<readonly AboutRequest[]> {
  const stateReviews = await reviews.of(states);
  const nameOf = createNames(signInDeps.directory);
  return await Promise.all(
    states.map(async (state) => {
      const people = await Promise.all(peopleIn(state).map(nameOf));
      const distinct = new Map(people.flatMap((one) => (one === null ? [] : [[one.id, one]])));
      // Each state has its review.
      return {
        people: [...distinct.values()],
        review: await reviewView(state, stateReviews.get(state.record.id)!),
      };
    }),
  );
}

/** The ids of the people who have acted on the request, and the id or address of the control owner. */
function peopleIn({ votes, comments, stepUps, record }: RequestState): readonly string[] {
  const ids = [...votes, ...comments, ...stepUps].map(({ person }) => person);
  return [...new Set([...ids, record.agent.control_owner ?? ''])];
}

export function mayFor(
  call: ManagedCall<unknown>,
  { state, agent, stopped, nowMs }: RequestSource,
): AllowedActions {
  return permissionsOf(state, { caller: callerOf(actorOf(call)), agent, stopped, nowMs });
}

/** The request, when the caller may see it; null when it does not exist or the caller may not see it. */
export async function findVisible(
  requestChanges: Pick<RequestChanges, 'snapshot'>,
  call: ManagedCall<unknown>,
  id: string,
): Promise<RequestSnapshot | null> {
  const snapshot = await requestChanges.snapshot(id);
  return snapshot !== null && isVisibleTo(call, snapshot) ? snapshot : null;
}

/**
 * The request, when the caller is asked or is the agent's control owner, or when it no longer waits. Throws a
 * ProblemError when the caller may not see it, or when it waits for others.
 */
export async function findAnswerable(
  requestChanges: Pick<RequestChanges, 'snapshot'>,
  call: ManagedCall<unknown>,
  id: string,
): Promise<RequestSnapshot> {
  const snapshot = await findVisible(requestChanges, call, id);
  if (snapshot === null) throw requestNotFound();
  const isTheirs = overOf(snapshot) !== null || mayFor(call, snapshot).comment;
  if (!isTheirs) throw notAllowed('neither you nor your groups are asked');
  return snapshot;
}

/** Like `findAnswerable`, for a pending request; throws a ProblemError when it does not. */
export async function findPending(
  requestChanges: Pick<RequestChanges, 'snapshot'>,
  call: ManagedCall<unknown>,
  id: string,
): Promise<RequestSnapshot> {
  const snapshot = await findAnswerable(requestChanges, call, id);
  const over = overOf(snapshot);
  if (over !== null) throw refused(over);
  return snapshot;
}

/** Why the request no longer needs anybody; null while it waits. */
export function overOf({ state, nowMs }: RequestSnapshot): RefusedChange | null {
  return closedReason(state, 'reject', nowMs);
}

/** Whether the caller may see the request. */
export function isVisibleTo(call: ManagedCall<unknown>, { state, agent }: RequestSnapshot): boolean {
  if (call.agent !== null) return call.agent.id === state.record.agentId;
  const caller = callerOf(actorOf(call));
  return isWithin(caller.view, { person: caller, state, agent });
}

export function refused(result: RefusedChange): ProblemError {
  switch (result.kind) {
    case 'unknown':
      return requestNotFound();
    case 'conflict':
      return new ProblemError('conflict', result.detail);
    case 'not-allowed':
      return notAllowed(result.detail);
    case 'stopped':
      return new ProblemError('stopped', result.detail);
    case 'invalid-result': {
      const errors = result.issues.map(({ pointer, message }) => ({
        pointer: `/result${pointer}`,
        detail: message,
      }));
      return new ProblemError('invalid_body', 'the result does not match the declared shape', { errors });
    }
    case 'which-group': {
      const detail = `name the group in \`group\`: ${result.groups.map((group) => `\`${group}\``).join(', ')}`;
      return new ProblemError('invalid_body', detail, { errors: [{ pointer: '/group', detail }] });
    }
  }
}

export function requestNotFound(): ProblemError {
  return new ProblemError('request_not_found', 'no such request, or you may not see it');
}
