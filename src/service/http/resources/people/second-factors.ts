// One-time codes and passkeys, which prove beside a password who somebody is; each person sets them up for
// themselves.

import { isoTime } from '../../../../language/value/iso-time.ts';
import { confirmTotp, offerTotp, removeTotp } from '../../../people/codes.ts';
import { proofPurpose } from '../../../people/identity-proof.ts';
import * as passkeys from '../../../people/passkeys.ts';
import * as recovery from '../../../people/recovery-codes.ts';
import { startSession } from '../../../people/sessions.ts';
import { mayUseLocalWay } from '../../../people/sign-in.ts';
import { reserveUnguessable } from '../../../people/sign-in-limits.ts';
import { conflict, invalidBody, notFound } from '../../auth/auth-refusals.ts';
import { reserved, ssoOnly, wrongCredentials } from '../../auth/credentials.ts';
import type { JsonSchema, OperationReply } from '../../contract/operation.ts';
import { idParameter, listReply, noContent, objectSchema, text, time } from '../../contract/schemas.ts';
import { actorOf, type Route, route } from '../../routing/route.ts';
import { sessionView } from './session-view.ts';
import { type SignedInDeps, signedIn } from './signed-in.ts';

const signInPurpose = 'sign in';

const passkeySchema = objectSchema({ id: text(1400), name: text(100), created_at: time });
const passkeyExample = { id: 'AbC', name: 'phone', created_at: '2026-03-02T10:00:00.000Z' };

