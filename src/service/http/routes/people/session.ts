// /v1/session: signing in and out, and what a person sets up for themselves: password, one-time codes, passkeys, tokens.

import type { FastifyInstance } from 'fastify';
import { changePassword } from '../../../people/change-password.ts';
import { createDevice } from '../../../people/device.ts';
import { dismissNotice, noticesOf } from '../../../people/notices.ts';
import { grantsOf } from '../../../people/operations.ts';
import type { Actor, Session } from '../../../people/person.ts';
import { csrfToken, type SignedIn, signOut, startSession, whoseSession } from '../../../people/sessions.ts';
import { type SignInDeps, signIn } from '../../../people/sign-in.ts';
import { refusal } from '../../calls/credentials.ts';
import { clearSessionCookie, cookieOf, deviceOf, setSessionCookies } from '../../calls/identify-person.ts';
import { actorOf, conflict, invalidBody, type ManagedCall, manage, notFound } from '../../calls/manage.ts';
import { idParameter, noContent, objectSchema, text, timeText } from '../../contract/schemas.ts';
import { shownPersonReply } from '../../views/person.ts';
import { noticeExample, sessionView, shownNotice } from '../../views/session.ts';
import { addCodeRoutes, addPasskeyRoutes } from './second-factors.ts';
import { addSessionListRoutes } from './sessions.ts';
import { addTokenRoutes } from './tokens.ts';

export interface SessionRouteOptions {
  readonly signInDeps: SignInDeps;
  /** Whether people reach the service by HTTPS, so that the cookie never goes another way. */
  readonly isSecure: boolean;
}

export async function sessionRoutes(app: FastifyInstance, options: SessionRouteOptions): Promise<void> {
  const { signInDeps: deps, isSecure } = options;

  /** The session's reply; a session that the browser held before is over, whoever put it there. */
  async function signedIn(result: SignedIn, { request, reply }: ManagedCall<unknown>): Promise<unknown> {
    const earlier = cookieOf(request);
    const held = earlier === null ? null : await whoseSession(deps, earlier);
    if (held !== null) await signOut(deps, held.session);
    const { person, secret, session } = result;
    setSessionCookies(reply, { secret, device: createDevice(deps.masterKey, person) }, isSecure);
    return await sessionReply({ person, roles: person.roles }, session);
  }

  async function sessionReply(actor: Actor, session: Session | null) {
    const notices = session === null ? [] : await noticesOf(deps.directory, actor.person);
    return {
      person: shownPersonReply(actor.person),
      roles: [...actor.roles],
      may: grantsOf(actor.roles),
      csrf_token: session === null ? null : csrfToken(deps, session),
      ends_at: session === null ? null : timeText(session.endsAtMs),
      notices: notices.map(shownNotice),
    };
  }

  manage<{ email: string; password: string; code?: string }>(app, deps, {
    method: 'POST',
    url: '/v1/session',
    access: 'public',
    operation: {
      id: 'signIn',
      summary: 'Signs a person in',
      description: 'Sets the cookie of a new session. Whether an address is known shows nowhere.',
      body: {
        description: '`code` is needed where the person has set up one-time codes.',
        schema: objectSchema({ email: text(254), password: text(1024) }, { code: text(6) }),
        examples: {
          password: { email: 'ann@example.com', password: 'correct horse battery', code: '287082' },
        },
      },
      replies: { 200: sessionView('Signed in') },
      problems: ['wrong_credentials', 'code_needed', 'too_many_attempts'],
    },
    handle: async (call) => {
      const { email, password, code = null } = call.body;
      const { clientAddress: address } = call.request;
      const device = deviceOf(call.request);
      const result = await signIn(deps, { email, password, code, address, device });
      if (result.kind !== 'signed-in') throw refusal(result);
      return await signedIn(result, call);
    },
  });

  manage(app, deps, {
    method: 'GET',
    url: '/v1/session',
    access: 'signed-in',
    credential: 'session-or-token',
    operation: {
      id: 'getSession',
      summary: 'Who is signed in, and what counts for them',
      replies: { 200: sessionView('The session, or the token') },
    },
    handle: async (call) => sessionReply(actorOf(call), call.session),
  });

  manage(app, deps, {
    method: 'DELETE',
    url: '/v1/session',
    access: 'signed-in',
    credential: 'session',
    operation: {
      id: 'signOut',
      summary: 'Ends the session',
      replies: { 204: { ...noContent('Signed out'), headers: ['Set-Cookie'] } },
    },
    handle: async ({ session, reply }) => {
      if (session !== null) await signOut(deps, session);
      clearSessionCookie(reply, isSecure);
    },
  });

  manage<{ new_password: string }>(app, deps, {
    method: 'POST',
    url: '/v1/session/password',
    access: 'signed-in',
    credential: 'proved-session',
    operation: {
      id: 'changePassword',
      summary: 'Sets a new password, and ends all sessions and tokens of the person',
      body: {
        description: 'The password as it is to be.',
        schema: objectSchema({ new_password: text(1024) }),
        examples: { change: { new_password: 'another horse battery' } },
      },
      replies: { 200: sessionView('Changed; this is a new session') },
      problems: ['conflict'],
    },
    handle: async (call) => {
      const result = await changePassword(deps, actorOf(call).person, call.body.new_password);
      switch (result.kind) {
        case 'changed':
          return await signedIn(await startSession(deps, result.person, call.request.clientAddress), call);
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

  manage(app, deps, {
    method: 'DELETE',
    url: '/v1/session/notices/:id',
    access: 'signed-in',
    credential: 'session',
    operation: {
      id: 'dismissNotice',
      summary: "Puts a notice of one's own away",
      parameters: [idParameter('The id in the session.', noticeExample.id)],
      replies: { 204: noContent('Put away') },
      problems: ['not_found'],
    },
    handle: async (call) => {
      const result = await dismissNotice(deps.directory, actorOf(call).person, call.params.id ?? '');
      if (result === 'unknown') throw notFound('notice');
    },
  });

  addCodeRoutes(app, deps);
  addPasskeyRoutes(app, { deps, signedIn });
  addTokenRoutes(app, deps);
  addSessionListRoutes(app, deps);
}
