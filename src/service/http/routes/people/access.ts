// How people come in over HTTP: the first admin, invitations, applications for access.

import type { FastifyInstance, FastifyRequest } from 'fastify';
import {
  acceptInvitation,
  apply,
  declineApplication,
  grantApplication,
  type Invited,
  invite,
  isOpen,
  setUpFirstAdmin,
  withdrawInvitation,
} from '../../../people/access.ts';
import type { Reservation } from '../../../people/attempts.ts';
import { reserveApplication, reserveUnguessable } from '../../../people/guesses.ts';
import { type Role, roles } from '../../../people/operations.ts';
import type { Application, Invitation } from '../../../people/person.ts';
import type { SignInDeps } from '../../../people/sign-in.ts';
import { refusal, reserved } from '../../calls/credentials.ts';
import { actorOf, conflict, invalidBody, manage, notAllowed, notFound } from '../../calls/manage.ts';
import type { AccessNews } from '../../changes/news.ts';
import type { JsonSchema } from '../../contract/operation.ts';
import { collect, pageOf, pageParameters, pageReply, readPage } from '../../contract/page.ts';
import { ProblemError } from '../../contract/problem.ts';
import {
  idParameter,
  noContent,
  objectSchema,
  text,
  textList,
  textOrNull,
  time,
  timeOrNull,
  timeText,
  timeTextOrNull,
} from '../../contract/schemas.ts';
import { personExample, personSchema, shownPersonReply } from '../../views/person.ts';

export interface AccessRouteOptions {
  readonly signInDeps: SignInDeps;
  /** Hears of who is to be told. */
  readonly accessNews: AccessNews;
}

interface RolesBody {
  readonly roles: readonly Role[];
  readonly groups?: readonly string[];
}

