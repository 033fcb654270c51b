// Routes of the management API: who asks, whether the table of roles lets them, and a body that is what it should be,
// before the route's own work. INVARIANT: a route says which operation of the table it is, that it is for whoever is
// signed in, or that it is public, and which credentials it takes; there is no other way to add one.

import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { type JsonLimits, readJson } from '../../../language/json/read.ts';
import type { Invalid } from '../../people/access.ts';
import { type Grant, grantOf, type OperationName, type Reach, reachOf } from '../../people/operations.ts';
import type { Actor, Session } from '../../people/person.ts';
import type { SignInDeps } from '../../people/sign-in.ts';
import type { AgentRow } from '../../store/contract/records.ts';
import { jsonType } from '../contract/content-type.ts';
import type { Credential, JsonSchema, Operation, Parameter } from '../contract/operation.ts';
import { type ProblemCode, ProblemError, type ProblemPlace } from '../contract/problem.ts';
import type { Identify } from './identify.ts';
import { identifyPerson } from './identify-person.ts';
import { requireProof, withProof } from './proof.ts';

/** Who may use a route: an operation of the table, anybody who is signed in, or anybody at all. */
export type Access = OperationName | 'signed-in' | 'public';

interface TakesCredential {
  readonly access: Access;
  /**
   * `session-or-token` where an operation of the table says nothing else. What only a signed-in person does for themselves
   * says it always. `proved-session`: the body also shows, there and then, that it is them.
   */
  readonly credential?: Credential;
}

/** What is for whoever is signed in cannot leave out which credentials it takes. */
type NamedCredential =
  | { readonly access: Exclude<Access, 'signed-in'> }
  | { readonly access: 'signed-in'; readonly credential: Credential };

export type ManagedRoute<Body> = RouteParts<Body> & TakesCredential & NamedCredential;

interface RouteParts<Body> {
  readonly method: 'GET' | 'POST' | 'PATCH' | 'DELETE';
  readonly url: string;
  /** Agents may use it as well, each with its key; whose it is, is for the route to look. */
  readonly identify?: Identify;
  /** Where a body may be larger or deeper than others. */
  readonly bodyMax?: JsonLimits;
  readonly operation: Omit<Operation, 'security' | 'problems' | 'parameters'> & {
    readonly parameters?: readonly Parameter[];
    /** Besides those of every managed route. */
    readonly problems?: readonly ProblemCode[];
  };
  readonly handle: (call: ManagedCall<Body>) => Promise<unknown>;
}

/** What a route works on. */
export interface ManagedCall<Body> {
  /** Null on a public route, and for an agent. */
  readonly actor: Actor | null;
  /** Null for a person. */
  readonly agent: AgentRow | null;
  readonly session: Session | null;
  /** What the table grants: `own` leaves it to the route to look whose it is, by `reach`. */
  readonly grant: Grant;
  /** How far the grant reaches, each role for itself; nowhere for an agent, whose requests are its own. */
  readonly reach: Reach;
  readonly body: Body;
  readonly params: Readonly<Record<string, string>>;
  readonly query: Readonly<Record<string, string>>;
  readonly request: FastifyRequest;
  readonly reply: FastifyReply;
}

/** A call of somebody who is signed in. */
export type SignedInCall<Body> = ManagedCall<Body> & { readonly actor: Actor };

const bodyMaxDefault: JsonLimits = { bytesMax: 64 * 1024, depthMax: 8 };

/** Adds one route. */
export function manage<Body = undefined>(
  app: FastifyInstance,
  deps: SignInDeps,
  route: ManagedRoute<Body>,
): void {
  const { method, url, access, identify, bodyMax = bodyMaxDefault, handle } = route;
  const { credential = 'session-or-token' } = route;
  const operation = credential === 'proved-session' ? withProof(route.operation) : route.operation;
  const { body } = operation;
  const isOfAgents = identify !== undefined;
  app.route({
    method,
    url,
    bodyLimit: bodyMax.bytesMax,
    ...(isOfAgents
      ? {
          onRequest: async (request: FastifyRequest, reply: FastifyReply) => {
            if (request.headers['x-agent-api-key'] !== undefined) await identify(request, reply);
          },
        }
      : {}),
    config: {
      operation: {
        ...operation,
        ...(access === 'public' ? {} : { access, credential }),
        security: securityOf(access, credential, isOfAgents),
        problems: [
          ...problemsOf(access, operation.problems ?? [], body !== undefined),
          ...(access === 'public' ? [] : problemsOfCredential[credential]),
          ...(isOfAgents ? problemsOfAgents : []),
          // An id of dots is taken for a step in the address.
          ...(url.includes(':') ? (['unknown_route'] as const) : []),
        ],
      },
    },
    schema: { response: replySchemas(operation.replies) },
    handler: async (request, reply) => {
      const who = await whoAsks(deps, { access, credential }, request);
      const content = body === undefined ? undefined : readBody(request, body.schema, bodyMax);
      const params = request.params as Record<string, string>;
      const query = readQuery(request, operation.parameters ?? []);
      if (credential === 'proved-session') await requireProof(deps, who, { shown: content, request });
      const result = await handle({ ...who, body: content as Body, params, query, request, reply });
      return result ?? reply.code(204).send();
    },
  });
}

function replySchemas(replies: Operation['replies']): Record<string, JsonSchema> {
  return Object.fromEntries(
    Object.entries(replies).flatMap(([status, { schema }]) =>
      schema === undefined ? [] : [[status, schema]],
    ),
  );
}

