// Turns the OpenAPI document into requests. Each starts as a request that an operation accepts, and then
// violates the declared parameters or body in up to three places.

import type { OpenApiDocument, OperationObject } from '../../../src/service/http/contract/openapi.ts';
import type { JsonSchema } from '../../../src/service/http/contract/operation.ts';
import type { Draw } from './draw.ts';

export interface DocumentRequest {
  readonly bytes: Buffer;
  readonly body: Buffer;
  /** A good body would lead to a decision. */
  readonly mayGrant: boolean;
  /** All statuses that the operation may answer with. */
  readonly statuses: ReadonlySet<string>;
}

export interface DocumentRequests {
  next(draw: Draw): DocumentRequest;
}

interface Place {
  readonly path: string;
  readonly method: string;
  readonly operation: OperationObject;
}

export function createDocumentRequests(document: OpenApiDocument, apiKey: string): DocumentRequests {
  const places: readonly Place[] = Object.entries(document.paths).flatMap(([path, methods]) =>
    Object.entries(methods).map(([method, operation]) => ({ path, method, operation })),
  );
  return {
    next(draw) {
      const place = draw.from(places);
      return makeRequest(draw, place, apiKey);
    },
  };
}

function makeRequest(draw: Draw, { path, method, operation }: Place, apiKey: string): DocumentRequest {
  const headers = new Map<string, string>();
  let url = path;
  for (const parameter of operation.parameters) {
    const { name, in: where, required, schema, example } = parameter as unknown as ParameterObject;
    const value = draw.chance(0.5) ? example : headerText(draw, violate(draw, schema, example));
    if (where === 'path') url = url.replace(`{${name}}`, encodeURIComponent(value) || '-');
    else if (required || draw.chance(0.4)) headers.set(name, value);
  }
  // The service would really wait, and the run has no time for that.
  if (headers.has('Prefer')) headers.set('Prefer', draw.from(['wait=0', 'wait=x', 'wait', 'wait=-1', '']));
  addSecurity(draw, operation, { headers, apiKey });
  const body = bodyOf(draw, operation);
  if (body !== null) {
    headers.set('Content-Type', draw.chance(0.9) ? 'application/json' : draw.from(['text/plain', '', 'a/b']));
    headers.set('Content-Length', String(body.length));
  }
  const lines = [...headers].map(([name, value]) => `${name}: ${value}`);
  const head = [`${method.toUpperCase()} ${url} HTTP/1.1`, 'Host: 127.0.0.1', 'Connection: close', ...lines];
  const sent = body ?? Buffer.alloc(0);
  return {
    bytes: Buffer.concat([Buffer.from(`${head.join('\r\n')}\r\n\r\n`, 'latin1'), sent]),
    body: sent,
    mayGrant: operation.operationId === 'authorize' && headers.get('X-Agent-API-Key') === apiKey,
    // An address with an empty part, or one that is too long, leads to no route.
    statuses: new Set([...Object.keys(operation.responses), ...(url === path ? [] : ['404'])]),
  };
}

interface ParameterObject {
  readonly name: string;
  readonly in: 'header' | 'path';
  readonly required: boolean;
  readonly schema: JsonSchema;
  readonly example: string;
}

interface Credentials {
  readonly headers: Map<string, string>;
  readonly apiKey: string;
}

/**
 * Mostly the good credential. The limit on bad credentials is per address, and too many would block all
 * requests.
 */
function addSecurity(draw: Draw, operation: OperationObject, { headers, apiKey }: Credentials): void {
  const isGood = draw.chance(0.98);
  if ('agentKey' in security(operation)) headers.set('X-Agent-API-Key', isGood ? apiKey : 'writ_bad');
  if ('sandboxToken' in security(operation)) headers.set('Authorization', isGood ? 'Bearer x' : 'Basic');
}

function security(operation: OperationObject): object {
  const [first] = operation.security as readonly object[];
  return first ?? {};
}

/** A body for the operation; null when the operation has none. */
function bodyOf(draw: Draw, operation: OperationObject): Buffer | null {
  const content = (operation.requestBody as RequestBodyObject | undefined)?.content['application/json'];
  if (content === undefined) return null;
  const examples = Object.values(content.examples);
  let value = draw.from(examples).value;
  for (let count = draw.below(4); count > 0; count--) value = violate(draw, content.schema, value);
  return Buffer.from(JSON.stringify(value) ?? '', 'utf8');
}

interface RequestBodyObject {
  readonly content: Readonly<
    Record<string, { readonly schema: JsonSchema; readonly examples: Record<string, { value: unknown }> }>
  >;
}

/** A similar value that breaks one keyword of its schema, or of the schema of one of its members. */
function violate(draw: Draw, schema: JsonSchema, value: unknown): unknown {
  const isRecord = typeof value === 'object' && value !== null && !Array.isArray(value);
  if (isRecord && draw.chance(0.7)) return violateMember(draw, schema, { ...value });
  const wrong: unknown[] = [null, true, 0, -1, 1.5, 1e21, '', [], {}, [value], { value }];
  const { enum: choices, minLength, maxLength, minimum, maximum, pattern } = schema;
  if (typeof minLength === 'number' && minLength > 0) wrong.push('a'.repeat(minLength - 1));
  if (typeof maxLength === 'number') wrong.push('a'.repeat(maxLength + 1), '\u{1f98a}'.repeat(maxLength));
  if (typeof minimum === 'number') wrong.push(minimum - 1);
  if (typeof maximum === 'number') wrong.push(maximum + 1);
  if (pattern !== undefined) wrong.push('\u0000', ' ', '\n', '\u{1f98a}');
  if (Array.isArray(choices)) wrong.push(`${choices[0]} `, String(choices[0]).toUpperCase());
  return draw.from(wrong);
}

function violateMember(draw: Draw, schema: JsonSchema, value: Record<string, unknown>): unknown {
  const properties = (schema.properties ?? {}) as Readonly<Record<string, JsonSchema>>;
  const name = draw.from([...Object.keys(properties), 'unknown', '__proto__', 'constructor']);
  const change = draw.below(4);
  if (change === 0) return Object.fromEntries(Object.entries(value).filter(([key]) => key !== name));
  const inner = Object.hasOwn(value, name) ? value[name] : 'text';
  const changed = violate(draw, properties[name] ?? {}, inner);
  return Object.fromEntries([...Object.entries(value), [name, changed]]);
}

/** The value in a form that fits into one header. */
function headerText(draw: Draw, value: unknown): string {
  const text = typeof value === 'string' ? value : JSON.stringify(value);
  return text.replaceAll(/[\r\n\0]/g, draw.from([' ', '\t', 'x'])).replaceAll(/[^\x20-\x7e]/gu, '\xe9');
}
