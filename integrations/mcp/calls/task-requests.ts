// Answers clients' requests about tasks of the proxy. Requests about tasks of the server go to the server.

import {
  errorAnswer,
  errorCodes,
  type JsonObject,
  member,
  type RpcRequest,
  type RpcResponse,
  resultAnswer,
} from '../protocol/messages.ts';
import type { AskServer } from '../review/catalogue.ts';
import type { Caller, Gate } from './gate.ts';
import { unavailableAnswer } from './refusals.ts';
import { requestOfTask, standingView, taskView } from './tasks.ts';

interface TaskParts {
  readonly gate: Gate;
  readonly caller: Caller;
  readonly answer: (response: RpcResponse) => void;
}

/** Answers a request about a task of the proxy. False when the task is not one of the proxy's. */
export function answerTaskRequest(request: RpcRequest, parts: TaskParts): boolean {
  const taskId = member(request.params, 'taskId');
  const requestId = requestOfTask(taskId);
  if (requestId === null) return false;
  const work =
    request.method === 'tasks/cancel' ? cancel(request, requestId, parts) : tell(request, requestId, parts);
  work.then(parts.answer, (error: Error) => parts.answer(unavailableAnswer(request, error.message)));
  return true;
}

async function tell(
  request: RpcRequest,
  requestId: string,
  { gate, caller }: TaskParts,
): Promise<RpcResponse> {
  const task = gate.tasks.find(`writ-${requestId}`, caller.id);
  if (request.method !== 'tasks/get') return unknownTask(request);
  if (task !== null) return resultAnswer(request.id, taskView(task));
  const status = await caller.authority.getRequest(requestId);
  return status === null ? unknownTask(request) : resultAnswer(request.id, standingView(status, Date.now()));
}

/** Cancels a task. A call that is carried out already is not stopped. */
async function cancel(
  request: RpcRequest,
  requestId: string,
  { gate, caller }: TaskParts,
): Promise<RpcResponse> {
  const task = gate.tasks.find(`writ-${requestId}`, caller.id);
  if (task === null && (await caller.authority.getRequest(requestId)) === null) return unknownTask(request);
  // First of all, so that a grant which arrives meanwhile is not carried out.
  if (task !== null && task.answer === null) {
    task.isCancelled = true;
    task.changedMs = Date.now();
    task.stop.abort();
  }
  await caller.authority.withdraw(requestId);
  return resultAnswer(request.id, { resultType: 'complete' });
}

export function unknownTask({ id }: RpcRequest): RpcResponse {
  return errorAnswer(id, errorCodes.invalidParams, 'there is no such task');
}

const pollMsMax = 10_000;
const pollMsDefault = 1_000;

/**
 * The result of a call. If the server makes a task of the call, its result is fetched until the task has
 * ended.
 */
export async function followTask(
  ask: AskServer,
  first: RpcResponse,
  { _meta }: JsonObject,
): Promise<RpcResponse> {
  const taskId = member(first.result, 'taskId');
  if (member(first.result, 'resultType') === 'input_required') return asksBack(first);
  if (member(first.result, 'resultType') !== 'task' || typeof taskId !== 'string') return first;
  for (;;) {
    const pollMs = Number(member(first.result, 'pollIntervalMs') ?? pollMsDefault);
    await new Promise((resolve) => setTimeout(resolve, Math.min(pollMs, pollMsMax)));
    const { id, result, error } = await ask('tasks/get', {
      taskId,
      ...(_meta === undefined ? {} : { _meta }),
    });
    if (error !== undefined) return { jsonrpc: '2.0', id, error };
    const status = member(result, 'status');
    if (status === 'working') continue;
    if (status === 'completed')
      return { jsonrpc: '2.0', id, result: (member(result, 'result') ?? {}) as JsonObject };
    return errorAnswer(id, errorCodes.internal, `the task of the server is ${String(status)}`);
  }
}

/** The answer when the server asks for more: a task that waited for people cannot ask its client. */
function asksBack({ id }: RpcResponse): RpcResponse {
  const text = 'The server asks for more before it acts, which a task that waited for people cannot pass on.';
  const result = { resultType: 'complete', isError: true, content: [{ type: 'text', text }] };
  return { jsonrpc: '2.0', id, result };
}
