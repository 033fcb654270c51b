// Turns texts into JSON-RPC messages and back. A client's text is read as strictly as the service reads JSON,
// so the service decides about exactly the message that the server gets. INVARIANT: a message is forwarded as
// the proxy understood it, never as its bytes, so no two readers can differ on it.

import { numberFault } from '../../../src/language/json/number.ts';
import { readJson } from '../../../src/language/json/read-json.ts';
import type { Json, JsonObject } from '../../../src/language/model/json.ts';

export type { Json, JsonObject };
export type Id = string | number;

export interface RpcRequest {
  readonly jsonrpc: '2.0';
  readonly id: Id;
  readonly method: string;
  readonly params?: JsonObject;
}

export interface RpcNotification {
  readonly jsonrpc: '2.0';
  readonly method: string;
  readonly params?: JsonObject;
}

export interface RpcError {
  readonly code: number;
  readonly message: string;
  readonly data?: Json;
}

export interface RpcResponse {
  readonly jsonrpc: '2.0';
  /** The id of the request; null when it could not be read. */
  readonly id: Id | null;
  readonly result?: JsonObject;
  readonly error?: RpcError;
}

export type Message = RpcRequest | RpcNotification | RpcResponse;

export const errorCodes = {
  parse: -32700,
  invalidRequest: -32600,
  methodNotFound: -32601,
  invalidParams: -32602,
  internal: -32603,
  headerMismatch: -32020,
} as const;

export type ReadMessage =
  | { readonly ok: true; readonly message: Message }
  | { readonly ok: false; readonly answer: RpcResponse };

/** The arguments of a call lie two levels deeper than the payload that the service reads. */
const limits = { bytesMax: 4 * 1024 * 1024, depthMax: 34 };

export function isRequest(message: Message): message is RpcRequest {
  return 'method' in message && 'id' in message;
}

export function isResponse(message: Message): message is RpcResponse {
  return !('method' in message);
}

/** Reads one message of a client. */
export function readFromClient(bytes: Uint8Array): ReadMessage {
  const read = readJson(bytes, limits);
  if (read.ok) return checked(read.value);
  // A response holds what a model or a person answers to the server. It is not decided, so it need not be
  // strict JSON.
  const loose = parseLoosely(bytes);
  if (loose === undefined) return refused(null, errorCodes.parse, read.issue.detail);
  const shaped = checked(loose);
  if (shaped.ok && isResponse(shaped.message)) return shaped;
  const location = read.issue.pointer === '' ? '' : ` at ${read.issue.pointer}`;
  return refused(idOf(loose), errorCodes.invalidRequest, `not strict JSON: ${read.issue.detail}${location}`);
}

/** Reads one message of a server; null when the text is none. Numbers keep the digits of the text. */
export function readFromServer(text: string): Message | null {
  const value = parseExactly(text);
  if (value === undefined) return null;
  const read = checked(value);
  return read.ok ? read.message : null;
}

export function writeMessage(message: Message): string {
  return JSON.stringify(message);
}

export function errorAnswer(id: Id | null, code: number, message: string, data?: Json): RpcResponse {
  return { jsonrpc: '2.0', id, error: { code, message, ...(data === undefined ? {} : { data }) } };
}

export function resultAnswer(id: Id, result: JsonObject): RpcResponse {
  return { jsonrpc: '2.0', id, result };
}

export function isObject(value: unknown): value is JsonObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** The member at a path; undefined when an object on the way does not have it as its own property. */
export function member(value: unknown, ...path: readonly string[]): Json | undefined {
  let at = value;
  for (const name of path) {
    if (!isObject(at) || !Object.hasOwn(at, name)) return undefined;
    at = at[name];
  }
  return at as Json | undefined;
}

const membersOfRequest = new Set(['jsonrpc', 'id', 'method', 'params']);
const membersOfResponse = new Set(['jsonrpc', 'id', 'result', 'error']);

function checked(value: unknown): ReadMessage {
  if (Array.isArray(value)) return refused(null, errorCodes.invalidRequest, 'batches are not supported');
  if (!isObject(value)) return refused(null, errorCodes.invalidRequest, 'a message is an object');
  const fault = 'method' in value ? requestFault(value) : responseFault(value);
  if (fault !== null) return refused(idOf(value), errorCodes.invalidRequest, fault);
  return { ok: true, message: value as unknown as Message };
}

function requestFault(value: JsonObject): string | null {
  const stranger = Object.keys(value).find((name) => !membersOfRequest.has(name));
  if (stranger !== undefined) return `a request has no member ${JSON.stringify(stranger)}`;
  if (value.jsonrpc !== '2.0') return '`jsonrpc` is not "2.0"';
  if (typeof value.method !== 'string') return '`method` is not text';
  if ('id' in value && idOf(value) === null) return '`id` is neither text nor an integer';
  if ('params' in value && !isObject(value.params)) return '`params` is not an object';
  return null;
}

function responseFault(value: JsonObject): string | null {
  if (Object.keys(value).some((name) => !membersOfResponse.has(name))) return 'this is not a response';
  if (value.jsonrpc !== '2.0') return '`jsonrpc` is not "2.0"';
  if ('result' in value === 'error' in value) return 'a response has either `result` or `error`';
  if ('result' in value && !isObject(value.result)) return '`result` is not an object';
  if ('error' in value && !isObject(value.error)) return '`error` is not an object';
  return null;
}

function idOf(value: unknown): Id | null {
  const id = member(value, 'id');
  return typeof id === 'string' || (typeof id === 'number' && Number.isInteger(id)) ? id : null;
}

function refused(id: Id | null, code: number, detail: string): ReadMessage {
  return { ok: false, answer: errorAnswer(id, code, detail) };
}

function parseLoosely(bytes: Uint8Array): unknown {
  return parseExactly(Buffer.from(bytes).toString('utf8'));
}

/**
 * Parses JSON; undefined when the text is none. Of duplicate members the last one counts, as in `JSON.parse`.
 */
function parseExactly(text: string): unknown {
  try {
    const value: unknown = JSON.parse(text);
    return JSON.stringify(value) === text ? value : JSON.parse(text, withDigits);
  } catch {
    return undefined;
  }
}

/** Keeps the text of a number that a double would change. */
function withDigits(_name: string, value: unknown, context?: { readonly source: string }): unknown {
  if (typeof value !== 'number' || context === undefined || numberFault(context.source) === null)
    return value;
  const { rawJSON } = JSON as unknown as { readonly rawJSON: (text: string) => unknown };
  return rawJSON(context.source);
}
