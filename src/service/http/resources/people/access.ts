// How people get access: the first admin by a link, everybody else by an invitation.

import { takeFirstAgent } from '../../../agents/first-agent.ts';
import * as access from '../../../people/access.ts';
import { recordName } from '../../../people/person.ts';
import type { SignInDeps } from '../../../people/sign-in.ts';
import type { PolicyHost } from '../../../policies/policy-host.ts';
import type { Store } from '../../../store/contract/store.ts';
import { invalidBody, notAllowed, notFound } from '../../auth/auth-refusals.ts';
import { attemptByLink, refusal } from '../../auth/credentials.ts';
import { collect, pageOf, pageParameters, pageReply, readPage } from '../../contract/page.ts';
import { ProblemError } from '../../contract/problem.ts';
import { idParameter, noContent, objectSchema, text, textList } from '../../contract/schemas.ts';
import type { AccessEvents } from '../../events/access-messages.ts';
import { actorOf, type Route, route } from '../../routing/route.ts';
import { groupWarnings } from './group-warnings.ts';
import {
  createdInvitationView,
  invitationPreview,
  invitationView,
  invitedExample,
  invitedSchema,
  openInvitationExample,
  openInvitationSchema,
  openInvitationView,
  type RolesBody,
  rolesAndGroups,
} from './invitation-view.ts';
import { personExample, personSchema, personView } from './person-view.ts';

export interface AccessDeps {
  readonly store: Store;
  readonly policies: Pick<PolicyHost, 'current'>;
  readonly signInDeps: SignInDeps;
  /** Sends mail to the people concerned. */
  readonly accessEvents: AccessEvents;
}

const examplePassword = 'correct horse battery';

const createFirstAdmin = route<AccessDeps, { token: string; email: string; name: string; password: string }>({
  method: 'POST',
  url: '/v1/setup',
  access: 'public',
  operation: {
    id: 'createFirstAdmin',
    summary: 'Creates the first admin, once, with the link printed at the first start',
    body: {
      description: '`token` is the last part of the link.',
      schema: objectSchema({ token: text(100), email: text(254), name: text(100), password: text(1024) }),
      examples: { ann: { token: 'AbC', email: 'ann@example.com', name: 'Ann', password: examplePassword } },
    },
    replies: { 201: { description: 'The admin', schema: personSchema, example: personExample } },
    problems: ['link_not_valid', 'too_many_attempts'],
  },
  handle: async (deps, { body, request, reply }) => {
    const { directory } = deps.signInDeps;
    const attempt = attemptByLink(deps.signInDeps, request);
    const { token: secret, ...newcomer } = body;
    const result = await access.setUpFirstAdmin(directory, { secret, ...newcomer });
    if (result.kind === 'no-link') throw linkNotValid();
    attempt.succeeded();
    if (result.kind === 'invalid') throw invalidBody(result);
    if (result.kind === 'wait') throw refusal(result);
    const { person } = result;
    const nowMs = Math.trunc(directory.clock());
    await takeFirstAgent(deps.store, { email: person.email, who: recordName(person), nowMs });
    reply.code(201);
    return personView(person);
  },
});

const listInvitations = route<AccessDeps>({
  method: 'GET',
  url: '/v1/invitations',
  access: 'people.view',
  operation: {
    id: 'listInvitations',
    summary: 'Open invitations, newest first',
    parameters: pageParameters,
    replies: { 200: pageReply('A page of invitations', openInvitationSchema, openInvitationExample) },
  },
  handle: async ({ signInDeps: { directory } }, { query }) => {
    const { countMax, after } = readPage(query);
    const nowMs = directory.clock();
    const storedInvitations = await collect(
      { countMax: countMax + 1, after },
      {
        next: (cursor, count) => directory.invitations.list({ after: cursor, countMax: count }),
        positionOf: ({ value }) => value,
        matches: ({ value }) => access.isOpen(value, nowMs),
      },
    );
    return pageOf(storedInvitations, countMax, openInvitationView);
  },
});

