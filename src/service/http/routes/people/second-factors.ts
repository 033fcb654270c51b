// What shows beside a password who somebody is: one-time codes and passkeys, set up by a person for themselves.

import type { FastifyInstance } from 'fastify';
import { confirmTotp, offerTotp, removeTotp } from '../../../people/codes.ts';
import { reserveUnguessable } from '../../../people/guesses.ts';
import {
  addPasskey,
  checkPasskey,
  passkeyCreationOptions,
  passkeyRequestOptions,
  removePasskey,
} from '../../../people/passkeys.ts';
import { proofPurpose } from '../../../people/prove.ts';
import { type SignedIn, startSession } from '../../../people/sessions.ts';
import type { SignInDeps } from '../../../people/sign-in.ts';
import { reserved, wrongCredentials } from '../../calls/credentials.ts';
import { actorOf, conflict, invalidBody, type ManagedCall, manage, notFound } from '../../calls/manage.ts';
import type { JsonSchema, OperationReply } from '../../contract/operation.ts';
import {
  idParameter,
  listReply,
  noContent,
  objectSchema,
  text,
  time,
  timeText,
} from '../../contract/schemas.ts';
import { sessionView } from '../../views/session.ts';

export function addCodeRoutes(app: FastifyInstance, deps: SignInDeps): void {
  manage(app, deps, {
    method: 'POST',
    url: '/v1/session/totp',
    access: 'signed-in',
    credential: 'session',
    operation: {
      id: 'offerCodes',
      summary: 'A secret for an authenticator app, which counts once a code of it has been sent',
      replies: {
        200: {
          description: 'The secret',
          schema: objectSchema({ secret: text(64), uri: text(1024) }),
          example: {
            secret: 'GEZDGNBVGY3TQOJQGEZDGNBVGY3TQOJQ',
            uri: 'otpauth://totp/Writ:ann%40example.com',
          },
        },
      },
    },
    handle: async (call) => offerTotp(actorOf(call).person),
  });

  manage<{ secret: string; code: string }>(app, deps, {
    method: 'POST',
    url: '/v1/session/totp/confirm',
    access: 'signed-in',
    credential: 'proved-session',
    operation: {
      id: 'confirmCodes',
      summary: 'Sets one-time codes up, by the first one',
      body: {
        description: 'The secret that was offered, and the code that the app shows.',
        schema: objectSchema({ secret: text(64), code: text(6) }),
        examples: { first: { secret: 'GEZDGNBVGY3TQOJQGEZDGNBVGY3TQOJQ', code: '287082' } },
      },
      replies: { 204: noContent('Set up') },
      problems: ['conflict'],
    },
    handle: async (call) => {
      const result = await confirmTotp(deps, actorOf(call).person, call.body);
      if (result === 'wrong') throw wrongCredentials();
      if (result === 'conflict') throw conflict('codes are set up: remove them first');
    },
  });

  manage(app, deps, {
    method: 'DELETE',
    url: '/v1/session/totp',
    access: 'signed-in',
    credential: 'proved-session',
    operation: {
      id: 'removeCodes',
      summary: 'Gives one-time codes up',
      replies: { 204: noContent('Removed') },
      problems: ['conflict'],
    },
    handle: async (call) => {
      if ((await removeTotp(deps, actorOf(call))) === 'conflict') throw conflict();
    },
  });
}

interface PasskeyRoutes {
  readonly deps: SignInDeps;
  readonly signedIn: (result: SignedIn, call: ManagedCall<unknown>) => Promise<unknown>;
}

