// Routes for sharing the work on pending requests: an admin or approver assigns a request to one of the
// people asked, or a person snoozes it for themselves. INVARIANT: neither decides anything or prevents
// anybody from deciding, and both end when the request is no longer pending.

import { isoTime } from '../../../../language/value/iso-time.ts';
import { isControlOwner } from '../../../agents/agent-facts.ts';
import type { Actor } from '../../../people/person.ts';
import type { SignInDeps } from '../../../people/sign-in.ts';
import { allAbsentPeople } from '../../../people/stand-ins.ts';
import type { RequestSnapshot } from '../../../requests/approvals/change-request.ts';
import { hasApproved } from '../../../requests/approvals/effective-votes.ts';
import { answersFor, approvalsOf, votersOf } from '../../../requests/approvals/rights.ts';
import { assign, assignmentOf, unassign } from '../../../requests/inbox/assignments.ts';
import { snooze, snoozeLeavesMs, snoozesOf, unsnooze } from '../../../requests/inbox/snoozes.ts';
import { recordTitle } from '../../../requests/record/record.ts';
import type { RequestChanges } from '../../../requests/request-changes.ts';
import type { Store } from '../../../store/contract/store.ts';
import { conflict, invalidBody } from '../../auth/auth-refusals.ts';
import { callerOf, withAbsentPeople } from '../../auth/request-rights.ts';
import { noContent, objectSchema, text, time } from '../../contract/schemas.ts';
import { activePeople } from '../../events/access-messages.ts';
import type { AssignmentEvents } from '../../events/assignment-messages.ts';
import { actorOf, type Route, route } from '../../routing/route.ts';
import { findAnswerable, findPending, overOf } from './approval-result.ts';
import { marksShape, marksView, noMarks } from './inbox-marks.ts';
import { requestId } from './requests.ts';

interface InboxActionDeps {
  readonly signInDeps: Pick<SignInDeps, 'directory'>;
  readonly store: Store;
  readonly requestChanges: Pick<RequestChanges, 'snapshot'>;
  readonly assignmentEvents: AssignmentEvents;
}

const getRequestAssignment = route<InboxActionDeps>({
  method: 'GET',
  url: '/v1/requests/:id/assignment',
  access: 'requests.reject',
  operation: {
    id: 'getRequestAssignment',
    summary: 'The assignee of a pending request, and the people who can be assigned',
    description:
      "For approvers of the request and the agent's control owner. Empty if the request is no longer pending.",
    parameters: [requestId],
    replies: {
      200: {
        description:
          'The assignment. `people` can still approve the request or step up for it; sorted by name',
        schema: objectSchema({
          ...marksShape,
          people: {
            type: 'array',
            items: objectSchema({ id: text(100), name: text(200), is_you: { type: 'boolean' } }),
          },
        }),
        example: {
          ...noMarks,
          people: [{ id: 'b3f1c2d4-0000-4000-8000-000000000000', name: 'Ben', is_you: false }],
        },
      },
    },
    problems: ['request_not_found'],
  },
  handle: async (deps, call) => {
    const seen = await findAnswerable(deps.requestChanges, call, call.params.id ?? '');
    if (overOf(seen) !== null) return { ...noMarks, people: [] };
    const { id } = seen.state.record;
    const own = actorOf(call).person.id;
    const { documents } = deps.store;
    const assigned = await assignmentOf(documents, id);
    const marks = {
      assignments: new Map(assigned === null ? [] : [[id, assigned]]),
      snoozes: await snoozesOf(documents, own, Math.trunc(seen.nowMs)),
    };
    const { directory } = deps.signInDeps;
    const absent = await allAbsentPeople(directory);
    const people = (await activePeople(directory)).filter((person) =>
      isAsked({ person, roles: person.roles, standsInFor: absent.get(person.id) ?? [] }, seen),
    );
    return {
      ...marksView(marks, seen, own),
      people: people
        .map((person) => ({ id: person.id, name: person.name, is_you: person.id === own }))
        .sort((one, other) => one.name.localeCompare(other.name)),
    };
  },
});

const assignRequest = route<InboxActionDeps, { readonly person: string }>({
  method: 'POST',
  url: '/v1/requests/:id/assignment',
  access: 'requests.reject',
  operation: {
    id: 'assignRequest',
    summary: 'Assigns a pending request to a person, who is notified by mail',
    description:
      "For approvers of the request and the agent's control owner. The assignee must be able to approve the request or step up for it; others can still decide it. An assignment is not part of the record.",
    parameters: [requestId],
    body: {
      description: 'The id of the person, as `GET /v1/requests/{id}/assignment` lists them.',
      schema: objectSchema({ person: text(100) }),
      examples: { ben: { person: 'b3f1c2d4-0000-4000-8000-000000000000' } },
    },
    replies: { 204: noContent('Assigned') },
    problems: ['request_not_found', 'conflict'],
  },
  handle: async ({ requestChanges, store, signInDeps, assignmentEvents }, call) => {
    const seen = await findPending(requestChanges, call, call.params.id ?? '');
    const found = (await signInDeps.directory.people.find(call.body.person))?.value;
    const isActive = found?.status === 'active';
    const asked =
      isActive && (await withAbsentPeople(signInDeps.directory, { person: found, roles: found.roles }));
    if (!asked || found === undefined || !isAsked(asked, seen))
      throw invalidBody({
        kind: 'invalid',
        problems: [{ field: 'person', detail: 'this person cannot approve the request, or already has' }],
      });
    const { record, expiresAtMs } = seen.state;
    const by = actorOf(call).person;
    await assign(store.documents, {
      id: record.id,
      toId: found.id,
      toName: found.name,
      byName: by.name,
      createdAtMs: Math.trunc(seen.nowMs),
      endsAtMs: expiresAtMs,
    });
    const { id: requestId, actionKey } = record;
    if (found.id !== by.id)
      assignmentEvents.assigned({ requestId, actionKey, title: recordTitle(record) }, found, by);
  },
});

