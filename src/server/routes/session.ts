// /v1/session: signing in and out, and what a person sets up for themselves: password, one-time codes, passkeys, tokens.

import type { FastifyInstance } from 'fastify';
import { grantsOf } from '../../people/operations.ts';
import type { PasskeyDeps } from '../../people/passkeys.ts';
import type { Actor, Session } from '../../people/person.ts';
import {
  changePassword,
  csrfToken,
  type SignedIn,
  type SignInDeps,
  signIn,
  signOut,
  startSession,
  whoseSession,
} from '../../people/sign-in.ts';
import { refusal } from '../credentials.ts';
import { clearSessionCookie, cookieOf, setSessionCookie } from '../identify-person.ts';
import { actorOf, type Call, conflict, invalidBody, manage } from '../manage.ts';
import { shownPersonReply } from '../person-view.ts';
import { noContent, objectSchema, text, timeText } from '../schemas.ts';
import { sessionView } from '../session-view.ts';
import { addCodeRoutes, addPasskeyRoutes } from './second-factors.ts';
import { addTokenRoutes } from './tokens.ts';

export interface SessionRouteOptions {
  readonly signInDeps: SignInDeps;
  readonly passkeyDeps: PasskeyDeps;
  /** Whether people reach the service by HTTPS, so that the cookie never goes another way. */
  readonly isSecure: boolean;
}

export async function sessionRoutes(app: FastifyInstance, options: SessionRouteOptions): Promise<void> {
  const { signInDeps: deps, passkeyDeps, isSecure } = options;

  /** The session's reply; a session that the browser held before is over, whoever put it there. */
  async function signedIn(result: SignedIn, { request, reply }: Call<unknown>): Promise<unknown> {
    const earlier = cookieOf(request);
    const held = earlier === null ? null : await whoseSession(deps, earlier);
    if (held !== null) await signOut(deps, held.session);
    setSessionCookie(reply, result.secret, isSecure);
    return sessionReply({ person: result.person, roles: result.person.roles }, result.session);
  }

  function sessionReply(actor: Actor, session: Session | null) {
    return {
      person: shownPersonReply(actor.person),
      roles: [...actor.roles],
      may: grantsOf(actor.roles),
      csrf_token: session === null ? null : csrfToken(deps, session),
      ends_at: session === null ? null : timeText(session.endsAtMs),
    };
  }

  manage<{ email: string; password: string; code?: string }>(app, deps, {
    ...{ method: 'POST', url: '/v1/session', access: 'public' },
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
      const result = await signIn(deps, { email, password, code, address: call.request.clientAddress });
      if (result.kind !== 'signed-in') throw refusal(result);
      return await signedIn(result, call);
    },
  });

  manage(app, deps, {
    ...{ method: 'GET', url: '/v1/session', access: 'signed-in' },
    operation: {
      id: 'getSession',
      summary: 'Who is signed in, and what counts for them',
      replies: { 200: sessionView('The session, or the token') },
    },
    handle: async (call) => sessionReply(actorOf(call), call.session),
  });

  manage(app, deps, {
    ...{ method: 'DELETE', url: '/v1/session', access: 'signed-in' },
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

  manage<{ password: string; new_password: string }>(app, deps, {
    ...{ method: 'POST', url: '/v1/session/password', access: 'signed-in' },
    operation: {
      id: 'changePassword',
      summary: 'Sets a new password, and ends all sessions and tokens of the person',
      body: {
        description: 'The password as it is, and as it is to be.',
        schema: objectSchema({ password: text(1024), new_password: text(1024) }),
        examples: { change: { password: 'correct horse battery', new_password: 'another horse battery' } },
      },
      replies: { 200: sessionView('Changed; this is a new session') },
      problems: ['wrong_credentials', 'too_many_attempts', 'conflict'],
    },
    handle: async (call) => {
      const { person } = actorOf(call);
      const { password, new_password: newPassword } = call.body;
      const address = call.request.clientAddress;
      const result = await changePassword(deps, person, { password, newPassword, address });
      switch (result.kind) {
        case 'changed':
          return await signedIn(await startSession(deps, result.person, address), call);
        case 'invalid':
          throw invalidBody({
            kind: 'invalid',
            problems: [{ field: 'new_password', detail: result.detail }],
          });
        case 'conflict':
          throw conflict();
        default:
          throw refusal(result);
      }
    },
  });

  addCodeRoutes(app, deps);
  addPasskeyRoutes(app, { deps, passkeyDeps, signedIn });
  addTokenRoutes(app, deps);
}
