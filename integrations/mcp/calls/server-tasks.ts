// Knows whose the tasks of a server are. A server over HTTP sees all callers of the proxy under one credential, so
// only the proxy can tell them apart. INVARIANT: a task is known to the caller whose request made it, and to no
// other; a task of an earlier process of the proxy is known to nobody.

import {
  isObject,
  isResponse,
  type Json,
  type JsonObject,
  type Message,
  member,
  type RpcRequest,
  type RpcResponse,
} from '../protocol/messages.ts';
import { requestOfTask } from './tasks.ts';

/** The most tasks that are remembered for one caller; then its oldest task is unknown, to itself as well. */
const tasksOfCallerMax = 1_000;
/** The most callers; then the tasks of the caller that began first are unknown. */
const callersMax = 1_000;

export interface ServerTasks {
  /** Remembers the task that the server has made of a request of this caller, if it has made one. */
  note(caller: string, request: RpcRequest, response: RpcResponse): void;
  /** Whether a message names no task of the server but those of this caller. */
  areOwn(caller: string, message: Message): boolean;
  /** The response to `tasks/list` with the tasks of this caller alone. */
  listed(caller: string, response: RpcResponse): RpcResponse;
}

export function createServerTasks(): ServerTasks {
  const owned = new Map<string, Set<string>>();
  const isOwn = (caller: string, taskId: Json | undefined): boolean =>
    typeof taskId === 'string' && (requestOfTask(taskId) !== null || owned.get(caller)?.has(taskId) === true);
  return {
    note(caller, { method }, response) {
      const taskId = method.startsWith('tasks/') ? null : taskMade(response);
      if (taskId === null) return;
      const those = owned.get(caller) ?? new Set();
      owned.set(caller, those.add(taskId));
      if (those.size > tasksOfCallerMax) those.delete(those.values().next().value!);
      if (owned.size > callersMax) owned.delete(owned.keys().next().value!);
    },
    areOwn: (caller, message) => tasksNamed(message).every((taskId) => isOwn(caller, taskId)),
    listed(caller, response) {
      const { tasks } = response.result ?? {};
      if (!Array.isArray(tasks)) return response;
      const callersTasks = tasks.filter((task) => isOwn(caller, member(task, 'taskId')));
      return { ...response, result: { ...response.result, tasks: callersTasks } };
    },
  };
}

/** The id of the task that a server has made of a call, in either era; null when it has made none. */
function taskMade({ result }: RpcResponse): string | null {
  const taskId = result?.resultType === 'task' ? result.taskId : member(result, 'task', 'taskId');
  return typeof taskId === 'string' ? taskId : null;
}

const related = 'io.modelcontextprotocol/related-task';

/** Each value that stands where a message names a task. */
function tasksNamed(message: Message): readonly Json[] {
  if (isResponse(message)) return relatedTask(message.result);
  const { method, params } = message;
  const taskIds = params?.taskId === undefined ? [] : [params.taskId];
  return [
    ...taskIds,
    ...relatedTask(params),
    ...(method === 'subscriptions/listen' ? listenedTo(params) : []),
  ];
}

function relatedTask(object: JsonObject | undefined): readonly Json[] {
  const about = member(object, '_meta', related);
  return about === undefined ? [] : [member(about, 'taskId') ?? null];
}

/**
 * What a client listens to besides kinds of changes and resources, which are decided: each is the id of a task, or is
 * unknown.
 */
function listenedTo(params: JsonObject | undefined): readonly Json[] {
  const notifications = member(params, 'notifications');
  if (!isObject(notifications)) return [];
  return Object.entries(notifications)
    .filter(([name, value]) => name !== 'resourceSubscriptions' && typeof value !== 'boolean')
    .flatMap(([, value]) => value);
}
