// Methods of the protocol: which are forwarded, which are decided, and as what. INVARIANT: what is not named here reaches no
// server, unless the operator names it.

import { isObject, type JsonObject, member } from './messages.ts';

/** They carry out nothing by themselves, or go on with what was decided. */
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

/** What a request asks for; null for what is not decided, text where the request is not what its method takes. */
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

/** Everything but what is about the message itself. */
function completion({ _meta: meta, ...payload }: JsonObject): Target | string {
  const isWhole = isObject(payload.ref) && isObject(payload.argument);
  return isWhole
    ? { kind: 'other', name: 'completion.complete', payload }
    : 'a completion has a `ref` and an `argument`';
}

/** The resources that a listening client wants to hear of. */
export function subscribedUris(params: JsonObject | undefined): readonly string[] {
  const uris = member(params, 'notifications', 'resourceSubscriptions');
  return Array.isArray(uris) ? uris.map(String) : [];
}