const startTotpSetup = route<SignedInDeps>({
  method: 'POST',
  url: '/v1/session/totp',
  access: 'signed-in',
  credential: 'session',
  operation: {
    id: 'startTotpSetup',
    summary: 'Starts the setup of one-time codes with a new secret; the first code confirms it',
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
  handle: async (_deps, call) => offerTotp(actorOf(call).person),
});

const confirmTotpSetup = route<SignedInDeps, { secret: string; code: string }>({
  method: 'POST',
  url: '/v1/session/totp/confirm',
  access: 'signed-in',
  credential: 'proved-session',
  operation: {
    id: 'confirmTotpSetup',
    summary: 'Confirms the setup of one-time codes with the first code, and returns recovery codes',
    body: {
      description: 'The new secret, and the code from the app.',
      schema: objectSchema({ secret: text(64), code: text(6) }),
      examples: { first: { secret: 'GEZDGNBVGY3TQOJQGEZDGNBVGY3TQOJQ', code: '287082' } },
    },
    replies: { 200: recoveryCodesReply('Set up; the recovery codes are shown only once') },
    problems: ['conflict'],
  },
  handle: async ({ signInDeps }, call) => {
    const result = await confirmTotp(signInDeps, actorOf(call).person, call.body);
    if (result.kind === 'wrong') throw invalidBody({ kind: 'invalid', problems: [notTheCode] });
    if (result.kind !== 'set-up') throw conflict('codes are set up: remove them first');
    return { recovery_codes: result.recoveryCodes };
  },
});

const notTheCode = { field: 'code', detail: 'this is not the code that the app shows now' };

const getRecoveryCodes = route<SignedInDeps>({
  method: 'GET',
  url: '/v1/session/recovery-codes',
  access: 'signed-in',
  credential: 'session',
  operation: {
    id: 'getRecoveryCodes',
    summary: "The number of the person's unused recovery codes",
    replies: {
      200: {
        description: 'The count',
        schema: objectSchema({ remaining: { type: 'integer' } }),
        example: { remaining: recovery.recoveryCodesMax },
      },
    },
  },
  handle: async ({ signInDeps: { directory } }, call) => ({
    remaining: await recovery.recoveryCodesLeft(directory, actorOf(call).person.id),
  }),
});

const createRecoveryCodes = route<SignedInDeps>({
  method: 'POST',
  url: '/v1/session/recovery-codes',
  access: 'signed-in',
  credential: 'proved-session',
  operation: {
    id: 'createRecoveryCodes',
    summary: 'Creates new recovery codes, which replace all earlier ones',
    replies: { 201: recoveryCodesReply('Created; the codes are shown only once') },
    problems: ['conflict'],
  },
  handle: async ({ signInDeps }, call) => {
    const result = await recovery.makeRecoveryCodes(signInDeps, actorOf(call).person);
    if (result.kind === 'no-codes') throw conflict('set up one-time codes first');
    if (result.kind !== 'made') throw conflict();
    call.reply.code(201);
    return { recovery_codes: result.codes };
  },
});

const deleteTotp = route<SignedInDeps>({
  method: 'DELETE',
  url: '/v1/session/totp',
  access: 'signed-in',
  credential: 'proved-session',
  operation: {
    id: 'deleteTotp',
    summary: "Removes the caller's one-time codes",
    replies: { 204: noContent('Removed') },
    problems: ['conflict'],
  },
  handle: async ({ signInDeps }, call) => {
    if ((await removeTotp(signInDeps, actorOf(call))) === 'conflict') throw conflict();
  },
});

const getPasskeyCreationOptions = route<SignedInDeps>({
  method: 'POST',
  url: '/v1/session/passkeys/options',
  access: 'signed-in',
  credential: 'session',
  operation: {
    id: 'getPasskeyCreationOptions',
    summary: 'The options for `navigator.credentials.create`',
    replies: { 200: webAuthnReply('The options, as WebAuthn defines them') },
  },
  handle: async ({ signInDeps }, call) =>
    await passkeys.passkeyCreationOptions(signInDeps, actorOf(call).person),
});

const addPasskey = route<SignedInDeps, { name: string; response: unknown }>({
  method: 'POST',
  url: '/v1/session/passkeys',
  access: 'signed-in',
  credential: 'proved-session',
  operation: {
    id: 'addPasskey',
    summary: 'Registers a passkey',
    body: {
      description: "A name, and the browser's response.",
      schema: objectSchema({ name: text(100), response: { type: 'object' } }),
      examples: { phone: { name: 'phone', response: { id: 'AbC', type: 'public-key' } } },
    },
    replies: {
      201: { description: 'Set up', schema: passkeySchema, example: passkeyExample },
    },
    problems: ['conflict'],
  },
  handle: async ({ signInDeps }, call) => {
    const result = await passkeys.addPasskey(signInDeps, actorOf(call).person, call.body);
    switch (result.kind) {
      case 'added':
        call.reply.code(201);
        return passkeyView(result.passkey);
      case 'invalid':
        throw invalidBody(result);
      case 'wrong':
        throw wrongCredentials();
      case 'too-many':
        throw conflict('remove one of your passkeys first');
    }
  },
});

const listPasskeys = route<SignedInDeps>({
  method: 'GET',
  url: '/v1/session/passkeys',
  access: 'signed-in',
  credential: 'session',
  operation: {
    id: 'listPasskeys',
    summary: "The caller's passkeys",
    replies: { 200: listReply('The passkeys', passkeySchema, passkeyExample) },
  },
  handle: async ({ signInDeps: { directory } }, call) => {
    const storedPasskeies = await directory.passkeys.list({ parent: actorOf(call).person.id, countMax: 200 });
    return { items: storedPasskeies.map(({ value }) => passkeyView(value)) };
  },
});

const deletePasskey = route<SignedInDeps>({
  method: 'DELETE',
  url: '/v1/session/passkeys/:id',
  access: 'signed-in',
  credential: 'proved-session',
  operation: {
    id: 'deletePasskey',
    summary: "Removes one of the caller's passkeys",
    parameters: [idParameter('The id in the list.', passkeyExample.id)],
    replies: { 204: noContent('Removed') },
    problems: ['not_found'],
  },
  handle: async ({ signInDeps }, call) => {
    const result = await passkeys.removePasskey(signInDeps, actorOf(call).person, call.params.id ?? '');
    if (result === 'unknown') throw notFound('passkey');
  },
});

const getPasskeyChallenge = route<SignedInDeps>({
  method: 'POST',
  url: '/v1/session/proof/options',
  access: 'signed-in',
  credential: 'session',
  operation: {
    id: 'getPasskeyChallenge',
    summary: "The options for `navigator.credentials.get` to prove the caller's identity in this session",
    replies: { 200: webAuthnReply('The options, as WebAuthn defines them') },
  },
  handle: async ({ signInDeps }, { session }) => {
    if (session === null) throw new Error('a proof was requested outside a session');
    return await passkeys.passkeyRequestOptions(signInDeps, proofPurpose(session));
  },
});

const getSignInChallenge = route<SignedInDeps>({
  method: 'POST',
  url: '/v1/session/passkey-options',
  access: 'public',
  operation: {
    id: 'getSignInChallenge',
    summary: 'The options for `navigator.credentials.get` to sign in',
    replies: { 200: webAuthnReply('The options, as WebAuthn defines them') },
  },
  handle: async ({ signInDeps }) => await passkeys.passkeyRequestOptions(signInDeps, signInPurpose),
});

const signInWithPasskey = route<SignedInDeps, { response: unknown }>({
  method: 'POST',
  url: '/v1/session/passkey',
  access: 'public',
  operation: {
    id: 'signInWithPasskey',
    summary: 'Signs in with a passkey',
    body: {
      description: "The browser's response.",
      schema: objectSchema({ response: { type: 'object' } }),
      examples: { answer: { response: { id: 'AbC', type: 'public-key' } } },
    },
    replies: { 200: sessionView('Signed in') },
    problems: ['wrong_credentials', 'sso_only', 'too_many_attempts'],
  },
  handle: async (deps, call) => {
    const { signInDeps } = deps;
    const { clientAddress: address } = call.request;
    const subject = { what: 'passkey', address } as const;
    const attempt = reserved(reserveUnguessable(signInDeps.attempts, subject, signInDeps.directory.clock()));
    const answered = await passkeys.checkPasskey(signInDeps, signInPurpose, call.body.response);
    if (answered === null) throw wrongCredentials();
    attempt.succeeded();
    if (!mayUseLocalWay(signInDeps, answered.person)) throw ssoOnly();
    const started = await startSession(signInDeps, answered.person, { address, way: 'passkey' });
    return await signedIn(deps, started, call);
  },
});

export const secondFactorRoutes: readonly Route<SignedInDeps>[] = [
  startTotpSetup,
  confirmTotpSetup,
  getRecoveryCodes,
  createRecoveryCodes,
  deleteTotp,
  getPasskeyCreationOptions,
  addPasskey,
  listPasskeys,
  deletePasskey,
  getPasskeyChallenge,
  getSignInChallenge,
  signInWithPasskey,
];

function recoveryCodesReply(description: string): OperationReply {
  const schema = objectSchema({ recovery_codes: { type: 'array', items: text(20) } });
  return { description, schema, example: { recovery_codes: ['K7QPA-XM3DN'] } };
}

function webAuthnReply(description: string): OperationReply {
  const schema: JsonSchema = { type: 'object', additionalProperties: true };
  return { description, schema, example: { challenge: 'AbC' } };
}

function passkeyView({ id, name, createdAtMs }: { id: string; name: string; createdAtMs: number }) {
  return { id, name, created_at: isoTime(createdAtMs) };
}