const unassignRequest = route<InboxActionDeps>({
  method: 'DELETE',
  url: '/v1/requests/:id/assignment',
  access: 'requests.reject',
  operation: {
    id: 'unassignRequest',
    summary: 'Removes the assignment of a request',
    parameters: [requestId],
    replies: { 204: noContent('Unassigned') },
    problems: ['request_not_found'],
  },
  handle: async ({ requestChanges, store }, call) => {
    const { state } = await findAnswerable(requestChanges, call, call.params.id ?? '');
    await unassign(store.documents, state.record.id);
  },
});

const snoozeRequest = route<InboxActionDeps, { readonly until: string }>({
  method: 'POST',
  url: '/v1/requests/:id/snooze',
  access: 'requests.reject',
  operation: {
    id: 'snoozeRequest',
    summary: "Hides a request from the caller's inbox until a given time or until the request changes",
    description: `For approvers of the request and the agent's control owner. The request comes back at the latest ${snoozeLeavesMs / 60_000} minutes before its deadline, and stays in the inboxes of others. A snooze is not part of the record.`,
    parameters: [requestId],
    body: {
      description: 'A future time; RFC 3339.',
      schema: objectSchema({ until: time }),
      examples: { noon: { until: '2026-03-02T12:00:00Z' } },
    },
    replies: { 204: noContent('Snoozed') },
    problems: ['request_not_found', 'conflict'],
  },
  handle: async ({ requestChanges, store }, call) => {
    const { state, nowMs } = await findPending(requestChanges, call, call.params.id ?? '');
    const result = await snooze(store.documents, {
      personId: actorOf(call).person.id,
      requestId: state.record.id,
      seen: state.seen,
      createdAtMs: Math.trunc(nowMs),
      endsAtMs: readUntil(call.body.until, { nowMs, latestMs: state.expiresAtMs - snoozeLeavesMs }),
    });
    if (result === 'too-many')
      throw conflict('you have reached the limit of snoozed requests: decide some first');
  },
});

const unsnoozeRequest = route<InboxActionDeps>({
  method: 'DELETE',
  url: '/v1/requests/:id/snooze',
  access: 'requests.reject',
  operation: {
    id: 'unsnoozeRequest',
    summary: "Ends the caller's snooze of a request",
    description: 'If the request is not snoozed, nothing changes.',
    parameters: [requestId],
    replies: { 204: noContent('No longer snoozed') },
    problems: ['request_not_found'],
  },
  handle: async ({ requestChanges, store }, call) => {
    const { state } = await findAnswerable(requestChanges, call, call.params.id ?? '');
    await unsnooze(store.documents, actorOf(call).person.id, state.record.id);
  },
});

export const inboxActionRoutes: readonly Route<InboxActionDeps>[] = [
  getRequestAssignment,
  assignRequest,
  unassignRequest,
  snoozeRequest,
  unsnoozeRequest,
];

/**
 * Whether the person can still approve the request for a group or as the control owner, or step up for it.
 */
function isAsked(actor: Actor, { state, agent }: RequestSnapshot): boolean {
  const { person } = actor;
  const caller = callerOf(actor);
  const isOwner = isControlOwner(person, agent.controlOwner);
  const groups = votersOf(caller).flatMap((voter) =>
    answersFor(approvalsOf(state.decision), voter.approve, { ...voter, isOwner }),
  );
  const stepsUp = isOwner && caller.stepUp.own && state.decision.requires?.reauth != null;
  return stepsUp || (groups.length > 0 && !hasApproved(state, person.id));
}

function readUntil(
  until: string,
  { nowMs, latestMs }: { readonly nowMs: number; readonly latestMs: number },
): number {
  const atMs = Date.parse(until);
  const detail =
    latestMs <= nowMs
      ? 'the deadline is too close to snooze the request'
      : !(atMs > nowMs)
        ? '`until` must be in the future'
        : atMs > latestMs
          ? `\`until\` must not be later than ${isoTime(latestMs)}, which leaves time to decide`
          : null;
  if (detail === null) return atMs;
  throw invalidBody({ kind: 'invalid', problems: [{ field: 'until', detail }] });
}
