// What a route of the management API is: a constant that says where it stands, who may use it, what it takes and
// answers, and what it does. Registering it and the OpenAPI document are both made from it. INVARIANT: a route says which
// operation of the table of roles it is, that it is for everybody who is signed in, or that it is public, and which credentials
// it takes; there is no other way to make one.

import type { FastifyReply, FastifyRequest } from 'fastify';
import type { JsonLimits } from '../../../language/json/read.ts';
import type { ActingPoint } from '../../agents/points/point.ts';
import type { Grant, OperationName, Reach } from '../../people/operations.ts';
import type { Actor, Session } from '../../people/person.ts';
import type { AgentCaller } from '../../requests/record/asked-by.ts';
import type { AgentRow } from '../../store/contract/records.ts';
import type { Credential, DescribedRoute, Operation, Parameter } from '../contract/operation.ts';
import type { ProblemCode } from '../contract/problem.ts';
import { withProof } from './proof.ts';

/** Who may use a route: an operation of the table of roles, anybody who is signed in, an agent alone, or anybody at all. */
export type Access = OperationName | 'signed-in' | 'agent' | 'public';

interface TakesCredential {
  readonly access: Access;
  /**
   * `session-or-token` where an operation of the table says nothing else. What only a signed-in person does for themselves
   * says it always. `proved-session`: the body also proves, there and then, that it is them.
   */
  readonly credential?: Credential;
}

/** A route for everybody who is signed in cannot leave out which credentials it takes. */
type NamedCredential =
  | { readonly access: Exclude<Access, 'signed-in'> }
  | { readonly access: 'signed-in'; readonly credential: Credential };

interface RouteParts {
  readonly method: 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE';
  readonly url: string;
  /** Agents may use it as well, each with its key; the handler checks whose it is. */
  readonly isForAgents?: boolean;
  /** Enforcement points may use it as well, each with its key and for no agent; the handler checks which. */
  readonly isForPoints?: boolean;
  /** Set where a body may be larger or deeper than others. */
  readonly bodyMax?: JsonLimits;
  readonly operation: Omit<Operation, 'security' | 'problems'> & {
    /** Besides those of every route. */
    readonly problems?: readonly ProblemCode[];
  };
}

type RouteDraft<Deps, Body> = RouteParts &
  TakesCredential &
  NamedCredential & { readonly handle: (deps: Deps, call: ManagedCall<Body>) => Promise<unknown> };

/** A route as lists hold it. Its handler takes the parts of the service that it names in `Deps`. */
export interface Route<Deps> extends DescribedRoute {
  readonly access: Access;
  readonly credential: Credential;
  readonly isForAgents: boolean;
  readonly isForPoints: boolean;
  readonly bodyMax: JsonLimits;
  /** `call.body` has passed the schema of the operation. */
  readonly handle: (deps: Deps, call: ManagedCall<unknown>) => Promise<unknown>;
}

/** All that the handlers of some routes take together. */
export type DepsOf<Routes extends readonly Route<never>[]> = [Routes[number]['handle']] extends [
  (deps: infer Deps, call: ManagedCall<unknown>) => Promise<unknown>,
]
  ? Deps
  : never;

/** What a route works on. */
export interface ManagedCall<Body> {
  /** Null on a public route, for an agent and for an enforcement point. */
  readonly actor: Actor | null;
  /** Null for a person. */
  readonly agent: AgentRow | null;
  /** Absent where it is not an enforcement point that calls. */
  readonly point?: ActingPoint;
  readonly session: Session | null;
  /** What the table of roles grants: `own` leaves it to the route to check whose it is, by `reach`. */
  readonly grant: Grant;
  /** How far the grant reaches, each role for itself; nowhere for an agent, whose requests are its own. */
  readonly reach: Reach;
  readonly body: Body;
  readonly params: Readonly<Record<string, string>>;
  readonly query: Readonly<Record<string, string>>;
  readonly request: FastifyRequest;
  readonly reply: FastifyReply;
}

