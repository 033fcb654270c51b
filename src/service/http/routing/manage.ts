// Registers a route of the management API. Before the route's own work it authenticates the caller, checks
// the caller's roles, and checks the body against its schema.

import type { FastifyInstance, FastifyReply, FastifyRequest, onRequestAsyncHookHandler } from 'fastify';
import { type JsonLimits, readJson } from '../../../language/json/read-json.ts';
import { type GrantScope, grantOf, grantScopeOf } from '../../people/operations.ts';
import type { SignInDeps } from '../../people/sign-in.ts';
import type { ProofChecker } from '../../workloads/proof.ts';
import { notAllowed } from '../auth/auth-refusals.ts';
import { type Identifier, type Identify, invalidKey } from '../auth/identify-agent.ts';
import { identifyPerson } from '../auth/identify-person.ts';
import { requireProof } from '../auth/proof.ts';
import { sentToken } from '../auth/sent-token.ts';
import { jsonType } from '../contract/content-type.ts';
import type { JsonSchema, Operation, Parameter } from '../contract/operation.ts';
import { ProblemError, type ProblemLocation } from '../contract/problem.ts';
import type { ManagedCall, Route } from './route.ts';

// Describes for people what is wrong with a body that does not fit its schema, and where. INVARIANT: the only
// parts of a body in these words are the names of its fields, cut short.

/** What is wrong with a value, as the schema validator reports it. */
export interface SchemaFault {
  readonly keyword: string;
  readonly instancePath: string;
  readonly message?: string;
  readonly params?: Readonly<Record<string, unknown>>;
}

function faultLocation(fault: SchemaFault): ProblemLocation {
  const { keyword, instancePath, params = {} } = fault;
  const { additionalProperty: extra, missingProperty: missing } = params;
  if (keyword === 'additionalProperties' && typeof extra === 'string')
    return { pointer: `${instancePath}/${pointerPart(extra)}`, detail: 'unknown field' };
  if (keyword === 'required' && typeof missing === 'string')
    return { pointer: `${instancePath}/${pointerPart(missing)}`, detail: 'is missing' };
  return { pointer: instancePath, detail: detailOf(fault) };
}

/** Words for the first fault of a body, with its place. */
function detailOfBody(places: readonly ProblemLocation[]): string {
  const [first] = places;
  if (first === undefined) return 'the body does not match the schema of this address';
  return first.pointer === '' ? `the body ${first.detail}` : `\`${first.pointer}\`: ${first.detail}`;
}

function detailOf({ keyword, message, params = {} }: SchemaFault): string {
  const limit = String(params.limit);
  switch (keyword) {
    case 'type':
      return `must be ${jsonTypeText(params.type)}`;
    case 'enum':
      return `must be one of ${listOf(params.allowedValues)}`;
    case 'minLength':
      return limit === '1' ? 'must not be empty' : `must have at least ${limit} characters`;
    case 'maxLength':
      return `must have at most ${limit} characters`;
    case 'minimum':
      return `must be at least ${limit}`;
    case 'maximum':
      return `must be at most ${limit}`;
    case 'minItems':
      return limit === '1' ? 'must have at least one item' : `must have at least ${limit} items`;
    case 'maxItems':
      return `must have at most ${limit} items`;
    case 'pattern':
      return `must match the pattern ${String(params.pattern)}`;
    default:
      return message ?? 'has an invalid value';
  }
}

const typeNames: Readonly<Record<string, string>> = {
  string: 'a string',
  integer: 'a whole number',
  number: 'a number',
  boolean: 'true or false',
  array: 'a list',
  object: 'an object',
};

function jsonTypeText(type: unknown): string {
  const types = Array.isArray(type) ? type.map(String) : [String(type)];
  return types.map((one) => typeNames[one] ?? one).join(' or ');
}

function listOf(values: unknown): string {
  return Array.isArray(values) ? values.map((one) => `\`${String(one)}\``).join(', ') : 'some values';
}

const nameLengthMax = 100;

function pointerPart(name: string): string {
  return name.slice(0, nameLengthMax).replaceAll('~', '~0').replaceAll('/', '~1');
}