/** The actor of a call that is not public. */
export function actorOf({ actor }: ManagedCall<unknown>): Actor {
  if (actor === null) throw new Error('a route that is not public has an actor');
  return actor;
}

function securityOf(access: Access, credential: Credential, isOfAgents: boolean): Operation['security'] {
  if (access === 'public') return null;
  if (isOfAgents) return 'agentOrPerson';
  return credential === 'session-or-token' ? 'person' : 'session';
}

async function whoAsks(
  deps: SignInDeps,
  { access, credential }: { readonly access: Access; readonly credential: Credential },
  request: FastifyRequest,
): Promise<Pick<ManagedCall<unknown>, 'actor' | 'agent' | 'session' | 'grant' | 'reach'>> {
  const agent = request.identity?.agent ?? null;
  if (agent !== null) return { agent, actor: null, session: null, grant: 'own', reach: nowhere };
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

const nowhere: Reach = { all: false, own: false, asked: false };

export function notAllowed(detail = 'your roles do not allow this'): ProblemError {
  return new ProblemError('not_allowed', detail);
}

export function notFound(what: string): ProblemError {
  return new ProblemError('not_found', `there is no such ${what}`);
}

export function conflict(detail = 'somebody else changed this at the same time: look again'): ProblemError {
  return new ProblemError('conflict', detail);
}

/** Problems of fields, by the name that the body gives them. */
export function invalidBody({ problems }: Invalid): ProblemError {
  const errors = problems.map(({ field, detail }) => ({ pointer: `/${field}`, detail }));
  return new ProblemError('invalid_body', errors[0]?.detail ?? 'the body is not what it should be', {
    errors,
  });
}

function readBody(request: FastifyRequest, schema: JsonSchema, bodyMax: JsonLimits): unknown {
  if (!jsonType.test(request.headers['content-type'] ?? '')) {
    throw new ProblemError('unsupported_content_type', 'send `Content-Type: application/json`');
  }
  const bytes = Buffer.isBuffer(request.body) ? request.body : Buffer.alloc(0);
  const json = readJson(bytes, bodyMax);
  if (!json.ok) throw new ProblemError('invalid_json', json.issue.detail, { errors: [json.issue] });
  const validate = request.compileValidationSchema(schema);
  if (validate(json.value)) return json.value;
  const errors: ProblemPlace[] = (validate.errors ?? []).slice(0, placesMax).map(placeOf);
  throw new ProblemError('invalid_body', errors[0]?.detail ?? '', { errors });
}

const placesMax = 10;

function placeOf(error: {
  readonly instancePath: string;
  readonly message?: string;
  readonly params?: Readonly<Record<string, unknown>>;
}): ProblemPlace {
  const extra = error.params?.additionalProperty;
  if (typeof extra === 'string') {
    const name = extra.slice(0, 100).replaceAll('~', '~0').replaceAll('/', '~1');
    return { pointer: `${error.instancePath}/${name}`, detail: 'there is no such field' };
  }
  const allowed = error.params?.allowedValues;
  const values = Array.isArray(allowed) ? `: ${allowed.join(', ')}` : '';
  return { pointer: error.instancePath, detail: `${error.message ?? 'is not what it should be'}${values}` };
}

/** Query parameters that the route names; each once. */
function readQuery(
  request: FastifyRequest,
  parameters: readonly Parameter[],
): Readonly<Record<string, string>> {
  const known = new Map(
    parameters.filter(({ in: place }) => place === 'query').map((one) => [one.name, one]),
  );
  const read: Record<string, string> = {};
  for (const [name, value] of Object.entries(request.query as Record<string, unknown>)) {
    const parameter = known.get(name);
    if (parameter === undefined) {
      const names = [...known.keys()].map((one) => `\`${one}\``).join(', ');
      const help = names === '' ? 'this address takes none' : `this address takes ${names}`;
      throw new ProblemError('invalid_query', `the parameter \`${name.slice(0, 100)}\` is unknown: ${help}`);
    }
    if (typeof value !== 'string')
      throw new ProblemError('invalid_query', `\`${name}\` is there more than once`);
    const { enum: values } = parameter.schema as { enum?: readonly string[] };
    if (values !== undefined && !values.includes(value)) {
      throw new ProblemError('invalid_query', `\`${name}\` is one of ${values.join(', ')}`);
    }
    read[name] = value;
  }
  return read;
}

const problemsOfCredential: Readonly<Record<Credential, readonly ProblemCode[]>> = {
  'session-or-token': [],
  session: ['session_needed'],
  'proved-session': [
    'session_needed',
    'proof_needed',
    'wrong_credentials',
    'code_needed',
    'too_many_attempts',
  ],
};

const problemsOfAgents = [
  'missing_api_key',
  'invalid_api_key',
  'agent_disabled',
  'agent_revoked',
  'rate_limited',
  'too_many_failures',
] as const;

function problemsOf(access: Access, own: readonly ProblemCode[], hasBody: boolean): readonly ProblemCode[] {
  return [
    ...own,
    ...(access === 'public' ? [] : (['not_signed_in', 'cross_site_request'] as const)),
    ...(access === 'public' || access === 'signed-in' ? [] : (['not_allowed'] as const)),
    ...(hasBody ? (['unsupported_content_type', 'invalid_json', 'invalid_body'] as const) : []),
    'body_too_large',
    'invalid_query',
    'internal_error',
    'record_failed',
  ];
}
