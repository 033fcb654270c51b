// Handles the headers of the stateless era that repeat parts of a message, so that intermediaries need not
// read the message. INVARIANT: when a header and the message differ, the message is refused: no two readers
// act on different values.

import {
  isObject,
  type Json,
  type JsonObject,
  member,
  type RpcNotification,
  type RpcRequest,
} from './messages.ts';

/** Methods whose name, address or task is repeated in a header. */
const named: Readonly<Record<string, string>> = {
  'tools/call': 'name',
  'prompts/get': 'name',
  'resources/read': 'uri',
  'tasks/get': 'taskId',
  'tasks/update': 'taskId',
  'tasks/cancel': 'taskId',
};

export type SchemaOf = (tool: string) => JsonObject | null;

/** The headers of a message, by name in lower case. */
export function mirroredHeaders(
  { method, params = {} }: RpcRequest | RpcNotification,
  schemaOf: SchemaOf,
): Readonly<Record<string, string>> {
  const headers: Record<string, string> = { 'mcp-method': method };
  const name = params[named[method] ?? ''];
  if (typeof name === 'string') headers['mcp-name'] = encoded(name);
  if (method !== 'tools/call' || typeof name !== 'string') return headers;
  for (const [header, path] of parameterHeaders(schemaOf(name))) {
    const value = member(params.arguments, ...path);
    if (isMirrored(value)) headers[`mcp-param-${header.toLowerCase()}`] = encoded(String(value));
  }
  return headers;
}

/** What is wrong with the headers; null when they agree with the message. */
export function mirrorFault(
  request: RpcRequest,
  schemaOf: SchemaOf,
  headers: Readonly<Record<string, string | readonly string[] | undefined>>,
): string | null {
  const { method, params = {} } = request;
  const expected = mirroredHeaders(request, schemaOf);
  const parameters = method === 'tools/call' ? parameterHeaders(schemaOf(String(params.name))) : [];
  const mirrored = [
    'mcp-method',
    'mcp-name',
    ...parameters.map(([header]) => `mcp-param-${header.toLowerCase()}`),
  ];
  const wrong = mirrored.find((name) => !isSame(headers[name], expected[name]));
  return wrong === undefined ? null : `the header ${wrong} does not match the message`;
}

function isSame(actual: string | readonly string[] | undefined, expected: string | undefined): boolean {
  if (actual === undefined || expected === undefined) return actual === expected;
  if (typeof actual !== 'string') return false;
  const [one, other] = [decoded(actual), decoded(expected)];
  if (one === null) return false;
  return one === other || (isNumber(one) && isNumber(other) && Number(one) === Number(other));
}

function isNumber(text: string | null): boolean {
  return text !== null && /^-?\d+(\.\d+)?$/.test(text);
}

function isMirrored(value: Json | undefined): boolean {
  return typeof value === 'string' || typeof value === 'boolean' || Number.isInteger(value);
}

const form = /^=\?base64\?(.*)\?=$/s;

function encoded(value: string): string {
  const isPlain = /^[\x21-\x7e]([\x20-\x7e\t]*[\x21-\x7e])?$/.test(value) && !form.test(value);
  return isPlain ? value : `=?base64?${Buffer.from(value).toString('base64')}?=`;
}

/** The value of a header; null when its encoding is not valid. */
function decoded(text: string): string | null {
  const inner = form.exec(text)?.[1];
  if (inner === undefined) return text;
  const bytes = Buffer.from(inner, 'base64');
  return bytes.toString('base64') === inner ? bytes.toString('utf8') : null;
}

/** The properties that a schema marks for headers: each header, and the path to its value. */
function parameterHeaders(
  schema: Json | undefined,
  way: readonly string[] = [],
): readonly (readonly [string, readonly string[]])[] {
  const properties = member(schema ?? undefined, 'properties');
  if (!isObject(properties)) return [];
  return Object.entries(properties).flatMap(([name, property]) => {
    const header = member(property, 'x-mcp-header');
    const path = [...way, name];
    return typeof header === 'string' ? [[header, path] as const] : parameterHeaders(property, path);
  });
}