/**
 * Reads the input of a call: a body that fits its schema, and the query parameters that the route names.
 * INVARIANT: what a route does not name never reaches it.
 */
function readBody(request: FastifyRequest, schema: JsonSchema, bodyMax: JsonLimits): unknown {
  if (!jsonType.test(request.headers['content-type'] ?? '')) {
    throw new ProblemError('unsupported_content_type', 'send `Content-Type: application/json`');
  }
  const bytes = Buffer.isBuffer(request.body) ? request.body : Buffer.alloc(0);
  const json = readJson(bytes, bodyMax);
  if (!json.ok) throw new ProblemError('invalid_json', json.issue.detail, { errors: [json.issue] });
  const validate = request.compileValidationSchema(schema);
  if (validate(json.value)) return json.value;
  const errors = (validate.errors ?? []).slice(0, placesMax).map(faultLocation);
  throw new ProblemError('invalid_body', detailOfBody(errors), { errors });
}

const placesMax = 10;

/** In UTF-8: no longer text can be looked up in every store. */
const parameterBytesMax = 2_046;

/** Throws a ProblemError for a text that not every store can look for. */
function checkText(name: string, value: string, bytesMax: number): void {
  if (value.includes('\0'))
    throw new ProblemError('invalid_query', `\`${name}\` must not contain a NUL character`);
  if (Buffer.byteLength(value) > bytesMax)
    throw new ProblemError('invalid_query', `\`${name}\` must have at most ${bytesMax} bytes`);
}

/**
 * The query parameters that the route names. Throws a ProblemError when a parameter is unknown, repeated,
 * too long, or has a value that is not listed.
 */
function readQuery(
  request: FastifyRequest,
  parameters: readonly Parameter[],
): Readonly<Record<string, string>> {
  const byName = new Map(
    parameters.filter(({ in: place }) => place === 'query').map((one) => [one.name, one]),
  );
  const read: Record<string, string> = {};
  for (const [name, value] of Object.entries(request.query as Record<string, unknown>)) {
    const parameter = byName.get(name);
    if (parameter === undefined) {
      const names = [...byName.keys()].map((one) => `\`${one}\``).join(', ');
      const help = names === '' ? 'this address takes no parameters' : `this address takes ${names}`;
      throw new ProblemError('invalid_query', `the parameter \`${name.slice(0, 100)}\` is unknown: ${help}`);
    }
    if (typeof value !== 'string')
      throw new ProblemError('invalid_query', `\`${name}\` is given more than once`);
    checkText(name, value, parameter.bytesMax ?? parameterBytesMax);
    const { enum: values } = parameter.schema as { enum?: readonly string[] };
    if (values !== undefined && !values.includes(value)) {
      throw new ProblemError('invalid_query', `\`${name}\` must be one of ${values.join(', ')}`);
    }
    read[name] = value;
  }
  return read;
}

/** What finding the caller needs. */
export interface CallerDeps {
  readonly signInDeps: SignInDeps;
  readonly identify: Identify;
  readonly identifyPoint: Identifier['identifyPoint'];
  readonly proofs: ProofChecker;
}

