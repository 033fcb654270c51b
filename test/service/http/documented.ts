// Whether the OpenAPI document announces a reply: its status, its headers, its type, and the shape of its
// body. Knows only the keywords of JSON Schema that the document uses.

import type { OpenApiDocument, OperationObject } from '../../../src/service/http/contract/openapi.ts';
import type { JsonSchema } from '../../../src/service/http/contract/operation.ts';

export interface SentReply {
  readonly reply: { readonly statusCode: number; getHeaders(): Readonly<Record<string, unknown>> };
  readonly payload: unknown;
}

/** What the operation does not announce about the reply, in words; empty when all is announced. */
export function undocumentedIn(
  document: OpenApiDocument,
  operation: OperationObject,
  { reply, payload }: SentReply,
): readonly string[] {
  const response = operation.responses[String(reply.statusCode)];
  if (response === undefined) return ['the status'];
  const sent = reply.getHeaders();
  const announced = new Set(Object.keys(response.headers).map((name) => name.toLowerCase()));
  const headers = Object.keys(sent).filter((name) => !ofHttp.has(name) && !announced.has(name));
  const type = String(sent['content-type']).split(';')[0] ?? '';
  // A reply without a body needs no type.
  if (Object.keys(response.content).length === 0) return payload ? [...headers, 'the body'] : headers;
  const content = response.content[type];
  if (content === undefined) return [...headers, `the type ${type}`];
  // The tests of the route check the lines of a JSON Lines reply.
  if (type === 'application/jsonl') return headers;
  const body: unknown = type.endsWith('json') ? JSON.parse(String(payload)) : payload;
  return [...headers, ...mismatches(content.schema, body, document)];
}

/** Headers that belong to HTTP and not to this service. */
const ofHttp = new Set(['content-type', 'content-length', 'connection', 'date', 'keep-alive']);

/** The places at which a value does not fit a schema. */
export function mismatches(
  schema: JsonSchema,
  value: unknown,
  document: OpenApiDocument,
  place = '',
): readonly string[] {
  if (typeof schema.$ref === 'string') {
    return mismatches(resolve(document, schema.$ref) as JsonSchema, value, document, place);
  }
  return Object.entries(schema).flatMap(([keyword, limit]) => {
    const check = keywords[keyword];
    if (check === undefined) throw new Error(`the keyword ${keyword} is unknown here`);
    return check({ limit, value, schema, document, place });
  });
}

interface Check {
  readonly limit: unknown;
  readonly value: unknown;
  readonly schema: JsonSchema;
  readonly document: OpenApiDocument;
  readonly place: string;
}

const keywords: Readonly<Record<string, (check: Check) => readonly string[]>> = {
  description: () => [],
  type: ({ limit, value, place }) =>
    [limit].flat().some((type) => isOfType(value, String(type))) ? [] : [`${place} is no ${limit}`],
  enum: ({ limit, value, place }) =>
    (limit as readonly unknown[]).includes(value) ? [] : [`${place} is ${value}`],
  required: ({ limit, value, place }) =>
    isObject(value)
      ? (limit as readonly string[])
          .filter((name) => !Object.hasOwn(value, name))
          .map((name) => `${place}/${name} is missing`)
      : [],
  properties: ({ limit, value, document, place }) =>
    isObject(value)
      ? Object.entries(limit as Record<string, JsonSchema>)
          .filter(([name]) => Object.hasOwn(value, name))
          .flatMap(([name, inner]) => mismatches(inner, value[name], document, `${place}/${name}`))
      : [],
  additionalProperties: ({ limit, value, schema, place }) =>
    limit === false && isObject(value)
      ? Object.keys(value)
          .filter((name) => !Object.hasOwn(Object(schema.properties), name))
          .map((name) => `${place}/${name} is not announced`)
      : [],
  items: ({ limit, value, document, place }) =>
    Array.isArray(value)
      ? value.flatMap((item, index) => mismatches(limit as JsonSchema, item, document, `${place}/${index}`))
      : [],
  minimum: ({ limit, value, place }) =>
    typeof value === 'number' && value < Number(limit) ? [`${place} is too small`] : [],
  maximum: ({ limit, value, place }) =>
    typeof value === 'number' && value > Number(limit) ? [`${place} is too large`] : [],
  maxLength: ({ limit, value, place }) =>
    typeof value === 'string' && value.length > Number(limit) ? [`${place} is too long`] : [],
  minLength: ({ limit, value, place }) =>
    typeof value === 'string' && value.length < Number(limit) ? [`${place} is too short`] : [],
  maxItems: ({ limit, value, place }) =>
    Array.isArray(value) && value.length > Number(limit) ? [`${place} is too long`] : [],
  format: ({ limit, value, place }) => {
    if (typeof value !== 'string' && limit !== 'int32') return [];
    if (limit === 'date-time') return Number.isNaN(Date.parse(String(value))) ? [`${place} is no time`] : [];
    if (limit === 'uuid')
      return /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/.test(String(value)) ? [] : [place];
    if (limit === 'int32') return Number(value) === (Number(value) | 0) ? [] : [`${place} is no int32`];
    throw new Error(`the format ${limit} is unknown here`);
  },
};

function isOfType(value: unknown, type: string): boolean {
  switch (type) {
    case 'object':
      return isObject(value);
    case 'array':
      return Array.isArray(value);
    case 'integer':
      return Number.isInteger(value);
    case 'null':
      return value === null;
    case 'string':
    case 'number':
    case 'boolean':
      return typeof value === type;
    default:
      throw new Error(`the type ${type} is unknown here`);
  }
}

function isObject(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** The part of the document that a reference such as `#/a/b` points to. */
function resolve(document: OpenApiDocument, reference: string): unknown {
  return reference
    .slice(2)
    .split('/')
    .reduce<unknown>((node, step) => (node as Record<string, unknown>)[step], document);
}
