// /v1/applications: people apply for access, and an operator answers.

import { isoTime, isoTimeOrNull } from '../../../../language/value/iso-time.ts';
import * as access from '../../../people/access.ts';
import type { Application } from '../../../people/person.ts';
import { reserveApplication } from '../../../people/sign-in-limits.ts';
import { conflict, invalidBody, notAllowed } from '../../auth/auth-refusals.ts';
import { reserved } from '../../auth/credentials.ts';
import { pageOf, pageParameters, pageReply, readPage } from '../../contract/page.ts';
import type { ProblemError } from '../../contract/problem.ts';
import {
  idParameter,
  objectSchema,
  text,
  textList,
  textOrNull,
  time,
  timeOrNull,
} from '../../contract/schemas.ts';
import { actorOf, type Route, route } from '../../routing/route.ts';
import type { AccessDeps } from './access.ts';
import { groupWarnings } from './group-warnings.ts';
import { createdInvitationView, invitationView, type RolesBody, rolesAndGroups } from './invitation-view.ts';

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

const applyForAccess = route<AccessDeps, { email: string; name: string; reason: string }>({
  method: 'POST',
  url: '/v1/applications',
  access: 'public',
  operation: {
    id: 'applyForAccess',
    summary: 'Applies for access; an operator decides within 24 hours',
    body: {
      description: 'The applicant, and the reason.',
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
  handle: async ({ accessEvents, signInDeps: { attempts, directory } }, { body, request, reply }) => {
    reserved(reserveApplication(attempts, request.clientAddress, directory.clock()));
    const result = await access.apply(directory, body);
    if (result.kind === 'invalid') throw invalidBody(result);
    accessEvents.appliedFor(result.application);
    reply.code(201);
    return { id: result.application.id, due_at: isoTime(result.application.dueAtMs) };
  },
});

const listApplications = route<AccessDeps>({
  method: 'GET',
  url: '/v1/applications',
  access: 'applications.view',
  operation: {
    id: 'listApplications',
    summary: 'Access applications, newest first',
    parameters: pageParameters,
    replies: { 200: pageReply('A page of applications', applicationSchema, applicationExample) },
  },
  handle: async ({ signInDeps: { directory } }, { query }) => {
    const { countMax, after } = readPage(query);
    const storedApplications = await directory.applications.list({ countMax: countMax + 1, after });
    return pageOf(storedApplications, countMax, (one) => applicationView(one, directory.clock()));
  },
});

const grantApplication = route<AccessDeps, RolesBody>({
  method: 'POST',
  url: '/v1/applications/:id/grant',
  access: 'applications.decide',
  operation: {
    id: 'grantApplication',
    summary: 'Grants an application, which creates an invitation',
    parameters: [idParameter('The id in the list.', applicationExample.id)],
    body: {
      description: 'The same fields as for an invitation.',
      schema: objectSchema(rolesAndGroups, { groups: textList }),
      examples: {
        auditor: { roles: ['auditor'] },
        approver: { roles: ['approver'], groups: ['finance'] },
      },
    },
    replies: { 201: invitationView('Invited; `token` is shown only once') },
    problems: ['conflict'],
  },
  handle: async ({ accessEvents, policies, signInDeps: { directory } }, call) => {
    const { roles: given, groups = [] } = call.body;
    const draft = { id: call.params.id ?? '', roles: given, groups };
    const result = await access.grantApplication(directory, actorOf(call), draft);
    switch (result.kind) {
      case 'invited':
        accessEvents.invited(result.invitation, result.secret);
        call.reply.code(201);
        return createdInvitationView(result, groupWarnings(groups, policies));
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

const declineApplication = route<AccessDeps, { reason: string }>({
  method: 'POST',
  url: '/v1/applications/:id/decline',
  access: 'applications.decide',
  operation: {
    id: 'declineApplication',
    summary: 'Declines an application',
    parameters: [idParameter('The id in the list.', applicationExample.id)],
    body: {
      description: 'The reason, which the applicant sees.',
      schema: objectSchema({ reason: text(2_000) }),
      examples: { no: { reason: 'ask your own team first' } },
    },
    replies: {
      200: { description: 'Declined', schema: applicationSchema, example: applicationExample },
    },
    problems: ['conflict'],
  },
  handle: async ({ accessEvents, signInDeps: { directory } }, call) => {
    const draft = { id: call.params.id ?? '', reason: call.body.reason };
    const result = await access.declineApplication(directory, actorOf(call), draft);
    switch (result.kind) {
      case 'declined':
        accessEvents.declined(result.application);
        return applicationView(result.application, directory.clock());
      case 'invalid':
        throw invalidBody(result);
      case 'not-open':
        throw notOpen();
      case 'conflict':
        throw conflict();
    }
  },
});

export const applicationRoutes: readonly Route<AccessDeps>[] = [
  applyForAccess,
  listApplications,
  grantApplication,
  declineApplication,
];

function notOpen(): ProblemError {
  return conflict('no open application has this id');
}

function applicationView(application: Application, nowMs: number) {
  const { id, email, name, reason, status, createdAtMs, dueAtMs, decidedAtMs, decidedBy, answer } =
    application;
  return {
    id,
    email,
    name,
    reason,
    status,
    created_at: isoTime(createdAtMs),
    due_at: isoTime(dueAtMs),
    is_overdue: status === 'open' && nowMs > dueAtMs,
    decided_at: isoTimeOrNull(decidedAtMs),
    decided_by: decidedBy,
    answer,
  };
}