const createInvitation = route<AccessDeps, { email: string; name: string } & RolesBody>({
  method: 'POST',
  url: '/v1/invitations',
  access: 'people.invite',
  operation: {
    id: 'createInvitation',
    summary: 'Invites a person',
    body: {
      description:
        'Only an admin can assign groups and the roles `admin`, `operator` and `approver`, and the first two not with a token. An `approver` needs at least one group. `warnings` lists groups that no active policy uses.',
      schema: objectSchema({ email: text(254), name: text(100), ...rolesAndGroups }, { groups: textList }),
      examples: {
        auditor: { email: 'ada@example.com', name: 'Ada', roles: ['auditor'] },
        approver: { email: 'ben@example.com', name: 'Ben', roles: ['approver'], groups: ['finance'] },
      },
    },
    replies: { 201: invitationView('Invited; `token` is shown only once') },
  },
  handle: async ({ accessEvents, policies, signInDeps: { directory } }, call) => {
    const { groups = [], ...draft } = call.body;
    const result = await access.invite(directory, actorOf(call), { ...draft, groups });
    if (result.kind === 'invalid') throw invalidBody(result);
    if (result.kind === 'not-allowed') throw notAllowed(result.detail);
    accessEvents.invited(result.invitation, result.secret);
    call.reply.code(201);
    return createdInvitationView(result, groupWarnings(groups, policies));
  },
});

const withdrawInvitation = route<AccessDeps>({
  method: 'DELETE',
  url: '/v1/invitations/:id',
  access: 'people.invite',
  operation: {
    id: 'withdrawInvitation',
    summary: 'Withdraws an invitation; its link stops working',
    description:
      'Only an admin can withdraw an invitation with groups or with a role that only an admin can assign.',
    parameters: [idParameter('The id in the list.', openInvitationExample.id)],
    replies: { 204: noContent('Withdrawn') },
    problems: ['not_found'],
  },
  handle: async ({ signInDeps: { directory } }, call) => {
    const result = await access.withdrawInvitation(directory, actorOf(call), call.params.id ?? '');
    if (result.kind === 'not-allowed') throw notAllowed(result.detail);
    if (result.kind === 'unknown') throw notFound('open invitation');
  },
});

const previewInvitation = route<AccessDeps, { token: string }>({
  method: 'POST',
  url: '/v1/invitations/preview',
  access: 'public',
  operation: {
    id: 'previewInvitation',
    summary: 'Shows an invitation without using its link',
    body: {
      description: '`token` is the last part of the link.',
      schema: objectSchema({ token: text(100) }),
      examples: { ben: { token: 'AbC' } },
    },
    replies: {
      200: {
        description: 'The invitation',
        schema: invitedSchema,
        example: invitedExample,
      },
    },
    problems: ['link_not_valid', 'too_many_attempts'],
  },
  handle: async (deps, { body, request }) => {
    const { directory } = deps.signInDeps;
    const attempt = attemptByLink(deps.signInDeps, request);
    const openInvitation = await access.lookAtInvitation(directory, body.token);
    if (openInvitation === null) throw linkNotValid();
    attempt.succeeded();
    return invitationPreview(openInvitation);
  },
});

const acceptInvitation = route<AccessDeps, { token: string; password: string }>({
  method: 'POST',
  url: '/v1/invitations/accept',
  access: 'public',
  operation: {
    id: 'acceptInvitation',
    summary: 'Accepts an invitation and creates the person',
    body: {
      description: '`token` is the last part of the link.',
      schema: objectSchema({ token: text(100), password: text(1024) }),
      examples: { ben: { token: 'AbC', password: examplePassword } },
    },
    replies: { 201: { description: 'The person', schema: personSchema, example: personExample } },
    problems: ['link_not_valid', 'too_many_attempts'],
  },
  handle: async (deps, { body, request, reply }) => {
    const { directory } = deps.signInDeps;
    const attempt = attemptByLink(deps.signInDeps, request);
    const result = await access.acceptInvitation(directory, { secret: body.token, password: body.password });
    if (result.kind === 'no-invitation') throw linkNotValid();
    attempt.succeeded();
    if (result.kind === 'invalid') throw invalidBody(result);
    if (result.kind === 'wait') throw refusal(result);
    reply.code(201);
    return personView(result.person);
  },
});

export const accessRoutes: readonly Route<AccessDeps>[] = [
  createFirstAdmin,
  listInvitations,
  createInvitation,
  withdrawInvitation,
  previewInvitation,
  acceptInvitation,
];

function linkNotValid(): ProblemError {
  return new ProblemError('link_not_valid', 'ask for a new invitation');
}