export function addPasskeyRoutes(app: FastifyInstance, { deps, signedIn }: PasskeyRoutes): void {
  const { directory } = deps;

  manage(app, deps, {
    method: 'POST',
    url: '/v1/session/passkeys/options',
    access: 'signed-in',
    credential: 'session',
    operation: {
      id: 'offerPasskey',
      summary: 'What `navigator.credentials.create` takes',
      replies: { 200: webAuthnReply('The options, as WebAuthn names them') },
    },
    handle: async (call) => await passkeyCreationOptions(deps, actorOf(call).person),
  });

  manage<{ name: string; response: unknown }>(app, deps, {
    method: 'POST',
    url: '/v1/session/passkeys',
    access: 'signed-in',
    credential: 'proved-session',
    operation: {
      id: 'addPasskey',
      summary: 'Sets a passkey up',
      body: {
        description: 'A name, and what the browser gave.',
        schema: objectSchema({ name: text(100), response: { type: 'object' } }),
        examples: { phone: { name: 'phone', response: { id: 'AbC', type: 'public-key' } } },
      },
      replies: {
        201: { description: 'Set up', schema: passkeySchema, example: passkeyExample },
      },
      problems: ['conflict'],
    },
    handle: async (call) => {
      const result = await addPasskey(deps, actorOf(call).person, call.body);
      switch (result.kind) {
        case 'added':
          call.reply.code(201);
          return shownPasskey(result.passkey);
        case 'invalid':
          throw invalidBody(result);
        case 'wrong':
          throw wrongCredentials();
        case 'too-many':
          throw conflict('remove one of your passkeys first');
      }
    },
  });

  manage(app, deps, {
    method: 'GET',
    url: '/v1/session/passkeys',
    access: 'signed-in',
    credential: 'session',
    operation: {
      id: 'listPasskeys',
      summary: "The person's own passkeys",
      replies: { 200: listReply('The passkeys', passkeySchema, passkeyExample) },
    },
    handle: async (call) => {
      const found = await directory.passkeys.list({ parent: actorOf(call).person.id, countMax: 200 });
      return { items: found.map(({ value }) => shownPasskey(value)) };
    },
  });

  manage(app, deps, {
    method: 'DELETE',
    url: '/v1/session/passkeys/:id',
    access: 'signed-in',
    credential: 'proved-session',
    operation: {
      id: 'removePasskey',
      summary: "Removes one of the person's own passkeys",
      parameters: [idParameter('The id in the list.', passkeyExample.id)],
      replies: { 204: noContent('Removed') },
      problems: ['not_found'],
    },
    handle: async (call) => {
      const result = await removePasskey(deps, actorOf(call).person, call.params.id ?? '');
      if (result === 'unknown') throw notFound('passkey');
    },
  });

  manage(app, deps, {
    method: 'POST',
    url: '/v1/session/proof/options',
    access: 'signed-in',
    credential: 'session',
    operation: {
      id: 'askPasskeyForProof',
      summary: 'What `navigator.credentials.get` takes, to show in this session that it is still you',
      replies: { 200: webAuthnReply('The options, as WebAuthn names them') },
    },
    handle: async ({ session }) => {
      if (session === null) throw new Error('a proof is asked for in a session');
      return await passkeyRequestOptions(deps, proofPurpose(session));
    },
  });

  manage(app, deps, {
    method: 'POST',
    url: '/v1/session/passkey-options',
    access: 'public',
    operation: {
      id: 'askPasskey',
      summary: 'What `navigator.credentials.get` takes, to sign in',
      replies: { 200: webAuthnReply('The options, as WebAuthn names them') },
    },
    handle: async () => await passkeyRequestOptions(deps, signInPurpose),
  });

  manage<{ response: unknown }>(app, deps, {
    method: 'POST',
    url: '/v1/session/passkey',
    access: 'public',
    operation: {
      id: 'signInByPasskey',
      summary: 'Signs a person in by a passkey',
      body: {
        description: 'What the browser gave.',
        schema: objectSchema({ response: { type: 'object' } }),
        examples: { answer: { response: { id: 'AbC', type: 'public-key' } } },
      },
      replies: { 200: sessionView('Signed in') },
      problems: ['wrong_credentials', 'too_many_attempts'],
    },
    handle: async (call) => {
      const { clientAddress: address } = call.request;
      const subject = { what: 'passkey', address } as const;
      const attempt = reserved(reserveUnguessable(deps.attempts, subject, directory.clock()));
      const answered = await checkPasskey(deps, signInPurpose, call.body.response);
      if (answered === null) throw wrongCredentials();
      attempt.succeeded();
      return await signedIn(await startSession(deps, answered.person, address), call);
    },
  });
}

const signInPurpose = 'sign in';

function webAuthnReply(description: string): OperationReply {
  const schema: JsonSchema = { type: 'object', additionalProperties: true };
  return { description, schema, example: { challenge: 'AbC' } };
}

const passkeySchema = objectSchema({ id: text(1400), name: text(100), created_at: time });
const passkeyExample = { id: 'AbC', name: 'phone', created_at: '2026-03-02T10:00:00.000Z' };

function shownPasskey({ id, name, createdAtMs }: { id: string; name: string; createdAtMs: number }) {
  return { id, name, created_at: timeText(createdAtMs) };
}