export async function accessRoutes(app: FastifyInstance, options: AccessRouteOptions): Promise<void> {
  const { signInDeps: deps, accessNews } = options;
  const { directory, attempts } = deps;

  /** An attempt by a link; throws where it has to wait. */
  function attemptByLink({ clientAddress: address }: FastifyRequest): Reservation {
    return reserved(reserveUnguessable(attempts, { what: 'link', address }, directory.clock()));
  }

  manage<{ token: string; email: string; name: string; password: string }>(app, deps, {
    method: 'POST',
    url: '/v1/setup',
    access: 'public',
    operation: {
      id: 'setUp',
      summary: 'Makes the first admin, once, by the link that the first start prints',
      body: {
        description: '`token` is the end of the link.',
        schema: objectSchema({ token: text(100), email: text(254), name: text(100), password: text(1024) }),
        examples: { ann: { token: 'AbC', email: 'ann@example.com', name: 'Ann', password: examplePassword } },
      },
      replies: { 201: { description: 'The admin', schema: personSchema, example: personExample } },
      problems: ['link_not_valid', 'too_many_attempts'],
    },
    handle: async ({ body, request, reply }) => {
      const attempt = attemptByLink(request);
      const { token: secret, ...newcomer } = body;
      const result = await setUpFirstAdmin(directory, { secret, ...newcomer });
      if (result.kind === 'no-link') throw linkNotValid();
      attempt.succeeded();
      if (result.kind === 'invalid') throw invalidBody(result);
      if (result.kind === 'wait') throw refusal(result);
      reply.code(201);
      return shownPersonReply(result.person);
    },
  });

  manage(app, deps, {
    method: 'GET',
    url: '/v1/invitations',
    access: 'people.view',
    operation: {
      id: 'listInvitations',
      summary: 'Invitations whose link is still good, the latest first',
      parameters: pageParameters,
      replies: { 200: pageReply('A page of invitations', openInvitationSchema, openInvitationExample) },
    },
    handle: async ({ query }) => {
      const { countMax, after } = readPage(query);
      const nowMs = directory.clock();
      const found = await collect(
        { countMax: countMax + 1, after },
        {
          next: (place, count) => directory.invitations.list({ after: place, countMax: count }),
          placeOf: ({ value }) => value,
          matches: ({ value }) => isOpen(value, nowMs),
        },
      );
      return pageOf(found, countMax, shownOpenInvitation);
    },
  });

  manage<{ email: string; name: string } & RolesBody>(app, deps, {
    method: 'POST',
    url: '/v1/invitations',
    access: 'people.invite',
    operation: {
      id: 'invite',
      summary: 'Invites a person',
      body: {
        description:
          'Only an admin gives groups and the roles `admin`, `operator` and `approver`, and no token gives the first two; an `approver` needs groups.',
        schema: objectSchema({ email: text(254), name: text(100), ...rolesAndGroups }, { groups: textList }),
        examples: {
          auditor: { email: 'ada@example.com', name: 'Ada', roles: ['auditor'] },
          approver: { email: 'ben@example.com', name: 'Ben', roles: ['approver'], groups: ['finance'] },
        },
      },
      replies: { 201: invitationView('Invited; `token` is shown this once') },
    },
    handle: async (call) => {
      const { groups = [], ...draft } = call.body;
      const result = await invite(directory, actorOf(call), { ...draft, groups });
      if (result.kind === 'invalid') throw invalidBody(result);
      if (result.kind === 'not-allowed') throw notAllowed(result.detail);
      accessNews.invited(result.invitation, result.secret);
      call.reply.code(201);
      return shownInvitation(result);
    },
  });

  manage(app, deps, {
    method: 'DELETE',
    url: '/v1/invitations/:id',
    access: 'people.invite',
    operation: {
      id: 'withdrawInvitation',
      summary: 'Withdraws an invitation: its link is not good any more',
      description: 'Only an admin withdraws one with groups, or with a role that only an admin gives.',
      parameters: [idParameter('The id in the list.', openInvitationExample.id)],
      replies: { 204: noContent('Withdrawn') },
      problems: ['not_found'],
    },
    handle: async (call) => {
      const result = await withdrawInvitation(directory, actorOf(call), call.params.id ?? '');
      if (result.kind === 'not-allowed') throw notAllowed(result.detail);
      if (result.kind === 'unknown') throw notFound('open invitation');
    },
  });

  manage<{ token: string; password: string }>(app, deps, {
    method: 'POST',
    url: '/v1/invitations/accept',
    access: 'public',
    operation: {
      id: 'acceptInvitation',
      summary: 'Turns an invitation into a person, once',
      body: {
        description: '`token` is the end of the link.',
        schema: objectSchema({ token: text(100), password: text(1024) }),
        examples: { ben: { token: 'AbC', password: examplePassword } },
      },
      replies: { 201: { description: 'The person', schema: personSchema, example: personExample } },
      problems: ['link_not_valid', 'too_many_attempts'],
    },
    handle: async ({ body, request, reply }) => {
      const attempt = attemptByLink(request);
      const result = await acceptInvitation(directory, { secret: body.token, password: body.password });
      if (result.kind === 'no-invitation') throw linkNotValid();
      attempt.succeeded();
      if (result.kind === 'invalid') throw invalidBody(result);
      if (result.kind === 'wait') throw refusal(result);
      reply.code(201);
      return shownPersonReply(result.person);
    },
  });

  manage<{ email: string; name: string; reason: string }>(app, deps, {
    method: 'POST',
    url: '/v1/applications',
    access: 'public',
    operation: {
      id: 'apply',
      summary: 'Applies for access; an operator answers within 24 hours',
      body: {
        description: 'Who asks, and why.',
        schema: objectSchema({ email: text(254), name: text(100), reason: text(2_000) }),
        examples: { ben: { email: 'ben@example.com', name: 'Ben', reason: 'I approve payments' } },
      },
      replies: {
        201: {
          description: 'Applied',
          schema: objectSchema({ id: text(100), due_at: time }),
          example: { id: applicationExample.id, due_at: applicationExample.due_at },
        },
      },
      problems: ['too_many_attempts'],
    },
    handle: async ({ body, request, reply }) => {
      reserved(reserveApplication(attempts, request.clientAddress, directory.clock()));
      const result = await apply(directory, body);
      if (result.kind === 'invalid') throw invalidBody(result);
      reply.code(201);
      return { id: result.application.id, due_at: timeText(result.application.dueAtMs) };
    },
  });

  manage(app, deps, {
    method: 'GET',
    url: '/v1/applications',
    access: 'applications.view',
    operation: {
      id: 'listApplications',
      summary: 'Applications for access, the latest first',
      parameters: pageParameters,
      replies: { 200: pageReply('A page of applications', applicationSchema, applicationExample) },
    },
    handle: async ({ query }) => {
      const { countMax, after } = readPage(query);
      const found = await directory.applications.list({ countMax: countMax + 1, after });
      return pageOf(found, countMax, (one) => shownApplication(one, directory.clock()));
    },
  });

  manage<RolesBody>(app, deps, {
    method: 'POST',
    url: '/v1/applications/:id/grant',
    access: 'applications.decide',
    operation: {
      id: 'grantApplication',
      summary: 'Grants an application: it becomes an invitation',
      parameters: [idParameter('The id in the list.', applicationExample.id)],
      body: {
        description: 'As for an invitation.',
        schema: objectSchema(rolesAndGroups, { groups: textList }),
        examples: {
          auditor: { roles: ['auditor'] },
          approver: { roles: ['approver'], groups: ['finance'] },
        },
      },
      replies: { 201: invitationView('Invited; `token` is shown this once') },
      problems: ['conflict'],
    },
    handle: async (call) => {
      const { roles: given, groups = [] } = call.body;
      const draft = { id: call.params.id ?? '', roles: given, groups };
      const result = await grantApplication(directory, actorOf(call), draft);
      switch (result.kind) {
        case 'invited':
          accessNews.invited(result.invitation, result.secret);
          call.reply.code(201);
          return shownInvitation(result);
        case 'invalid':
          throw invalidBody(result);
        case 'not-allowed':
          throw notAllowed(result.detail);
        case 'not-open':
          throw notOpen();
        case 'conflict':
          throw conflict();
      }
    },
  });

  manage<{ reason: string }>(app, deps, {
    method: 'POST',
    url: '/v1/applications/:id/decline',
    access: 'applications.decide',
    operation: {
      id: 'declineApplication',
      summary: 'Declines an application',
      parameters: [idParameter('The id in the list.', applicationExample.id)],
      body: {
        description: 'The reason is for the applicant.',
        schema: objectSchema({ reason: text(2_000) }),
        examples: { no: { reason: 'ask your own team first' } },
      },
      replies: {
        200: { description: 'Declined', schema: applicationSchema, example: applicationExample },
      },
      problems: ['conflict'],
    },
    handle: async (call) => {
      const draft = { id: call.params.id ?? '', reason: call.body.reason };
      const result = await declineApplication(directory, actorOf(call), draft);
      switch (result.kind) {
        case 'declined':
          accessNews.declined(result.application);
          return shownApplication(result.application, directory.clock());
        case 'invalid':
          throw invalidBody(result);
        case 'not-open':
          throw notOpen();
        case 'conflict':
          throw conflict();
      }
    },
  });
}

