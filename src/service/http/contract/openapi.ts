// Turns the list of routes and the table of errors into one OpenAPI 3.1 document. INVARIANT: a service whose
// routes differ from the list does not start, so the document lacks no route.

import type { FastifyInstance } from 'fastify';
import {
  type DescribedRoute,
  type JsonSchema,
  type Operation,
  type OperationReply,
  type Parameter,
  type ReplyHeader,
  replyHeaders,
} from './operation.ts';
import { type ProblemCode, ProblemError, problemBody, problemSchema, problems } from './problem.ts';

export interface OpenApiDocument {
  readonly openapi: '3.1.0';
  readonly info: JsonSchema;
  readonly paths: Readonly<Record<string, Readonly<Record<string, OperationObject>>>>;
  readonly components: JsonSchema;
}

export interface OperationObject {
  readonly operationId: string;
  readonly parameters: readonly JsonSchema[];
  readonly responses: Readonly<Record<string, ResponseObject>>;
  readonly [field: string]: unknown;
}

export interface ResponseObject {
  readonly description: string;
  readonly headers: Readonly<Record<string, JsonSchema>>;
  readonly content: Readonly<
    Record<
      string,
      {
        readonly schema: JsonSchema;
        readonly examples: Readonly<Record<string, { readonly value: unknown }>>;
      }
    >
  >;
}

declare module 'fastify' {
  interface FastifyContextConfig {
    /** False for routes outside of the API: files of the dashboard, and routes that only refuse. */
    readonly isDocumented?: boolean;
  }
}

/** Describes the routes in one document, in their order. */
export function openApiDocument(routes: readonly DescribedRoute[]): OpenApiDocument {
  const paths: Record<string, Record<string, OperationObject>> = {};
  for (const { url, method, operation } of routes) {
    const path = url.replaceAll(/:(\w+)/g, '{$1}');
    paths[path] = { ...paths[path], [method.toLowerCase()]: operationObject(operation) };
  }
  return { openapi: '3.1.0', info, paths, components };
}

/**
 * Throws for each route that is added from now on and is not in the list; the start fails when a listed route
 * is missing.
 */
export function requireDocumented(app: FastifyInstance, routes: readonly DescribedRoute[]): void {
  const missing = new Set(routes.map(({ method, url }) => `${method} ${url}`));
  const listed = new Set(missing);
  app.addHook('onRoute', ({ url, method, config }) => {
    if (config?.isDocumented === false) return;
    for (const name of [method].flat()) {
      missing.delete(`${name} ${url}`);
      // HEAD is GET without a body, as HTTP defines, so it is not listed.
      if (name !== 'HEAD' && !listed.has(`${name} ${url}`))
        throw new Error(`${name} ${url} is missing from the list of routes`);
    }
  });
  app.addHook('onReady', async () => {
    if (missing.size > 0)
      throw new Error(`these routes are listed but do not exist: ${[...missing].join(', ')}`);
  });
}

const info = {
  title: 'Writ',
  version: '1.0.0',
  license: { name: 'Apache-2.0', identifier: 'Apache-2.0' },
  description: [
    'Decides with policies what autonomous agents may do.',
    'HEAD is allowed wherever GET is. For any other method, the reply is 405 with `Allow`; for an unknown address, 404.',
    'When the service stops, it finishes open requests and closes each connection after its reply.',
  ].join(' '),
};

const components = {
  securitySchemes: {
    agentKey: {
      type: 'apiKey',
      in: 'header',
      name: 'X-Agent-API-Key',
      description: "The agent's key, shown only once, at registration: `writ_` and 46 letters and digits.",
    },
    agentToken: {
      type: 'http',
      scheme: 'bearer',
      bearerFormat: 'JWT',
      description:
        'The token of a workload that one of `agents.issuers` has signed. A token that is bound to a key is sent with the scheme `DPoP` and a proof in the header `DPoP` (RFC 9449).',
    },
    sandboxToken: { type: 'http', scheme: 'bearer', description: 'The sandbox token of the service.' },
    scimToken: {
      type: 'http',
      scheme: 'bearer',
      description: 'The token of the setting `sso.scim_token`.',
    },
    personalToken: {
      type: 'http',
      scheme: 'bearer',
      description: "A personal token for a person's programs: `writp_` and 46 letters and digits.",
    },
    session: {
      type: 'apiKey',
      in: 'cookie',
      name: 'writ_session',
      description: 'Set at sign-in. Changes also need the header `X-CSRF-Token`.',
    },
  },
  schemas: { Problem: problemSchema },
  headers: Object.fromEntries(
    Object.entries(replyHeaders).map(([name, description]) => [
      name,
      { description, schema: { type: 'string' } },
    ]),
  ),
};

/** Errors that any connection may get before a route is reached. */
const connectionProblems = [
  'malformed_request',
  'incomplete_body',
  'request_timeout',
  'headers_too_large',
  'too_many_connections',
] as const;

const everyReply = ['X-Request-ID', 'Cache-Control'] as const;

