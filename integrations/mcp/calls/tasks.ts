// Keeps calls that wait for people while their client comes back for the result, in the stateless era. The id
// of a task holds the id of the request at the service, so the proxy can answer for it even after a restart.
// INVARIANT: only its caller is told of a task.

import type { RequestStatus } from '../../typescript/client.ts';
import { isObject, type JsonObject, member, type RpcResponse } from '../protocol/messages.ts';

const beginning = 'writ-';
const pollIntervalMs = 5_000;
/** Milliseconds for which the result of a task is kept after the task's end. */
const keptMs = 10 * 60_000;
const tasksMax = 10_000;

export interface OpenTask {
  readonly requestId: string;
  readonly caller: string;
  readonly createdMs: number;
  readonly endsMs: number;
  statusMessage: string;
  /** When the state of the task last changed. */
  changedMs: number;
  /** The answer; null while the task waits or runs. */
  answer: RpcResponse | null;
  isCancelled: boolean;
  /** Ends the wait. */
  readonly stop: AbortController;
}

export interface NewTask {
  readonly requestId: string;
  readonly caller: string;
  readonly endsMs: number;
  readonly statusMessage: string;
}

export interface Tasks {
  /** Opens a task; null when there are too many. */
  open(task: NewTask): OpenTask | null;
  find(taskId: string, caller: string): OpenTask | null;
}

export function createTasks(clock: () => number = Date.now): Tasks {
  const open = new Map<string, OpenTask>();
  return {
    open(given) {
      const now = clock();
      for (const [id, { endsMs }] of open) if (endsMs + keptMs < now) open.delete(id);
      if (open.size >= tasksMax) return null;
      const task: OpenTask = {
        ...given,
        createdMs: now,
        changedMs: now,
        answer: null,
        isCancelled: false,
        stop: new AbortController(),
      };
      open.set(given.requestId, task);
      return task;
    },
    find(taskId, caller) {
      const task = open.get(requestOfTask(taskId) ?? '');
      return task?.caller === caller ? task : null;
    },
  };
}

/** The id of the request at the service; null for a task of the server's own. */
export function requestOfTask(taskId: unknown): string | null {
  const isOurs = typeof taskId === 'string' && taskId.startsWith(beginning);
  return isOurs ? taskId.slice(beginning.length) : null;
}

export function newTaskView(task: OpenTask): JsonObject {
  return { ...taskView(task), resultType: 'task' };
}

/** The task in the form that `tasks/get` returns. */
export function taskView(task: OpenTask): JsonObject {
  const { requestId, createdMs, changedMs, endsMs, statusMessage, answer, isCancelled } = task;
  return {
    resultType: 'complete',
    taskId: `${beginning}${requestId}`,
    statusMessage,
    createdAt: new Date(createdMs).toISOString(),
    lastUpdatedAt: new Date(changedMs).toISOString(),
    ttlMs: endsMs + keptMs - createdMs,
    pollIntervalMs,
    ...ending(answer, isCancelled),
  };
}

function ending(answer: RpcResponse | null, isCancelled: boolean): JsonObject {
  if (isCancelled) return { status: 'cancelled' };
  if (answer === null) return { status: 'working' };
  const { result, error } = answer;
  return result === undefined
    ? { status: 'failed', error: { code: error?.code ?? 0, message: error?.message ?? '' } }
    : { status: 'completed', result };
}

/**
 * A task of an earlier process, from the records of the service. Arguments are not kept, so the client has to
 * call again.
 */
export function standingView(standing: RequestStatus, nowMs: number): JsonObject {
  const { requestId, status, message, until } = standing;
  const at = new Date(nowMs).toISOString();
  const text =
    status === 'approved'
      ? 'Approved, and not carried out yet. Call again with the same arguments.'
      : `Not carried out by this task: the request is ${status}. ${message}`;
  return {
    resultType: 'complete',
    taskId: `${beginning}${requestId}`,
    createdAt: at,
    lastUpdatedAt: at,
    ttlMs: Math.max(0, until.getTime() - nowMs) + keptMs,
    pollIntervalMs,
    ...(status === 'pending'
      ? { status: 'working', statusMessage: message }
      : {
          status: 'completed',
          result: { resultType: 'complete', isError: true, content: [{ type: 'text', text }] },
        }),
  };
}

export function settleTask(task: OpenTask, answer: RpcResponse): void {
  task.answer = answer;
  task.changedMs = Date.now();
  task.statusMessage = isObject(member(answer, 'result')) ? 'Done.' : 'It failed.';
}