const examplePassword = 'correct horse battery';

const rolesAndGroups: Readonly<Record<string, JsonSchema>> = {
  roles: { type: 'array', items: { type: 'string', enum: roles }, maxItems: roles.length },
};

function linkNotValid(): ProblemError {
  return new ProblemError('link_not_valid', 'ask for a new invitation');
}

function notOpen(): ProblemError {
  return conflict('there is no such application that waits for an answer');
}

function invitationView(description: string) {
  return {
    description,
    schema: objectSchema({ id: text(100), email: text(254), token: text(100), ends_at: time }),
    example: {
      id: openInvitationExample.id,
      email: 'ben@example.com',
      token: 'AbC',
      ends_at: '2026-03-09T10:00:00.000Z',
    },
  };
}

function shownInvitation({ invitation, secret }: Invited) {
  const { id, email, endsAtMs } = invitation;
  return { id, email, token: secret, ends_at: timeText(endsAtMs) };
}

const openInvitationSchema = objectSchema({
  id: text(100),
  email: text(254),
  name: text(100),
  roles: textList,
  groups: textList,
  created_at: time,
  created_by: text(100),
  ends_at: time,
});

const openInvitationExample = {
  id: '1f7e0000-0000-4000-8000-000000000000',
  email: 'ben@example.com',
  name: 'Ben',
  roles: ['approver'],
  groups: ['finance'],
  created_at: '2026-03-02T10:00:00.000Z',
  created_by: 'b3f1c2d4-0000-4000-8000-000000000000',
  ends_at: '2026-03-09T10:00:00.000Z',
};

/** Never its token, of which only the digest is known, nor the digest. */
function shownOpenInvitation({ id, email, name, roles: given, groups, ...rest }: Invitation) {
  const { createdAtMs, invitedBy, endsAtMs } = rest;
  return {
    id,
    email,
    name,
    roles: [...given],
    groups: [...groups],
    created_at: timeText(createdAtMs),
    created_by: invitedBy,
    ends_at: timeText(endsAtMs),
  };
}

const applicationSchema = objectSchema({
  id: text(100),
  email: text(254),
  name: text(100),
  reason: text(2_000),
  status: { type: 'string', enum: ['open', 'granted', 'declined'] },
  created_at: time,
  due_at: time,
  is_overdue: { type: 'boolean' },
  decided_at: timeOrNull,
  decided_by: textOrNull,
  answer: textOrNull,
});

const applicationExample = {
  id: 'c0ffee00-0000-4000-8000-000000000000',
  email: 'ben@example.com',
  name: 'Ben',
  reason: 'I approve payments',
  status: 'open',
  created_at: '2026-03-02T10:00:00.000Z',
  due_at: '2026-03-03T10:00:00.000Z',
  is_overdue: false,
  decided_at: null,
  decided_by: null,
  answer: null,
};

function shownApplication(application: Application, nowMs: number) {
  const { id, email, name, reason, status, createdAtMs, dueAtMs, decidedAtMs, decidedBy, answer } =
    application;
  return {
    id,
    email,
    name,
    reason,
    status,
    created_at: timeText(createdAtMs),
    due_at: timeText(dueAtMs),
    is_overdue: status === 'open' && nowMs > dueAtMs,
    decided_at: timeTextOrNull(decidedAtMs),
    decided_by: decidedBy,
    answer,
  };
}
