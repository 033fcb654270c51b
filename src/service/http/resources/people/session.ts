// /v1/session: people sign in and out, see their session, set a new password and dismiss notices.

import * as passwords from '../../../people/change-password.ts';
import * as notices from '../../../people/notices.ts';
import { passwordProblem } from '../../../people/passwords.ts';
import * as sessions from '../../../people/sessions.ts';
import * as credentials from '../../../people/sign-in.ts';
import { reserveRating } from '../../../people/sign-in-limits.ts';
import { conflict, invalidBody, notFound } from '../../auth/auth-refusals.ts';
import { refusal, reserved, ssoOnly } from '../../auth/credentials.ts';
import { clearSessionCookie, deviceOf } from '../../auth/identify-person.ts';
import { codeLengthMax } from '../../auth/proof.ts';
import { idParameter, noContent, objectSchema, text, textOrNull } from '../../contract/schemas.ts';
import { actorOf, type Route, route } from '../../routing/route.ts';
import { noticeExample, sessionView } from './session-view.ts';
import { type SignedInDeps, sessionReply, signedIn } from './signed-in.ts';

const signIn = route<SignedInDeps, { email: string; password: string; code?: string }>({
  method: 'POST',
  url: '/v1/session',
  access: 'public',
  operation: {
    id: 'signIn',
    summary: 'Signs in with a password',
    description: 'Sets the cookie of a new session. The reply does not reveal whether the address is known.',
    body: {
      description: '`code` is required if the person uses one-time codes: six digits, or a recovery code.',
      schema: objectSchema({ email: text(254), password: text(1024) }, { code: text(codeLengthMax) }),
      examples: {
        password: { email: 'ann@example.com', password: 'correct horse battery', code: '287082' },
      },
    },
    replies: { 200: sessionView('Signed in') },
    problems: ['wrong_credentials', 'code_needed', 'code_used', 'sso_only', 'too_many_attempts'],
  },
  handle: async (deps, call) => {
    const { email, password, code = null } = call.body;
    const { clientAddress: address } = call.request;
    const device = deviceOf(call.request);
    const result = await credentials.signIn(deps.signInDeps, { email, password, code, address, device });
    if (result.kind === 'sso-only') throw ssoOnly();
    if (result.kind !== 'signed-in') throw refusal(result);
    return await signedIn(deps, result, call);
  },
});

const getSignInMethods = route<SignedInDeps>({
  method: 'GET',
  url: '/v1/sign-in',
  access: 'public',
  operation: {
    id: 'getSignInMethods',
    summary: 'The available sign-in methods',
    replies: {
      200: {
        description: 'The sign-in methods',
        schema: objectSchema({
          is_empty: { type: 'boolean', description: 'Whether there is no person yet.' },
          sso_name: {
            ...textOrNull,
            description: 'The name of the single sign-on provider; null without one.',
          },
          is_sso_only: {
            type: 'boolean',
            description: 'Whether only admins may sign in with a password or passkey.',
          },
        }),
        example: { is_empty: false, sso_name: 'Example', is_sso_only: false },
      },
    },
  },
  handle: async ({ signInDeps: { directory, isSsoOnly }, ssoName }) => ({
    is_empty: (await directory.people.list({ countMax: 1 })).length === 0,
    sso_name: ssoName,
    is_sso_only: isSsoOnly,
  }),
});

const checkPassword = route<SignedInDeps, { password: string; email: string; name: string }>({
  method: 'POST',
  url: '/v1/passwords/check',
  access: 'public',
  operation: {
    id: 'checkPassword',
    summary: 'Whether a new password would be accepted',
    description: 'For pages with a form for a new password. Nothing is stored.',
    body: {
      description: 'The password, and the name and address of its owner.',
      schema: objectSchema({ password: text(1024), email: text(254), name: text(100) }),
      examples: { ann: { password: 'seven quiet harbours', email: 'ann@example.com', name: 'Ann' } },
    },
    replies: {
      200: {
        description: 'The problem with the password, as one sentence; null if there is none',
        schema: objectSchema({ problem: textOrNull }),
        example: { problem: null },
      },
    },
    problems: ['too_many_attempts'],
  },
  handle: async ({ signInDeps: { attempts, directory } }, { body: { password, ...owner }, request }) => {
    reserved(reserveRating(attempts, request.clientAddress, directory.clock()));
    return { problem: await passwordProblem(password, owner) };
  },
});

const getSession = route<SignedInDeps>({
  method: 'GET',
  url: '/v1/session',
  access: 'signed-in',
  credential: 'session-or-token',
  operation: {
    id: 'getSession',
    summary: 'The signed-in person and their permissions',
    replies: { 200: sessionView('The session, or the token') },
  },
  handle: async (deps, call) => sessionReply(deps, actorOf(call), call.session),
});

const signOut = route<SignedInDeps>({
  method: 'DELETE',
  url: '/v1/session',
  access: 'signed-in',
  credential: 'session',
  operation: {
    id: 'signOut',
    summary: 'Ends the session',
    replies: { 204: { ...noContent('Signed out'), headers: ['Set-Cookie'] } },
  },
  handle: async ({ isSecure, signInDeps }, { session, reply }) => {
    if (session !== null) await sessions.signOut(signInDeps, session);
    clearSessionCookie(reply, isSecure);
  },
});

const changePassword = route<SignedInDeps, { new_password: string }>({
  method: 'POST',
  url: '/v1/session/password',
  access: 'signed-in',
  credential: 'proved-session',
  operation: {
    id: 'changePassword',
    summary: 'Changes the password and ends all sessions and tokens of the person',
    body: {
      description: 'The new password.',
      schema: objectSchema({ new_password: text(1024) }),
      examples: { change: { new_password: 'another horse battery' } },
    },
    replies: { 200: sessionView('Changed; the reply is a new session') },
    problems: ['conflict'],
  },
  handle: async (deps, call) => {
    const { signInDeps } = deps;
    const result = await passwords.changePassword(signInDeps, actorOf(call).person, call.body.new_password);
    switch (result.kind) {
      case 'changed':
        return await signedIn(
          deps,
          await sessions.startSession(signInDeps, result.person, {
            address: call.request.clientAddress,
            way: call.session?.way ?? 'password',
          }),
          call,
        );
      case 'invalid':
        throw invalidBody({
          kind: 'invalid',
          problems: [{ field: 'new_password', detail: result.detail }],
        });
      case 'conflict':
        throw conflict();
    }
  },
});

const dismissNotice = route<SignedInDeps>({
  method: 'DELETE',
  url: '/v1/session/notices/:id',
  access: 'signed-in',
  credential: 'session',
  operation: {
    id: 'dismissNotice',
    summary: "Dismisses one of the caller's notices",
    parameters: [idParameter('The id of the notice in the session.', noticeExample.id)],
    replies: { 204: noContent('Dismissed') },
    problems: ['not_found'],
  },
  handle: async ({ signInDeps }, call) => {
    const result = await notices.dismissNotice(
      signInDeps.directory,
      actorOf(call).person,
      call.params.id ?? '',
    );
    if (result === 'unknown') throw notFound('notice');
  },
});

export const sessionRoutes: readonly Route<SignedInDeps>[] = [
  signIn,
  getSignInMethods,
  checkPassword,
  getSession,
  signOut,
  changePassword,
  dismissNotice,
];
