// Registers a route of the management API. Before the route's own work it finds who calls, whether the table
// of roles lets them, and whether the body fits its schema.

import type { FastifyInstance, FastifyReply, FastifyRequest, onRequestAsyncHookHandler } from 'fastify';
import { grantOf, type Reach, reachOf } from '../../people/operations.ts';
import type { SignInDeps } from '../../people/sign-in.ts';
import { notAllowed } from '../auth/auth-refusals.ts';
import { type Identifier, type Identify, notKnown } from '../auth/identify-agent.ts';
import { identifyPerson } from '../auth/identify-person.ts';
import { requireProof } from '../auth/proof.ts';
import type { JsonSchema, Operation } from '../contract/operation.ts';
import { ProblemError } from '../contract/problem.ts';
import { readBody, readQuery } from './read-input.ts';
import type { ManagedCall, Route } from './route.ts';

/** What finding the caller needs. */
export interface CallerDeps {
  readonly signInDeps: SignInDeps;
  readonly identify: Identify;
  readonly identifyPoint: Identifier['identifyPoint'];
}

/** Registers one route; its handler receives `deps`. */
export function manage<Deps extends CallerDeps>(app: FastifyInstance, deps: Deps, route: Route<Deps>): void {
  const { method, url, access, isForAgents, isForPoints, bodyMax, operation } = route;
  app.route({
    method,
    url,
    bodyLimit: bodyMax.bytesMax,
    ...(isForAgents ? { onRequest: identifyAgent(deps, access === 'agent') } : {}),
    ...(isForPoints ? { onRequest: identifyPointOf(deps) } : {}),
    schema: { response: replySchemas(operation.replies) },
    handler: async (request, reply) => {
      const call = await readCall(deps, route, { request, reply });
      const result = await route.handle(deps, call);
      return result ?? reply.code(204).send();
    },
  });
}

/**
 * Accepts the key of an agent or enforcement point in `Authorization` as well, where other protocols send
 * theirs.
 */
function takeBearer({ headers }: FastifyRequest): void {
  const [, key] = /^Bearer +(writ(?:pep)?_\w+) *$/i.exec(headers.authorization ?? '') ?? [];
  if (key !== undefined) headers['x-agent-api-key'] ??= key;
}

/**
 * Identifies a caller that sends an agent's key as that agent. When only agents may call, a request without a
 * key is refused too, so nobody else is looked for later.
 */
function identifyAgent({ identify }: CallerDeps, isForAgentsAlone: boolean): onRequestAsyncHookHandler {
  return async (request) => {
    if (isForAgentsAlone) takeBearer(request);
    if (isForAgentsAlone || request.headers['x-agent-api-key'] !== undefined) await identify(request);
  };
}

/** Identifies a caller that sends a key as the enforcement point of that key. */
function identifyPointOf({ identifyPoint }: CallerDeps): onRequestAsyncHookHandler {
  return async (request) => {
    if (request.headers['x-agent-api-key'] !== undefined) await identifyPoint(request);
  };
}

/** Runs all checks of a call in their order; throws the first that fails. */
async function readCall(
  { signInDeps }: CallerDeps,
  route: Route<never>,
  exchange: { readonly request: FastifyRequest; readonly reply: FastifyReply },
): Promise<ManagedCall<unknown>> {
  const { operation, bodyMax, credential } = route;
  const { request } = exchange;
  const who = await whoAsks(signInDeps, route, request);
  const body = operation.body === undefined ? undefined : readBody(request, operation.body.schema, bodyMax);
  const params = request.params as Record<string, string>;
  const query = readQuery(request, operation.parameters ?? []);
  if (credential === 'proved-session') await requireProof(signInDeps, who, { shown: body, request });
  return { ...who, ...exchange, body, params, query };
}

async function whoAsks(
  deps: SignInDeps,
  { access, credential }: Pick<Route<never>, 'access' | 'credential'>,
  request: FastifyRequest,
): Promise<Pick<ManagedCall<unknown>, 'actor' | 'agent' | 'point' | 'session' | 'grant' | 'reach'>> {
  const agent = null;
  if (request.identity !== null) {
    const { agent: caller, point } = request.identity;
    const by = point === undefined ? { agent: caller } : { agent: caller, point };
    return { ...by, actor: null, session: null, grant: 'own', reach: nowhere };
  }
  if (request.pointAlone !== null)
    return { agent, point: request.pointAlone, actor: null, session: null, grant: 'own', reach: nowhere };
  if (access === 'agent') throw notKnown('missing');
  if (access === 'public') return { agent, actor: null, session: null, grant: 'yes', reach: nowhere };
  const { actor, session } = await identifyPerson(deps, request);
  if (session === null && credential !== 'session-or-token') {
    throw new ProblemError('session_needed', 'sign in: a personal token does not do this');
  }
  if (access === 'signed-in') return { agent, actor, session, grant: 'yes', reach: nowhere };
  const grant = grantOf(actor.roles, access);
  if (grant === 'no') throw notAllowed();
  return { agent, actor, session, grant, reach: reachOf(actor.roles, access) };
}

const nowhere: Reach = { all: false, own: false, asked: false, asOwner: false };

function replySchemas(replies: Operation['replies']): Record<string, JsonSchema> {
  return Object.fromEntries(
    Object.entries(replies).flatMap(([status, { schema }]) =>
      schema === undefined ? [] : [[status, schema]],
    ),
  );
}
