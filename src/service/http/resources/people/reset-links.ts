// The way back in for somebody who has lost their password: an admin makes a link, with which the person sets
// a new password.

import { isoTime } from '../../../../language/value/iso-time.ts';
import * as recovery from '../../../people/recovery/reset-links.ts';
import type { SignInDeps } from '../../../people/sign-in.ts';
import { conflict, invalidBody, notFound } from '../../auth/auth-refusals.ts';
import { attemptByLink, refusal } from '../../auth/credentials.ts';
import { ProblemError } from '../../contract/problem.ts';
import { idParameter, noContent, objectSchema, text, time } from '../../contract/schemas.ts';
import type { AccessEvents } from '../../events/access-messages.ts';
import { actorOf, type Route, route } from '../../routing/route.ts';
import { personExample } from './person-view.ts';

interface ResetDeps {
  readonly signInDeps: SignInDeps;
  /** Sends mail to the person concerned. */
  readonly accessEvents: Pick<AccessEvents, 'resetLinkMade'>;
}

const createResetLink = route<ResetDeps, { removes_second_factors?: boolean }>({
  method: 'POST',
  url: '/v1/people/:id/reset-link',
  access: 'people.change',
  credential: 'proved-session',
  operation: {
    id: 'createResetLink',
    summary: 'Creates a password reset link for a person, valid once and for one day',
    description:
      'An earlier link stops working. The person is notified, and receives the link by mail if a mail server is configured. Their second factors stay unless `removes_second_factors` is true.',
    parameters: [idParameter('The id in the list.', personExample.id)],
    body: {
      description: 'Whether the link also removes one-time codes, recovery codes and passkeys.',
      schema: objectSchema({}, { removes_second_factors: { type: 'boolean' } }),
      examples: { password: {}, phone: { removes_second_factors: true } },
    },
    replies: {
      201: {
        description: 'Created; `token` is shown only once',
        schema: objectSchema({ email: text(254), token: text(100), ends_at: time }),
        example: { email: personExample.email, token: 'AbC', ends_at: '2026-03-03T10:00:00.000Z' },
      },
    },
    problems: ['not_found', 'conflict'],
  },
  handle: async ({ accessEvents, signInDeps }, call) => {
    const maker = { kind: 'person', actor: actorOf(call) } as const;
    const draft = {
      personId: call.params.id ?? '',
      removesFactors: call.body.removes_second_factors === true,
    };
    const result = await recovery.makeResetLink(signInDeps.directory, maker, draft);
    switch (result.kind) {
      case 'made': {
        const { person, link, secret } = result;
        accessEvents.resetLinkMade(person, { secret, endsAtMs: link.endsAtMs });
        call.reply.code(201);
        return { email: person.email, token: secret, ends_at: isoTime(link.endsAtMs) };
      }
      case 'unknown':
        throw notFound('person');
      case 'disabled':
        throw conflict('the person is disabled: enable them first');
      case 'signs-on':
        throw conflict('the person uses single sign-on and has no password');
      case 'conflict':
        throw conflict();
    }
  },
});

const previewResetLink = route<ResetDeps, { token: string }>({
  method: 'POST',
  url: '/v1/reset-link',
  access: 'public',
  operation: {
    id: 'previewResetLink',
    summary: 'Shows whose password a reset link sets, without using the link',
    body: {
      description: '`token` is the last part of the link.',
      schema: objectSchema({ token: text(100) }),
      examples: { ann: { token: 'AbC' } },
    },
    replies: {
      200: {
        description: 'The person, and when the link expires',
        schema: objectSchema({
          email: text(254),
          name: text(100),
          removes_second_factors: { type: 'boolean' },
          ends_at: time,
        }),
        example: {
          email: personExample.email,
          name: personExample.name,
          removes_second_factors: false,
          ends_at: '2026-03-03T10:00:00.000Z',
        },
      },
    },
    problems: ['link_not_valid', 'too_many_attempts'],
  },
  handle: async ({ signInDeps }, { body, request }) => {
    const attempt = attemptByLink(signInDeps, request);
    const openLink = await recovery.lookAtResetLink(signInDeps.directory, body.token);
    if (openLink === null) throw linkNotValid();
    attempt.succeeded();
    const { email, name } = openLink.person.value;
    const { removesFactors, endsAtMs } = openLink.link.value;
    return { email, name, removes_second_factors: removesFactors, ends_at: isoTime(endsAtMs) };
  },
});

const resetPassword = route<ResetDeps, { token: string; password: string }>({
  method: 'POST',
  url: '/v1/reset-link/use',
  access: 'public',
  operation: {
    id: 'resetPassword',
    summary: 'Sets a new password with a reset link and ends all sessions and tokens of the person',
    body: {
      description: '`token` is the last part of the link.',
      schema: objectSchema({ token: text(100), password: text(1024) }),
      examples: { ann: { token: 'AbC', password: 'another horse battery' } },
    },
    replies: { 204: noContent('The password is set; sign in with it') },
    problems: ['link_not_valid', 'too_many_attempts'],
  },
  handle: async ({ signInDeps }, { body, request }) => {
    const attempt = attemptByLink(signInDeps, request);
    const { token: secret, password } = body;
    const result = await recovery.resetPassword(signInDeps, { secret, password });
    if (result.kind === 'no-link') throw linkNotValid();
    attempt.succeeded();
    if (result.kind === 'invalid') throw invalidBody(result);
    if (result.kind === 'wait') throw refusal(result);
  },
});

export const resetLinkRoutes: readonly Route<ResetDeps>[] = [
  createResetLink,
  previewResetLink,
  resetPassword,
];

function linkNotValid(): ProblemError {
  return new ProblemError('link_not_valid', 'ask an admin for a new link');
}
