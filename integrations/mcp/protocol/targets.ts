// Decides for each method of the protocol whether it is forwarded, or decided and as which action. INVARIANT:
// a method that is not named in this file reaches no server, unless the operator names it.

import { isObject, type JsonObject, member } from './messages.ts';

/** Methods that carry out nothing by themselves, or that go on with something that was decided. */
const forwarded: ReadonlySet<string> = new Set([
  'initialize',
  'ping',
  'server/discover',
  'logging/setLevel',
  'resources/list',
  'resources/templates/list',
  'resources/unsubscribe',
  'prompts/list',
  'subscriptions/listen',
  'tasks/get',
  'tasks/list',
  'tasks/result',
  'tasks/update',
  'tasks/cancel',
  'notifications/initialized',
  'notifications/cancelled',
  'notifications/progress',
  'notifications/roots/list_changed',
  'notifications/tasks/status',
]);

export function isForwarded(method: string): boolean {
  return forwarded.has(method);
}

export type Target =
  | { readonly kind: 'tool'; readonly name: string; readonly payload: JsonObject }
  | { readonly kind: 'other'; readonly name: string; readonly payload: JsonObject };

/**
 * The target of a request. Null for a method that is not decided, a text when the request does not fit its
 * method.
 */
export function targetOf(method: string, params: JsonObject = {}): Target | string | null {
  switch (method) {
    case 'tools/call':
      return call(params);
    case 'prompts/get':
      return named('prompts.get', params);
    case 'resources/read':
      return ofUri('resources.read', params);
    case 'resources/subscribe':
      return ofUri('resources.subscribe', params);
    case 'completion/complete':
      return completion(params);
    default:
      return null;
  }
}

function call(params: JsonObject): Target | string {
  const { name, arguments: payload = {} } = params;
  if (typeof name !== 'string' || !isObject(payload))
    return 'a call has a `name`, and `arguments` that are an object';
  return { kind: 'tool', name, payload };
}

function named(key: string, params: JsonObject): Target | string {
  const { name, arguments: given = {} } = params;
  if (typeof name !== 'string' || !isObject(given))
    return 'a prompt has a `name`, and `arguments` that are an object';
  return { kind: 'other', name: key, payload: { name, arguments: given } };
}

function ofUri(key: string, { uri }: JsonObject): Target | string {
  return typeof uri === 'string' ? { kind: 'other', name: key, payload: { uri } } : 'a resource has a `uri`';
}

/** The payload of a completion holds everything except the metadata of the message. */
function completion({ _meta: meta, ...payload }: JsonObject): Target | string {
  const isWhole = isObject(payload.ref) && isObject(payload.argument);
  return isWhole
    ? { kind: 'other', name: 'completion.complete', payload }
    : 'a completion has a `ref` and an `argument`';
}

/** The resources about which a listening client wants to be notified. */
export function subscribedUris(params: JsonObject | undefined): readonly string[] {
  const uris = member(params, 'notifications', 'resourceSubscriptions');
  return Array.isArray(uris) ? uris.map(String) : [];
}
