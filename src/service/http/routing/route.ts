// Defines a route of the management API: a constant with its address, who may use it, what it takes and
// answers, and what it does. The registered route and the OpenAPI document are both made from this constant.
// INVARIANT: a route names its operation in the table of roles, or that it is for everybody who is signed in,
// for agents alone, or public; and it names which credentials it takes. There is no other way to make a
// route.

import type { FastifyReply, FastifyRequest } from 'fastify';
import type { JsonLimits } from '../../../language/json/read-json.ts';
import type { ActingPoint } from '../../agents/points/point.ts';
import type { Grant, GrantScope, OperationName } from '../../people/operations.ts';
import type { Actor, Session } from '../../people/person.ts';
import type { AgentCaller } from '../../requests/record/request-state.ts';
import type { AgentRow } from '../../store/contract/records.ts';
import { withProof } from '../auth/proof.ts';
import type { Credential, DescribedRoute, Operation, Parameter } from '../contract/operation.ts';
import type { ProblemCode } from '../contract/problem.ts';

/**
 * Who may use a route: whoever may do an operation of the table of roles, anybody who is signed in, an agent
 * alone, or anybody at all.
 */
export type Access = OperationName | 'signed-in' | 'agent' | 'public';

interface TakesCredential {
  readonly access: Access;
  /**
   * Which credentials the route takes; `session-or-token` by default. A route for what only a signed-in
   * person does for themselves always names it. `proved-session`: the body must also prove that the caller is
   * the person of the session.
   */
  readonly credential?: Credential;
}

/** A route for everybody who is signed in must name the credentials that it takes. */
type NamedCredential =
  | { readonly access: Exclude<Access, 'signed-in'> }
  | { readonly access: 'signed-in'; readonly credential: Credential };

interface RouteParts {
  readonly method: 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE';
  readonly url: string;
  /**
   * Agents may use the route as well, each with its key; the handler checks that they reach only what is
   * theirs.
   */
  readonly isForAgents?: boolean;
  /**
   * Enforcement points may use the route as well, each with its key and for no agent; the handler checks
   * which point calls.
   */
  readonly isForPoints?: boolean;
  /** Whether a sub-agent may use the route with a delegated key. */
  readonly isForDelegates?: boolean;
  /** The limits of the body; set when it may be larger or deeper than other bodies. */
  readonly bodyMax?: JsonLimits;
  readonly operation: Omit<Operation, 'security' | 'problems'> & {
    /** Problems besides those of every route. */
    readonly problems?: readonly ProblemCode[];
  };
}

type RouteDraft<Deps, Body> = RouteParts &
  TakesCredential &
  NamedCredential & { readonly handle: (deps: Deps, call: ManagedCall<Body>) => Promise<unknown> };

/** A route as lists of routes hold it. The handler takes the parts of the service that it names in `Deps`. */
export interface Route<Deps> extends DescribedRoute {
  readonly access: Access;
  readonly credential: Credential;
  readonly isForAgents: boolean;
  readonly isForPoints: boolean;
  readonly isForDelegates: boolean;
  readonly bodyMax: JsonLimits;
  /** Does the route's work; `call.body` has passed the schema of the operation. */
  readonly handle: (deps: Deps, call: ManagedCall<unknown>) => Promise<unknown>;
}

/** All parts of the service that the handlers of these routes take together. */
export type DepsOf<Routes extends readonly Route<never>[]> = [Routes[number]['handle']] extends [
  (deps: infer Deps, call: ManagedCall<unknown>) => Promise<unknown>,
]
  ? Deps
  : never;

/** A call as the handler of its route receives it, after all checks. */
export interface ManagedCall<Body> {
  /** The person who calls; null on a public route, and for an agent or an enforcement point. */
  readonly actor: Actor | null;
  /** The agent that calls, or for which an enforcement point calls; null for any other caller. */
  readonly agent: AgentRow | null;
  /** The enforcement point that calls; absent for any other caller. */
  readonly point?: ActingPoint;
  readonly session: Session | null;
  /** What the table of roles grants. With `own`, the route itself checks by `scope` to whom the object belongs. */
  readonly grant: Grant;
  /** The objects that the grant covers, for each role separately; none for an agent, whose requests are its own. */
  readonly scope: GrantScope;
  readonly body: Body;
  readonly params: Readonly<Record<string, string>>;
  readonly query: Readonly<Record<string, string>>;
  readonly request: FastifyRequest;
  readonly reply: FastifyReply;
}

const bodyMaxDefault: JsonLimits = { bytesMax: 64 * 1024, depthMax: 8 };
/** The limits of bodies that hold the payload of a request. */
export const payloadBodyMax: JsonLimits = { bytesMax: 256 * 1024, depthMax: 32 };

/** Makes a route; `Body` is the type of what the schema of its body lets through. */
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
    isForDelegates: draft.isForDelegates ?? false,
    bodyMax,
    operation,
    handle: (deps, call) => handle(deps, call as ManagedCall<Body>),
  };
}

/** The person who calls a route that is not public; throws when there is none. */
export function actorOf({ actor }: ManagedCall<unknown>): Actor {
  if (actor === null) throw new Error('the call has no actor');
  return actor;
}

/** The agent that calls with its own key or through an enforcement point; throws when no agent calls. */
export function callerIn({ agent, point }: ManagedCall<unknown>): AgentCaller {
  if (agent === null) throw new Error('the call has no agent');
  return point === undefined ? { agent } : { agent, point };
}

/** The header in which an enforcement point names an agent. */
export const namedAgentHeader: Parameter = {
  name: 'X-Writ-Agent',
  in: 'header',
  isRequired: false,
  description:
    'The agent for which an enforcement point asks, by name or id. Required when `X-Agent-API-Key` is the key of an enforcement point.',
  schema: { type: 'string', minLength: 1, maxLength: 200 },
  example: 'buyer',
};

interface Callers {
  readonly access: Access;
  readonly credential: Credential;
  readonly isForAgents: boolean;
  readonly isForPoints: boolean;
}

/** The operation, with all that follows from who may use it. */
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
      // An id made of dots is read as a step in the address, so it reaches no route.
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
  'session-or-token': ['invalid_dpop_proof'],
  session: ['session_needed'],
  'proved-session': [
    'session_needed',
    'proof_needed',
    'wrong_credentials',
    'code_needed',
    'code_used',
    'too_many_attempts',
  ],
};

const problemsOfAgents = [
  'missing_api_key',
  'invalid_api_key',
  'invalid_token',
  'invalid_dpop_proof',
  'identity_not_mapped',
  'issuer_keys_unknown',
  'agent_disabled',
  'agent_revoked',
  'delegation_ended',
  'delegated_key',
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

function problemsOf(
  access: Access,
  problems: readonly ProblemCode[],
  hasBody: boolean,
): readonly ProblemCode[] {
  return [
    ...problems,
    ...(isOfPeople(access) ? (['not_signed_in', 'cross_site_request'] as const) : []),
    ...(isOfPeople(access) && access !== 'signed-in' ? (['not_allowed'] as const) : []),
    ...(hasBody ? (['unsupported_content_type', 'invalid_json', 'invalid_body'] as const) : []),
    'body_too_large',
    'invalid_query',
    'internal_error',
    'record_failed',
    'store_busy',
  ];
}
