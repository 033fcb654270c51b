// Describes a route for the OpenAPI document: what it takes, what it answers, and which errors it may end in.
// Its schemas are those that the route itself works with.

import type { ProblemCode } from './problem.ts';

/** A JSON Schema, version 2020-12. */
export interface JsonSchema {
  readonly [keyword: string]: unknown;
}

/** What people show to be let in: a session by cookie, a personal token, or a session with a proof in the body. */
export type Credential = 'session-or-token' | 'session' | 'proved-session';

export interface Operation {
  /** The operation's name, unique among all operations. */
  readonly id: string;
  readonly summary: string;
  readonly description?: string;
  readonly security:
    | 'agentKey'
    | 'sandboxToken'
    | 'scimToken'
    | 'person'
    | 'session'
    | 'agentOrPerson'
    | null;
  /** The operation of the table of roles, or `signed-in`; absent when people do not use the route. */
  readonly access?: string;
  /** The credential that people need; absent when people do not use the route. */
  readonly credential?: Credential;
  readonly parameters?: readonly Parameter[];
  readonly body?: RequestBody;
  /** Replies by HTTP status, without errors. */
  readonly replies: Readonly<Record<number, OperationReply>>;
  /** The errors of this route besides those of every connection. */
  readonly problems: readonly ProblemCode[];
}

/** A route as the OpenAPI document shows it. */
export interface DescribedRoute {
  readonly method: 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE';
  /** The address in Fastify's form: `/v1/agents/:id`. */
  readonly url: string;
  readonly operation: Operation;
}

export interface Parameter {
  readonly name: string;
  readonly in: 'header' | 'path' | 'query';
  readonly isRequired: boolean;
  readonly description: string;
  readonly schema: JsonSchema;
  readonly example: string;
  /** The most bytes of a value in UTF-8, where it is not what every parameter may have. */
  readonly bytesMax?: number;
}

/** A parameter of the query that may be left out. */
export function queryParameter(
  name: string,
  description: string,
  schema: JsonSchema,
  example: string,
): Parameter {
  return { name, in: 'query', isRequired: false, description, schema, example };
}

interface RequestBody {
  readonly description: string;
  readonly schema: JsonSchema;
  /** Bodies that the route takes, by name. */
  readonly examples: Readonly<Record<string, unknown>>;
}

type ContentType =
  | 'application/json'
  | 'application/scim+json'
  | 'application/jsonl'
  | 'text/csv'
  | 'text/event-stream'
  | 'text/plain';

export interface OperationReply {
  readonly description: string;
  /** Null for a reply without a body, schema and example; `application/json` by default. */
  readonly contentType?: ContentType | readonly ContentType[] | null;
  readonly schema?: JsonSchema;
  readonly example?: unknown;
  /** Headers besides those of every reply. */
  readonly headers?: readonly ReplyHeader[];
}

export const replyHeaders = {
  'X-Request-ID': 'the request id of the client, or one from the service',
  'Cache-Control': '`no-store`, except for public keys',
  Location: 'where to poll the request while it is pending',
  'Preference-Applied': 'the accepted wait, at most 55 seconds',
  'Writ-Change':
    'for a refusal, if refusal hints are on for the agent: a change that would be allowed; characters other than printable ASCII are percent-encoded',
  'Writ-Result':
    'for a grant: the names of the fields in the result that the action declares, percent-encoded and separated by commas; absent if it declares none',
  'Writ-Receipt': 'the receipt of a grant, if requested: a JWT for the tool that performs the action',
  'RateLimit-Policy': 'the burst limit of requests, and the number of seconds for a full refill',
  RateLimit: 'the number of remaining requests, and the number of seconds until all are available',
  'Retry-After': 'seconds to wait',
  'WWW-Authenticate': 'how to authenticate',
  'X-Agent-API-Key-Expires': 'when the key of the request ends, if it has been rotated',
  Allow: 'the allowed methods',
  'Set-Cookie': 'the session, and the device cookie',
  'Content-Disposition': 'the name to save the file under, with the day in UTC',
  'X-Accel-Buffering': '`no`: a proxy must not buffer the reply',
} as const;

export type ReplyHeader = keyof typeof replyHeaders;
