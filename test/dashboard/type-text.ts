// Turns the OpenAPI document into the types with which the dashboard and the command line call the management API: one entry per
// operation, with its address, its input and its successful reply.

import type { OpenApiDocument, OperationObject } from '../../src/service/http/contract/openapi.ts';
import type { JsonSchema } from '../../src/service/http/contract/operation.ts';

/** The text of a TypeScript file. Leaves out operations for agents and machines. */
export function typeText({ paths }: OpenApiDocument): string {
  const found = Object.entries(paths)
    .flatMap(([path, methods]) =>
      Object.entries(methods).map(([method, operation]) => ({
        path,
        method: method.toUpperCase(),
        operation,
      })),
    )
    .filter(({ path }) => path.startsWith('/v1/') && path !== '/v1/authorize')
    .toSorted((a, b) => (a.operation.operationId < b.operation.operationId ? -1 : 1));
  return [
    '// The operations of the management API, for the dashboard and the command line. Generated from the OpenAPI document by',
    '// test/dashboard/api-types.test.ts with UPDATE_GOLDEN=1. Only replies with status 2xx are here; problems are the same for all.',
    '',
    'export interface Operations {',
    ...found.map(({ operation }) => `  readonly ${operation.operationId}: ${entry(operation)};`),
    '}',
    '',
    'export type OperationId = keyof Operations;',
    '',
    "export type Reply<Id extends OperationId> = Operations[Id]['reply'];",
    '',
    '/** Method and address of each. */',
    'export const operations: Readonly<Record<OperationId, readonly [method: string, path: string]>> = {',
    ...found.map(({ path, method, operation }) => `  ${operation.operationId}: ['${method}', '${path}'],`),
    '};',
    '',
  ].join('\n');
}

function entry(operation: OperationObject): string {
  const parameters = operation.parameters as unknown as readonly ParameterObject[];
  const params = parameters.filter((parameter) => parameter.in === 'path');
  const query = parameters.filter((parameter) => parameter.in === 'query');
  const body = operation.requestBody as { readonly content: Contents } | undefined;
  const isQueryNeeded = query.some(({ required }) => required);
  const parts = [
    `readonly params: ${params.length === 0 ? 'undefined' : members(params)}`,
    `readonly query: ${query.length === 0 ? 'undefined' : `${members(query)}${isQueryNeeded ? '' : ' | undefined'}`}`,
    `readonly body: ${body === undefined ? 'undefined' : typeOf(schemaOf(body.content))}`,
    `readonly reply: ${replyOf(operation)}`,
  ];
  return `{ ${parts.join('; ')} }`;
}

interface ParameterObject {
  readonly name: string;
  readonly in: string;
  readonly required: boolean;
  readonly schema: JsonSchema;
}

type Contents = Readonly<Record<string, { readonly schema: JsonSchema }>>;

function members(parameters: readonly ParameterObject[]): string {
  const each = parameters.map(({ name, required, schema }) => {
    const values = schema.enum as readonly string[] | undefined;
    const type = values === undefined ? 'string' : values.map((value) => `'${value}'`).join(' | ');
    return `readonly ${name}${required ? '' : '?'}: ${type}${required ? '' : ' | undefined'}`;
  });
  return `{ ${each.join('; ')} }`;
}

function schemaOf(content: Contents): JsonSchema {
  return content['application/json']?.schema ?? {};
}

function replyOf({ responses }: OperationObject): string {
  const types = Object.entries(responses)
    .filter(([status]) => status.startsWith('2'))
    .map(([, { content }]) => {
      const names = Object.keys(content).filter((name) => name !== 'application/problem+json');
      if (names.length === 0) return 'undefined';
      const [lines] = names.flatMap((name) => (name === 'application/jsonl' ? [content[name]?.schema] : []));
      // For a reply of equal lines, the type of one line.
      if (names.length === 1 && lines?.type === 'object') return typeOf(lines);
      return names.includes('application/json') ? typeOf(schemaOf(content)) : 'string';
    });
  return [...new Set(types)].join(' | ');
}

function typeOf(schema: JsonSchema): string {
  if (Array.isArray(schema.oneOf)) return (schema.oneOf as JsonSchema[]).map(typeOf).join(' | ');
  if (Array.isArray(schema.anyOf)) return (schema.anyOf as JsonSchema[]).map(typeOf).join(' | ');
  if ('const' in schema) return JSON.stringify(schema.const).replaceAll('"', "'");
  if (Array.isArray(schema.enum)) {
    return schema.enum.map((value) => (value === null ? 'null' : `'${value}'`)).join(' | ');
  }
  const types = [schema.type ?? []].flat() as unknown as readonly string[];
  return types.length === 0 ? 'unknown' : types.map((type) => typeNamed(type, schema)).join(' | ');
}

function typeNamed(type: string, schema: JsonSchema): string {
  switch (type) {
    case 'string':
    case 'boolean':
    case 'null':
      return type;
    case 'integer':
    case 'number':
      return 'number';
    case 'array':
      return `readonly (${typeOf((schema.items ?? {}) as JsonSchema)})[]`;
    case 'object':
      return objectType(schema);
    default:
      throw new Error(`the type ${type} is not one of JSON Schema`);
  }
}

function objectType({ properties, required, additionalProperties }: JsonSchema): string {
  const needed = new Set((required ?? []) as unknown as readonly string[]);
  const named = Object.entries((properties ?? {}) as Readonly<Record<string, JsonSchema>>).map(
    ([name, schema]) =>
      `readonly ${/^\w+$/.test(name) ? name : JSON.stringify(name)}${needed.has(name) ? '' : '?'}: ${typeOf(schema)}`,
  );
  const isOpen = typeof additionalProperties === 'object' || named.length === 0;
  if (!isOpen) return `{ ${named.join('; ')} }`;
  const value =
    typeof additionalProperties === 'object' ? typeOf(additionalProperties as JsonSchema) : 'unknown';
  const open = `Readonly<Record<string, ${value}>>`;
  return named.length === 0 ? open : `{ ${named.join('; ')} } & ${open}`;
}
