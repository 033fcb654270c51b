// /v1/tokens: a person's own tokens, for their programs.

import { isoTime } from '../../../../language/value/iso-time.ts';
import { roles } from '../../../people/operations.ts';
import type { PersonalToken } from '../../../people/person.ts';
import type { SignInDeps } from '../../../people/sign-in.ts';
import * as tokens from '../../../people/tokens.ts';
import { invalidBody, notFound } from '../../auth/auth-refusals.ts';
import {
  idParameter,
  listReply,
  noContent,
  objectSchema,
  text,
  textList,
  time,
} from '../../contract/schemas.ts';
import { actorOf, type Route, route } from '../../routing/route.ts';

interface TokenDeps {
  readonly signInDeps: Pick<SignInDeps, 'directory' | 'notify'>;
}
const tokenProperties = {
  id: text(20),
  name: text(100),
  roles: textList,
  dpop_jkt: {
    type: ['string', 'null'],
    description: 'The thumbprint of the key that the sender has to prove (RFC 9449); null without one.',
  },
  created_at: time,
  ends_at: time,
};
const tokenSchema = objectSchema(tokenProperties);
const tokenExample = {
  id: 'a1B2c3D4',
  name: 'ci',
  roles: ['auditor'],
  dpop_jkt: null,
  created_at: '2026-03-02T10:00:00.000Z',
  ends_at: '2026-05-31T10:00:00.000Z',
};

const listTokens = route<TokenDeps>({
  method: 'GET',
  url: '/v1/tokens',
  access: 'signed-in',
  credential: 'session',
  operation: {
    id: 'listTokens',
    summary: "The caller's personal tokens",
    replies: { 200: listReply('The tokens', tokenSchema, tokenExample) },
  },
  handle: async ({ signInDeps: { directory } }, call) => {
    const storedPersonalTokens = await directory.tokens.list({
      parent: actorOf(call).person.id,
      countMax: 200,
    });
    return { items: storedPersonalTokens.map(({ value }) => tokenView(value)) };
  },
});

interface TokenBody {
  readonly name: string;
  readonly roles: (typeof roles)[number][];
  readonly days: number;
  readonly dpop_jkt?: string;
}

const createToken = route<TokenDeps, TokenBody>({
  method: 'POST',
  url: '/v1/tokens',
  access: 'signed-in',
  credential: 'proved-session',
  operation: {
    id: 'createToken',
    summary: 'Creates a personal token',
    body: {
      description: `Roles must be roles of the person; \`days\` is at most ${tokens.tokenDaysMax}. \`dpop_jkt\` is the thumbprint (RFC 7638) of a key: each request with the token then has to prove this key.`,
      schema: objectSchema(
        {
          name: text(100),
          roles: { type: 'array', items: { type: 'string', enum: roles }, maxItems: roles.length },
          days: { type: 'integer', minimum: 1, maximum: tokens.tokenDaysMax },
        },
        { dpop_jkt: text(43) },
      ),
      examples: { ci: { name: 'ci', roles: ['auditor'], days: 90 } },
    },
    replies: {
      201: {
        description: 'Created; `token` is shown only once',
        schema: objectSchema({ ...tokenProperties, token: text(100) }),
        example: { ...tokenExample, token: `writp_${'0'.repeat(46)}` },
      },
    },
  },
  handle: async ({ signInDeps }, call) => {
    const { dpop_jkt: jkt, ...draft } = call.body;
    const result = await tokens.createToken(signInDeps.directory, actorOf(call), { ...draft, jkt });
    if (result.kind === 'invalid') throw invalidBody(result);
    signInDeps.notify(result.notice, actorOf(call).person);
    call.reply.code(201);
    return { ...tokenView(result.token), token: result.text };
  },
});

const deleteToken = route<TokenDeps>({
  method: 'DELETE',
  url: '/v1/tokens/:id',
  access: 'signed-in',
  credential: 'session',
  operation: {
    id: 'deleteToken',
    summary: "Removes one of the caller's tokens",
    parameters: [idParameter('The id in the list.', tokenExample.id)],
    replies: { 204: noContent('Removed') },
    problems: ['not_found'],
  },
  handle: async ({ signInDeps: { directory } }, call) => {
    const result = await tokens.removeToken(directory, actorOf(call), call.params.id ?? '');
    if (result === 'unknown') throw notFound('token');
  },
});

export const tokenRoutes: readonly Route<TokenDeps>[] = [listTokens, createToken, deleteToken];

function tokenView({ id, name, roles, jkt, createdAtMs, endsAtMs }: PersonalToken) {
  const [created_at, ends_at] = [isoTime(createdAtMs), isoTime(endsAtMs)];
  return { id, name, roles: [...roles], dpop_jkt: jkt ?? null, created_at, ends_at };
}