const bodyMaxDefault: JsonLimits = { bytesMax: 64 * 1024, depthMax: 8 };
/** For bodies that hold the payload of a request. */
export const payloadBodyMax: JsonLimits = { bytesMax: 256 * 1024, depthMax: 32 };

/** Makes a route; `Body` is what the schema of its body lets through. */
export function route<Deps, Body = undefined>(draft: RouteDraft<Deps, Body>): Route<Deps> {
  const { method, url, access, bodyMax = bodyMaxDefault, handle } = draft;
  const isForAgents = draft.isForAgents ?? access === 'agent';
  const isForPoints = draft.isForPoints ?? false;
  const credential = draft.credential ?? 'session-or-token';
  const operation = describe(draft, { access, credential, isForAgents, isForPoints });
  return {
    method,
    url,
    access,
    credential,
    isForAgents,
    isForPoints,
    bodyMax,
    operation,
    handle: (deps, call) => handle(deps, call as ManagedCall<Body>),
  };
}

/** The actor of a call that is not public. */
export function actorOf({ actor }: ManagedCall<unknown>): Actor {
  if (actor === null) throw new Error('a route that is not public has an actor');
  return actor;
}

/** Who calls with a key, where no person does. */
export function callerIn({ agent, point }: ManagedCall<unknown>): AgentCaller {
  if (agent === null) throw new Error('a route for agents has an agent');
  return point === undefined ? { agent } : { agent, point };
}

/** For enforcement points. */
export const namedAgentHeader: Parameter = {
  name: 'X-Writ-Agent',
  in: 'header',
  isRequired: false,
  description:
    'Required with the key of an enforcement point, which is sent as `X-Agent-API-Key`: the agent that it asks for, by name or id.',
  schema: { type: 'string', minLength: 1, maxLength: 200 },
  example: 'buyer',
};

interface Callers {
  readonly access: Access;
  readonly credential: Credential;
  readonly isForAgents: boolean;
  readonly isForPoints: boolean;
}

/** The operation with what follows from who may use it. */
function describe({ url, operation: draft }: RouteParts, callers: Callers): Operation {
  const { access, credential, isForAgents, isForPoints } = callers;
  const operation = credential === 'proved-session' ? withProof(draft) : draft;
  return {
    ...operation,
    ...(isForAgents ? { parameters: [...(operation.parameters ?? []), namedAgentHeader] } : {}),
    ...(isOfPeople(access) ? { access, credential } : {}),
    security: securityOf(callers),
    problems: [
      ...problemsOf(access, operation.problems ?? [], operation.body !== undefined),
      ...(isOfPeople(access) ? problemsOfCredential[credential] : []),
      ...(isForAgents ? problemsOfAgents : []),
      ...(isForPoints ? problemsOfPoints : []),
      // An id of dots is taken for a step in the address.
      ...(url.includes(':') ? (['unknown_route'] as const) : []),
    ],
  };
}

function isOfPeople(access: Access): access is OperationName | 'signed-in' {
  return access !== 'public' && access !== 'agent';
}

function securityOf({ access, credential, isForAgents, isForPoints }: Callers): Operation['security'] {
  if (access === 'public') return null;
  if (access === 'agent') return 'agentKey';
  if (isForAgents || isForPoints) return 'agentOrPerson';
  return credential === 'session-or-token' ? 'person' : 'session';
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
  'invalid_header',
  'agent_not_assigned',
  'point_not_active',
  'rate_limited',
  'too_many_failures',
] as const;

const problemsOfPoints = [
  'invalid_api_key',
  'point_not_active',
  'rate_limited',
  'too_many_failures',
] as const;

function problemsOf(access: Access, own: readonly ProblemCode[], hasBody: boolean): readonly ProblemCode[] {
  return [
    ...own,
    ...(isOfPeople(access) ? (['not_signed_in', 'cross_site_request'] as const) : []),
    ...(isOfPeople(access) && access !== 'signed-in' ? (['not_allowed'] as const) : []),
    ...(hasBody ? (['unsupported_content_type', 'invalid_json', 'invalid_body'] as const) : []),
    'body_too_large',
    'invalid_query',
    'internal_error',
    'record_failed',
  ];
}