/** Registers one route; its handler receives `deps`. */
export function manage<Deps extends CallerDeps>(app: FastifyInstance, deps: Deps, route: Route<Deps>): void {
  const { method, url, isForAgents, isForPoints, bodyMax, operation } = route;
  app.route({
    method,
    url,
    bodyLimit: bodyMax.bytesMax,
    ...(isForAgents || isForPoints ? { onRequest: identifyCaller(deps, route) } : {}),
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
  const [, key] = /^Bearer +(writ(?:pep|d)?_\w+) *$/i.exec(headers.authorization ?? '') ?? [];
  if (key !== undefined) headers['x-agent-api-key'] ??= key;
}

/**
 * Identifies a caller that sends an agent's key or token as that agent. When only agents may call, a request
 * without either is refused too, so nobody else is looked for later.
 */
function identifyAgent(
  { identify }: CallerDeps,
  { access, isForDelegates }: Pick<Route<never>, 'access' | 'isForDelegates'>,
): (request: FastifyRequest) => Promise<void> {
  const isForAgentsAlone = access === 'agent';
  return async (request) => {
    if (isForAgentsAlone) takeBearer(request);
    const isCalling = request.headers['x-agent-api-key'] !== undefined || sentToken(request.headers) !== null;
    if (isForAgentsAlone || isCalling) await identify(request);
    if (request.identity?.chain !== undefined && !isForDelegates)
      throw new ProblemError(
        'delegated_key',
        'a delegated key asks for decisions and delegates, nothing else',
      );
  };
}

/** Identifies a caller that sends a key: where both may call, the key of a point without an agent is the point's own. */
function identifyCaller(
  deps: CallerDeps,
  route: Pick<Route<never>, 'access' | 'isForAgents' | 'isForPoints' | 'isForDelegates'>,
): onRequestAsyncHookHandler {
  const [asAgent, asPoint] = [identifyAgent(deps, route), identifyPointOf(deps)];
  if (!route.isForPoints) return asAgent;
  if (!route.isForAgents) return asPoint;
  return (request) => (isPointAlone(request) ? asPoint(request) : asAgent(request));
}

function isPointAlone({ headers }: FastifyRequest): boolean {
  const key = headers['x-agent-api-key'];
  return typeof key === 'string' && key.startsWith('writpep_') && headers['x-writ-agent'] === undefined;
}

/** Identifies a caller that sends a key as the enforcement point of that key. */
function identifyPointOf({ identifyPoint }: CallerDeps): (request: FastifyRequest) => Promise<void> {
  return async (request) => {
    if (request.headers['x-agent-api-key'] !== undefined) await identifyPoint(request);
  };
}

/** Runs all checks of a call in their order; throws the first that fails. */
async function readCall(
  deps: CallerDeps,
  route: Route<never>,
  exchange: { readonly request: FastifyRequest; readonly reply: FastifyReply },
): Promise<ManagedCall<unknown>> {
  const { operation, bodyMax, credential } = route;
  const { request } = exchange;
  const who = await whoAsks(deps, route, request);
  const body = operation.body === undefined ? undefined : readBody(request, operation.body.schema, bodyMax);
  const params = request.params as Record<string, string>;
  const query = readQuery(request, operation.parameters ?? []);
  if (credential === 'proved-session') await requireProof(deps.signInDeps, who, { shown: body, request });
  return { ...who, ...exchange, body, params, query };
}

async function whoAsks(
  { signInDeps, proofs }: CallerDeps,
  { access, credential }: Pick<Route<never>, 'access' | 'credential'>,
  request: FastifyRequest,
): Promise<Pick<ManagedCall<unknown>, 'actor' | 'agent' | 'point' | 'session' | 'grant' | 'scope'>> {
  const agent = null;
  if (request.identity !== null) {
    const { agent: caller, point } = request.identity;
    const by = point === undefined ? { agent: caller } : { agent: caller, point };
    return { ...by, actor: null, session: null, grant: 'own', scope: noScope };
  }
  if (request.pointAlone !== null)
    return { agent, point: request.pointAlone, actor: null, session: null, grant: 'own', scope: noScope };
  if (access === 'agent') throw invalidKey('missing');
  if (access === 'public') return { agent, actor: null, session: null, grant: 'yes', scope: noScope };
  const { actor, session } = await identifyPerson(signInDeps, proofs, request);
  if (session === null && credential !== 'session-or-token') {
    throw new ProblemError('session_needed', 'sign in: personal tokens cannot do this');
  }
  if (access === 'signed-in') return { agent, actor, session, grant: 'yes', scope: noScope };
  const grant = grantOf(actor.roles, access);
  if (grant === 'no') throw notAllowed();
  return { agent, actor, session, grant, scope: grantScopeOf(actor.roles, access) };
}

const noScope: GrantScope = { all: false, own: false, asked: false, asOwner: false };

function replySchemas(replies: Operation['replies']): Record<string, JsonSchema> {
  return Object.fromEntries(
    Object.entries(replies).flatMap(([status, { schema }]) =>
      schema === undefined ? [] : [[status, schema]],
    ),
  );
}