/** Headers that come with an error besides those of every reply. */
const problemHeaders: Readonly<Partial<Record<ProblemCode, readonly ReplyHeader[]>>> = {
  missing_api_key: ['WWW-Authenticate'],
  invalid_token: ['WWW-Authenticate'],
  invalid_dpop_proof: ['WWW-Authenticate'],
  issuer_keys_unknown: ['Retry-After'],
  invalid_api_key: ['WWW-Authenticate'],
  rate_limited: ['Retry-After'],
  too_many_in_flight: ['Retry-After'],
  too_many_waits: ['Retry-After'],
  store_busy: ['Retry-After'],
  too_many_connections: ['Retry-After'],
  too_many_attempts: ['Retry-After'],
  playground_busy: ['Retry-After'],
  not_signed_in: ['WWW-Authenticate'],
  too_many_failures: ['RateLimit-Policy', 'RateLimit', 'Retry-After'],
};

function operationObject(operation: Operation): OperationObject {
  const { id, summary, description, security, access, credential, parameters = [], body } = operation;
  return {
    operationId: id,
    summary,
    ...(description === undefined ? {} : { description }),
    security: securityOf(security),
    ...(access === undefined ? {} : { 'x-writ-access': access }),
    ...(credential === undefined ? {} : { 'x-writ-credential': credential }),
    parameters: parameters.map(parameterObject),
    ...(body === undefined
      ? {}
      : {
          requestBody: {
            description: body.description,
            required: true,
            content: { 'application/json': { schema: body.schema, examples: named(body.examples) } },
          },
        }),
    responses: responsesOf(operation),
  };
}

function securityOf(security: Operation['security']): readonly JsonSchema[] {
  if (security === null) return [];
  if (security === 'session') return [{ session: [] }];
  const ofPeople = [{ personalToken: [] }, { session: [] }];
  const ofAgents = [{ agentKey: [] }, { agentToken: [] }];
  if (security === 'agentKey') return ofAgents;
  if (security === 'agentOrPerson') return [...ofAgents, ...ofPeople];
  return security === 'person' ? ofPeople : [{ [security]: [] }];
}

function parameterObject({
  name,
  in: place,
  isRequired,
  description,
  schema,
  example,
}: Parameter): JsonSchema {
  return { name, in: place, required: isRequired, description, schema, example };
}

function responsesOf({
  replies,
  problems: own,
  security,
}: Operation): Readonly<Record<string, ResponseObject>> {
  const responses: Record<string, ResponseObject> = {};
  for (const [status, reply] of Object.entries(replies)) responses[status] = replyObject(reply);
  // Every reply to a known agent carries headers about its rate.
  const agentHeaders: readonly ReplyHeader[] =
    security === 'agentKey' || security === 'agentOrPerson'
      ? ['RateLimit-Policy', 'RateLimit', 'X-Agent-API-Key-Expires']
      : [];
  for (const [status, codes] of byStatus([...connectionProblems, ...own])) {
    const problem = problemObject(codes, agentHeaders);
    const reply = responses[status];
    responses[status] =
      reply === undefined
        ? problem
        : {
            description: `${reply.description}; ${problem.description}`,
            headers: { ...problem.headers, ...reply.headers },
            content: { ...reply.content, ...problem.content },
          };
  }
  return responses;
}

function replyObject({ description, contentType, schema, example, headers }: OperationReply): ResponseObject {
  return {
    description,
    headers: headersOf([...everyReply, ...(headers ?? [])]),
    content:
      contentType === null || schema === undefined
        ? {}
        : Object.fromEntries(
            [contentType ?? 'application/json']
              .flat()
              .map((type) => [type, { schema, examples: named({ example }) }]),
          ),
  };
}

function byStatus(codes: readonly ProblemCode[]): ReadonlyMap<string, readonly ProblemCode[]> {
  const statuses = new Map<string, ProblemCode[]>();
  for (const code of new Set(codes)) {
    const status = String(problems[code].status);
    statuses.set(status, [...(statuses.get(status) ?? []), code]);
  }
  return statuses;
}

function problemObject(codes: readonly ProblemCode[], headers: readonly ReplyHeader[]): ResponseObject {
  const headerNames = codes.flatMap((code) => problemHeaders[code] ?? []);
  return {
    description: codes.map((code) => `\`${code}\`: ${problems[code].title}`).join('; '),
    headers: headersOf([...everyReply, ...headers, ...headerNames]),
    content: {
      'application/problem+json': {
        schema: { $ref: '#/components/schemas/Problem' },
        examples: named(Object.fromEntries(codes.map((code) => [code, exampleOf(code)]))),
      },
    },
  };
}

function exampleOf(code: ProblemCode): unknown {
  return problemBody(new ProblemError(code, problems[code].title), '019a0000-0000-7000-8000-000000000000');
}

function headersOf(names: readonly ReplyHeader[]): Readonly<Record<string, JsonSchema>> {
  return Object.fromEntries(names.map((name) => [name, { $ref: `#/components/headers/${name}` }]));
}

function named(examples: Readonly<Record<string, unknown>>): Record<string, { readonly value: unknown }> {
  return Object.fromEntries(Object.entries(examples).map(([name, value]) => [name, { value }]));
}
